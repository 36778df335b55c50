package proxy_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestAnUpstreamsLimitsEndNoStream: neither that of the upstream that has taken it nor another's. What the stream used beyond what was
// reserved there is that upstream's debt, also in the ledger, and after a restart.
func TestAnUpstreamsLimitsEndNoStream(t *testing.T) {
	const said = 30_000
	for _, usage := range []string{"", `{"prompt_tokens":8,"completion_tokens":30000,"total_tokens":30008}`} {
		inBubble(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "usage.db")
			store, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			spec := pairSpec(t, "10m tokens in total")
			spec.Upstreams[0].Limits = limits(t, "20k tokens in any minute", "15k output tokens per hour", "20k tokens in total", "$0.01 each month", "25k tokens each day, observe only")
			v := newVirtual(t, spec, (&teller{words: said, usage: usage}).ServeHTTP, func(s *settings) { s.durable = store })
			got := v.chat(unlimited)
			if got.err != nil || got.status != 200 || strings.Count(got.body, " one") != said || !strings.HasSuffix(got.body, properEnd) || got.whole > time.Second {
				t.Fatalf("%d, %v; %d of %d words after %s; the end: %.300q", got.status, got.err, strings.Count(got.body, " one"), said, got.whole, got.body[max(0, len(got.body)-300):])
			}
			wantState := func(name string, want int64) {
				t.Helper()
				if s := v.states()[name]; s.Held != 0 || s.Used != want {
					t.Errorf("%s: %+v, want %d used", name, s, want)
				}
			}
			wantState("key alice: tokens in total", said+8)
			wantState("upstream one: tokens in total", said+8)
			wantState("upstream one: tokens in any minute", said+8)
			if next := v.chat(hi); next.status != 200 || v.sent()[1].Header.Get("Authorization") != "Bearer sk-key-two" {
				t.Errorf("the next call: %d %s", next.status, next.body)
			}
			time.Sleep(time.Second)
			after, before := rebuilt(t, v, spec, path), v.states()
			for name, s := range before {
				is := after[name]
				if lasts := strings.Contains(name, " in total") || strings.Contains(name, " each "); lasts && is.Used != s.Used || is.Used < s.Used {
					t.Errorf("%s: %d counted after a restart, %d before", name, is.Used, s.Used)
				}
			}
		})
	}
}

// TestFitLooksForRoomElsewhereFirst: what one upstream has left lowers a caller's limit only where there is no other to be asked.
func TestFitLooksForRoomElsewhereFirst(t *testing.T) {
	for _, c := range []struct {
		name, one, two string
		sent           float64
		from           string
	}{
		{"the second has room", "5k tokens in total", "", 8000, "two"},
		{"the first has room", "50k tokens in total", "5k tokens in total", 8000, "one"},
		{"nobody has", "5k tokens in total", "3k tokens in total", 2992, "two"},
		{"in single calls nobody has", "5k output tokens per request", "3k output tokens per request", 3000, "two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := pairSpec(t, "1m tokens in total")
			spec.Keys[0].Output = proxy.FitOutput
			spec.Upstreams[0].Limits = limits(t, c.one)
			if c.two != "" {
				spec.Upstreams[1].Limits = limits(t, c.two)
			}
			h := newHouse(t, spec, chunks("one two three", usage(8, 3, 11), false))
			got := h.chat(limitedTo(8000, 1))
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			announced := ""
			if c.sent < 8000 {
				announced = strconv.Itoa(int(c.sent))
			}
			asked := <-h.asked
			if limit := sentBody(t, asked)["max_completion_tokens"]; limit != c.sent || asked.Header.Get("Authorization") != "Bearer sk-key-"+c.from || got.header.Get("x-tokenfare-output-limit") != announced {
				t.Errorf("%s was asked for %v, and the caller told %q", asked.Header.Get("Authorization"), limit, got.header.Get("x-tokenfare-output-limit"))
			}
		})
	}
}
