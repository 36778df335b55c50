package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNotifyIsRead(t *testing.T) {
	const hook = "https://hooks.slack.com/services/T0/B0/x?thread=1"
	file := filepath.Join(t.TempDir(), "webhook")
	if err := os.WriteFile(file, []byte(hook+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLACK_WEBHOOK", hook)
	for text, want := range map[string][]int64{
		`notify: { url: "${SLACK_WEBHOOK}" }`:                                    {80, 100},
		`notify: { url: "` + hook + `", at: 90% }`:                               {90},
		`notify: { url: "` + hook + `", at: [100%, "7 %", "50%"] }`:              {7, 50, 100},
		`notify: { url_file: "` + file + `", at: ["1%"] }`:                       {1},
		"notify:\n  url: http://chat.internal:8065/hooks/abc\n  at:\n    - 100%": {100},
	} {
		c := parseTest(t, checkText+text+"\n")
		if !slices.Equal(c.Notify.At, want) || c.Notify.URL != hook && !strings.HasSuffix(c.Notify.URL, "8065/hooks/abc") {
			t.Errorf("%s: %+v", text, c.Notify)
		}
		if strings.Contains(text, "url_file") && !slices.Contains(c.watched, file) {
			t.Errorf("%s is not watched: %v", file, c.watched)
		}
	}
	for _, text := range []string{"", "notify:\n", "notify: {}\n"} {
		c, err := parseConfig("config.yaml", []byte(checkText+text))
		if (err == nil) == (text == "notify: {}\n") {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && c.notices().URL != "" {
			t.Errorf("%q: somebody is told", text)
		}
	}
}

func TestNotifyWithoutAnythingToTell(t *testing.T) {
	const hook = "notify: { url: \"https://hooks.slack.com/services/T0/B0/x\" }\n"
	warned := func(text string) bool {
		_, warnings := compileTest(t, parseTest(t, text))
		return slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "notify tells nobody anything") })
	}
	const up = "upstreams: { up: { url: \"http://localhost:1/v1\" } }\nkeys: { alice: { hash: \"" + testHash + "\", limits: "
	for _, c := range []struct {
		text string
		want bool
	}{
		{up + "[100 tokens per minute, 5 at once] } }\n" + hook, true},
		{up + "[100 tokens per minute, 5 at once] } }\n", false},
		{up + "[100 tokens in total] } }\n" + hook, false},
		{up + "[\"100 tokens each hour, observe only\"] } }\n" + hook, false},
	} {
		if warned(c.text) != c.want {
			t.Errorf("warned %v:\n%s", !c.want, c.text)
		}
	}
	var out bytes.Buffer
	c := parseTest(t, checkText+hook)
	report{config: c, catalog: catalogTest(t)}.write(&out, "config.yaml", nil)
	if !strings.Contains(out.String(), "\nThe webhook is told when 80 % or 100 % of a calendar or total limit is used; ") || strings.Contains(out.String(), "slack") {
		t.Errorf("check prints\n%s", out.String())
	}
}

func TestNotifyExitCodes(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(checkText), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-config", config}, 2, "notify -test"},
		{[]string{"-test", config}, 2, "-config FILE"},
		{[]string{"-nonsense"}, 2, "nonsense"},
		{[]string{"-test", "-config", config}, 1, "names no webhook"},
		{[]string{"-test", "-config", "absent.yaml"}, 1, "absent.yaml"},
		{[]string{"--help"}, 0, "tokenfare notify -test -config config.yaml"},
	} {
		var stdout, stderr bytes.Buffer
		code := runNotify(context.Background(), c.args, &stdout, &stderr)
		if out := stdout.String() + stderr.String(); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%v: exit code %d, want %d; says %q", c.args, code, c.code, out)
		}
	}
}
