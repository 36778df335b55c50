package main

import (
	"strings"
	"testing"
)

func TestProblemsNeverShowSecrets(t *testing.T) {
	const secret = "Zx9-kP2_vQ7mL4tR8w"
	up := "upstreams:\n  local: { url: \"http://localhost:1\" }\n"
	for name, text := range map[string]string{
		"key beside a mistake":          "upstreams:\n  openai: { url: nowhere, key: \"" + secret + "\" }\n",
		"plain key beside a mistake":    "upstreams:\n  openai: { url: nowhere, key: " + secret + " }\n",
		"key in a query":                "upstreams:\n  openai: { url: \"http://localhost:1?api-key=" + secret + "\" }\n",
		"misspelt key":                  "upstreams:\n  openai: { url: \"http://localhost:1\", kye: sk-" + secret + " }\n",
		"other name for key":            "upstreams:\n  openai: { url: \"http://localhost:1\", api_key: " + secret + " }\n",
		"key in a file that breaks":     "upstreams:\n  openai: { url: [x, key: \"" + secret + "\" }\n",
		"key after a broken quote":      "upstreams:\n  openai: { key: \"" + secret + ", url: x }\n",
		"key as block text":             "upstreams:\n  openai:\n    url: nowhere\n    key: |\n      " + secret + "\n      " + secret + "\n  openai: {}\n",
		"key used as hash":              up + "keys:\n  alice: { hash: " + secret + ", limits: none }\n",
		"keys used as hashes":           up + "keys:\n  alice: { hash: [" + secret + ", \"" + secret + "\"], limits: tpm }\n",
		"key used as a mapping":         up + "keys:\n  alice: { hash: { value: " + secret + " }, limits: none }\n",
		"key instead of a mapping":      up + "keys:\n  alice: " + secret + "\n",
		"token beside a mistake":        "admin: { token: " + secret + ", lisen: x }\n" + up,
		"token in a list":               "admin: { token: [" + secret + "] }\n" + up,
		"password in a url":             "upstreams:\n  openai: { url: \"https://me:" + secret + "@example.com/v1\" }\n",
		"password in a store":           "store: { url: \"redis://me:" + secret + "@localhost\" }\n" + up,
		"variable in the wrong place":   "timezone: ${TOKENFARE_TEST_SECRET}\nlisten: ${TOKENFARE_TEST_SECRET}\nstore: { url: \"${TOKENFARE_TEST_SECRET}\" }\n" + up,
		"variable as limit":             up + "plans:\n  team: [\"${TOKENFARE_TEST_SECRET}\"]\n",
		"variable as name":              up + "models:\n  x: { upstream: \"${TOKENFARE_TEST_SECRET}\" }\n",
		"variable as plan":              up + "keys:\n  a: { hash: \"" + testHash + "\", plan: \"${TOKENFARE_TEST_SECRET}\" }\n",
		"variable as url":               "upstreams:\n  openai: { url: \"https://api.openai.com/v1?key=${TOKENFARE_TEST_SECRET}\" }\n",
		"webhook after a broken quote":  "notify: { url: \"https://hooks.slack.com/services/T0/" + secret + ", at: x }\n",
		"webhook in a file that breaks": "notify: { url: [x, \"https://discord.com/api/webhooks/1/" + secret + "\" }\n",
		"webhook elsewhere":             up + "slack: https://hooks.slack.com/services/T0/" + secret + "\n",
		"webhook under another name":    up + "notify: { address: \"https://chat.example.com/" + secret + "\" }\n",
		"webhook without its scheme":    up + "notify: { url: chat.example.com/" + secret + " }\n",
		"webhook as a threshold":        up + "notify: { url: \"https://a.example/" + secret + "\", at: \"https://a.example/" + secret + "\" }\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TOKENFARE_TEST_SECRET", secret)
			_, err := parseConfig("config.yaml", []byte(text))
			if err == nil {
				t.Fatal("the mistake was not found")
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), secret[4:]) {
				t.Errorf("shown:\n%v", err)
			}
		})
	}
}

func TestCaretStandsRightBesideAMask(t *testing.T) {
	_, err := parseConfig("config.yaml", []byte("upstreams:\n  openai: { key: \"a-very-long-secret-of-forty-characters-0\", url: nowhere }\n"))
	if err == nil {
		t.Fatal("the mistake was not found")
	}
	lines := strings.Split(err.Error(), "\n")
	shown, caret := lines[1], lines[2]
	if at := strings.Index(shown, "nowhere"); at < 0 || strings.Index(caret, "^") != at || strings.Count(caret, "^") != len("nowhere") {
		t.Errorf("the caret is off:\n%v", err)
	}
}

func TestNearestName(t *testing.T) {
	names := []string{"team", "research", "default_output_tokens", "ci"}
	for got, want := range map[string]string{"taem": "team", "reserch": "research", "default-output-tokens": "default_output_tokens", "zzz": "", "": "", "c1": "ci", strings.Repeat("x", 999): ""} {
		if n := nearest(got, names); n != want {
			t.Errorf("nearest to %q is %q, want %q", got, n, want)
		}
	}
}
