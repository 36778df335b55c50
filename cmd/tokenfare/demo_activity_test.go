package main

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestActivityIsOneLineInWordsForEachRequest(t *testing.T) {
	request := func(attrs ...any) func(*slog.Logger) {
		return func(log *slog.Logger) { log.Info("request", attrs...) }
	}
	for _, tc := range []struct {
		name string
		log  func(*slog.Logger)
		want string
	}{
		{
			"answered",
			request("key", "alice", "model", "gpt-5-mini", "status", 200, "ending", "complete", "basis", "reported",
				"reserved_tokens", 50_008, "settled_tokens", 125, "cost", "$0.000231", "took_ms", 2349),
			"  alice  gpt-5-mini  200  reserved 50,008  used 125    tokens  $0.000231  2.3s\n",
		},
		{
			"refused",
			request("key", "bob", "model", "gpt-5-mini", "status", 429, "ending", "refused", "basis", "nothing", "cost", "$0", "took_ms", 0,
				"refused_by", `key bob, budget "60 requests per minute"`, "wait_ms", 6591),
			"  bob    gpt-5-mini  429  refused by budget \"60 requests per minute\"  wait 6.6s\n",
		},
		{
			"never fits",
			request("key", "bob", "model", "gpt-5-mini", "status", 400, "refused_by", `group all, budget "5 tokens per hour"`, "wait_ms", 0),
			"  bob    gpt-5-mini  400  refused by group all, budget \"5 tokens per hour\"\n",
		},
		{
			"cut off",
			request("key", "bob", "model", "gpt-4o", "status", 200, "ending", "broken", "basis", "unreported",
				"reserved_tokens", 202, "settled_tokens", 202, "cost", "$0.000383", "took_ms", 60),
			"  bob    gpt-4o      200  reserved 202     used 202    tokens  $0.000383  0.1s  cut off, usage unknown: charged the whole reservation\n",
		},
		{
			"unknown key",
			request("key", "", "method", "POST", "path", "/v1/chat/completions", "status", 401, "code", "invalid_api_key", "took_ms", 1),
			"  -      POST /v1/chat/completions  401  invalid_api_key  0.0s\n",
		},
		{
			"a warning",
			func(log *slog.Logger) { log.With("upstream", "u").WithGroup("g").Warn("model list", "error", "gone") },
			"  warn: model list  upstream=u  g.error=gone\n",
		},
		{"not for people", func(log *slog.Logger) { log.Info("listening", "addr", "x"); log.Debug("request", "status", 200) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			tc.log(slog.New(newActivity(&b)))
			got := b.String()
			if got != "" {
				got = got[len("15:04:05"):]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
