package main

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestADateInTheFilePassesWhileItRuns, at midnight where the file says that the days begin.
func TestADateInTheFilePassesWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := parseTest(t, fmt.Sprintf(`
ledger: none
timezone: America/New_York
upstreams: { up: { url: "http://127.0.0.1:1/v1" } }
plans: { team: [1000 tokens each month] }
keys: { alice: { hash: "sha256:%x", plan: team, extra: [+500 tokens until 2000-01-02] } }
`, sha256.Sum256([]byte("tf-alice"))))
		spec, _ := compileTest(t, config)
		app, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		limit := func() string {
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader("{"))
			r.Header.Set("Authorization", "Bearer tf-alice")
			rec := httptest.NewRecorder()
			app.server.ServeHTTP(rec, r)
			return rec.Header().Get("x-ratelimit-limit-tokens")
		}
		midnight := time.Date(2000, 1, 2, 5, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(midnight) - time.Nanosecond)
		if got := limit(); got != "1500" {
			t.Errorf("before midnight: %q tokens", got)
		}
		time.Sleep(time.Nanosecond)
		if got := limit(); got != "1000" {
			t.Errorf("at midnight: %q tokens", got)
		}
	})
}
