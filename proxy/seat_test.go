package proxy

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestALongPromptIsLetInWhenAnotherLeaves: however many long prompts there are, no more are read and counted at a time than there are
// seats. The next is let in when one frees, whatever it is that counts it, and short ones pass all of them.
func TestALongPromptIsLetInWhenAnotherLeaves(t *testing.T) {
	estimator := cost.NewEstimator()
	if err := estimator.Load("o200k_base"); err != nil { // reading it takes real time
		t.Fatal(err)
	}
	body := func(words int) []byte {
		return []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("word ", words) + `"}]}`)
	}
	long, short := body(longPrompt/5+1), body(10)
	synctest.Test(t, func(t *testing.T) {
		up := &upstreamEntry{}
		p := &Policy{catalog: &cost.Catalog{}, pools: []*pool{{pattern: "*", routes: []*route{{upstream: up}}}}}
		s, err := New(Options{Limiter: limiter.NewMemory(), Estimator: estimator}, p)
		if err != nil {
			t.Fatal(err)
		}
		ways := map[string]func(context.Context, []byte) error{
			"a call": func(ctx context.Context, b []byte) error {
				x := &exchange{server: s, policy: p, caller: &caller{name: "alice", bodies: new(share)}, endpoint: wire.Chat, choices: 1, rec: &record{}, began: time.Now()}
				return s.admit(x, httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(b)))
			},
			"a seat": func(ctx context.Context, b []byte) error {
				rise, err := s.sit(ctx, int64(len(b)))
				if err == nil {
					rise()
				}
				return err
			},
		}
		for range cap(s.seats) {
			s.seats <- struct{}{}
		}
		for name, way := range ways {
			let := make(chan error, 2)
			for range cap(let) {
				go func() { let <- way(t.Context(), long) }()
			}
			synctest.Wait()
			if len(let) != 0 {
				t.Fatalf("%s: %d long prompts did not wait, the first with %v", name, len(let), <-let)
			}
			if err := way(t.Context(), short); err != nil {
				t.Errorf("%s: a short prompt beside long ones that wait: %v", name, err)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			if err := way(gone, long); err == nil || len(let) != 0 {
				t.Errorf("%s: one whose caller left: %v, and %d others are let in", name, err, len(let))
			}
			<-s.seats // one of those before has been counted
			synctest.Wait()
			if len(let) != cap(let) { // one after the other, on one seat
				t.Fatalf("%s: %d of %d were let in when a seat was free", name, len(let), cap(let))
			}
			for range cap(let) {
				if err := <-let; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			s.seats <- struct{}{} // nobody else holds it
			if len(s.seats) != cap(s.seats) {
				t.Errorf("%s: %d seats are taken, want %d", name, len(s.seats), cap(s.seats))
			}
		}
	})
}
