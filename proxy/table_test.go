package proxy

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestTheReadmePrintsTheTable: the README has every row of the table of endings, in the table's order of columns.
func TestTheReadmePrintsTheTable(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range endings {
		if strings.Count(string(readme), "| `"+row.name+"` |") != 1 {
			t.Errorf("the README's table does not have the ending %s", row.name)
		}
	}
}

// TestEveryEndingHasItsRow walks through all facts there can be: each finds a row, and no row is unreachable.
func TestEveryEndingHasItsRow(t *testing.T) {
	reached := map[string]bool{}
	flags := []bool{false, true}
	for _, why := range []cause{endedAnswer, endedBroken, endedPanic, endedRefused} {
		for _, status := range []int{0, 200, 302, 404, 500} {
			for bits := range 1 << 8 {
				on := func(i int) bool { return flags[bits>>i&1] }
				f := facts{cause: why, status: status, written: on(0), streamed: on(1), reasoning: on(2), reported: on(3), credible: on(4), complete: on(5), unseen: on(6), ended: on(7)}
				for _, row := range endings {
					if row.when(f) {
						reached[row.name] = true
						break
					}
				}
			}
		}
	}
	for _, row := range endings {
		if !reached[row.name] {
			t.Errorf("nothing ends as %s", row.name)
		}
	}
	if last := endings[len(endings)-1]; !last.when(facts{}) || last.then != chargeReserved {
		t.Error("the last row must take whatever is left, and charge all that was reserved")
	}
}

func TestTheClosestPatternWins(t *testing.T) {
	p := &Policy{}
	for _, pattern := range []string{"*", "gpt-*", "gpt-5-*", "gpt-5-mini", "gpt-5-mini*", "o?"} {
		p.pools = append(p.pools, &pool{pattern: pattern})
	}
	slices.SortStableFunc(p.pools, closerFirst)
	for name, want := range map[string]string{
		"gpt-5-mini": "gpt-5-mini", "gpt-5-mini-2025": "gpt-5-mini*", "gpt-5-nano": "gpt-5-*", "gpt-4": "gpt-*", "o3": "o?", "claude": "*", "GPT-4": "*",
	} {
		if got := p.pool(name).pattern; got != want {
			t.Errorf("%s goes by %s, want %s", name, got, want)
		}
	}
}

// TestLongPromptsWaitForEachOther: while the places for long prompts are taken, short ones are counted all the same, and a caller
// who leaves the queue is gone from it.
func TestLongPromptsWaitForEachOther(t *testing.T) {
	body := func(words int) []byte {
		return []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("word ", words) + `"}]}`)
	}
	up := &upstreamEntry{}
	p := &Policy{catalog: &cost.Catalog{}, pools: []*pool{{pattern: "*", routes: []*route{{upstream: up}}}}}
	s, err := New(Options{Limiter: limiter.NewMemory(), Estimator: cost.NewEstimator()}, p)
	if err != nil {
		t.Fatal(err)
	}
	admit := func(ctx context.Context, b []byte) error {
		x := &exchange{server: s, policy: p, caller: &caller{name: "alice", bodies: new(share)}, endpoint: wire.Chat, choices: 1, rec: &record{}, began: time.Now()}
		return s.admit(x, httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(b)))
	}
	if most := max(1, runtime.GOMAXPROCS(0)/2); cap(s.seats) != most {
		t.Errorf("there are %d places, want %d: half of the processors are everybody else's", cap(s.seats), most)
	}
	for range cap(s.seats) {
		s.seats <- struct{}{}
	}
	if err := admit(t.Context(), body(10)); err != nil {
		t.Errorf("a short prompt: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := admit(gone, body(longPrompt/5+1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a long prompt whose caller left: %v", err)
	}
	<-s.seats
	if err := admit(t.Context(), body(longPrompt/5+1)); err != nil {
		t.Errorf("a long prompt with a place free: %v", err)
	}
	if len(s.seats) != cap(s.seats)-1 {
		t.Errorf("%d places are taken, want %d", len(s.seats), cap(s.seats)-1)
	}
}
