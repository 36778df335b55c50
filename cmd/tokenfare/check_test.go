package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// checkText is a configuration whose facts do not hang on the built-in price list.
const checkText = `
upstreams:
  openai: { url: https://api.openai.com/v1, key: none-needed-here, limits: ["30m tokens per minute"] }
  local: { url: "http://localhost:11434/v1" }
models:
  big: { upstream: openai, context_tokens: 400k, default_output_tokens: 16k, price: { input: $1, output: $10 } }
  llama: { upstream: local, context_tokens: 8k, price: { input: $0, output: $0 } }
plans:
  team: ["200k tokens per minute, burst 600k", "60 requests in any minute", "$50 each month"]
keys:
  alice: { hash: "` + testHash + `", plan: team, limits: ["$10 each month on big*"], extra: ["+$20 until 2026-12-15", "+$5 each month until 2027-02-01 on big*", "+$9 until 2026-12-01"] }
  ci:
    hash: ["sha256:0101010101010101010101010101010101010101010101010101010101010101", "sha256:0202020202020202020202020202020202020202020202020202020202020202"]
    limits: [50k tokens per minute, 8 at once]
    models: [llama, big]
    expires: 2099-01-31
  ops: { hash: "sha256:0303030303030303030303030303030303030303030303030303030303030303", limits: none, disabled: true }
groups:
  research: { keys: [alice, ci], limits: ["$200 each month", "$9 each day, observe only", "20 at once on big, observe only"] }
`

func TestCheckPrintsWhatAConfigurationMeans(t *testing.T) {
	c := parseTest(t, checkText)
	_, warnings := compileTest(t, c)
	var out bytes.Buffer
	report{config: c, catalog: catalogTest(t), now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}.write(&out, "config.yaml", warnings)
	golden(t, "testdata/config/check.txt", out.String())
}

func TestCheckExitCodes(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-example")
	t.Setenv("ADMIN_TOKEN", "0123456789abcdef")
	for _, c := range []struct {
		args        []string
		code        int
		out, errors string // parts of what is printed
	}{
		{[]string{"-config", "../../config.example.yaml"}, 0, "config.example.yaml is fine: 3 keys", ""},
		{[]string{"-config", "testdata/config/everything.yaml"}, 1, "", "20 problems."},
		{[]string{"-config", "absent.yaml"}, 1, "", "absent.yaml: cannot read the file: no such file or directory"},
		{[]string{"config.yaml"}, 2, "", "name the configuration with -config"},
		{[]string{"-nonsense"}, 2, "", "nonsense"},
		{[]string{"--help"}, 0, "tokenfare check -config config.yaml", ""},
	} {
		var stdout, stderr bytes.Buffer
		if code := runCheck(c.args, &stdout, &stderr); code != c.code || !strings.Contains(stdout.String(), c.out) || !strings.Contains(stderr.String(), c.errors) {
			t.Errorf("check %q exits %d, want %d\n%s%s", c.args, code, c.code, stdout.String(), stderr.String())
		}
		if c.out == "" && stdout.Len() > 0 || c.errors == "" && stderr.Len() > 0 {
			t.Errorf("check %q prints to the wrong side:\nstdout: %s\nstderr: %s", c.args, stdout.String(), stderr.String())
		}
	}
}
