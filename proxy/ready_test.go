package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// probe is what a path without a key answers.
func (v *virtual) probe(path string) answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, "http://proxy"+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true, DialContext: v.network.Dial}).RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text), nil}
}

// wantProbes compares what both probes answer.
func (v *virtual) wantProbes(when string, ready int, reason string) {
	v.t.Helper()
	if got := v.probe("/readyz"); got.status != ready || got.body != reason+"\n" {
		v.t.Errorf("%s, /readyz answers %d %q, want %d %q", when, got.status, got.body, ready, reason)
	}
	if got := v.probe("/healthz"); got.status != http.StatusOK || got.body != "ok\n" {
		v.t.Errorf("%s, /healthz answers %d %q", when, got.status, got.body)
	}
}

// TestNotReadyWhileTheLedgerRefuses: who spreads calls over several proxies is to send none to one that refuses them. A restart
// would not help, and whoever asks learns nothing of where the ledger is.
func TestNotReadyWhileTheLedgerRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
		v.wantProbes("at first", http.StatusOK, "ready")
		v.store.be(0, errDisk)
		if got := v.chat(hi); got.status != http.StatusServiceUnavailable {
			t.Fatalf("%d %s", got.status, got.body)
		}
		v.wantProbes("while the ledger cannot be written", http.StatusServiceUnavailable, "ledger unavailable")
		v.store.be(0, nil)
		time.Sleep(time.Minute)
		v.wantProbes("once it can be again", http.StatusOK, "ready")
		if got := v.chat(hi); got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
		v.server.Drain()
		v.wantProbes("at the end", http.StatusServiceUnavailable, "draining")
	})
}

// TestReadyWhereServingGoesBeforeRecording: with on_failure: serve, and with no ledger at all, none can be in the way.
func TestReadyWhereServingGoesBeforeRecording(t *testing.T) {
	for name, edit := range map[string]func(*settings){
		"serve": func(s *settings) { s.ledger.Serve = true },
		"none":  func(s *settings) { s.without = true },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)), edit)
				v.store.be(0, errDisk)
				if got := v.chat(hi); got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if lines := v.log.lines("ledger unavailable"); (len(lines) == 1) != (name == "serve") {
					t.Errorf("the log says %s", strings.Join(lines, "\n"))
				}
				v.wantProbes("while the store cannot be written", http.StatusOK, "ready")
			})
		})
	}
}
