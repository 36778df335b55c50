package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestWaitingEnds when the client leaves, when the server is closed, or when there is more. The upstream's silence that is ours
// does not count.
func TestWaitingEnds(t *testing.T) {
	const slowly = "1k tokens per minute, burst 5k"
	begin := func(t *testing.T, up *teller) *virtual {
		return newVirtual(t, alice(t, slowly), up.ServeHTTP, func(s *settings) { s.options.IdleTimeout = 3 * time.Second })
	}
	t.Run("the client leaves", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			v := begin(t, &teller{words: 20_000})
			ctx, leave := context.WithTimeout(t.Context(), 10*time.Second)
			defer leave()
			got := v.chatUntil(ctx, unlimited)
			if got.err == nil || got.whole != 10*time.Second {
				t.Errorf("%v after %s", got.err, got.whole)
			}
			synctest.Wait()
			if n := v.limiter.OpenCount(); n != 0 {
				t.Errorf("%d reservations are open after the client has left", n)
			}
			time.Sleep(time.Minute)
			x := v.store.only(t)
			if x.End.Ending != "broken_stream" || x.End.Took != 10*time.Second || len(v.log.lines("the client left")) != 1 {
				t.Errorf("ended as %s after %s", x.End.Ending, x.End.Took)
			}
		})
	})
	t.Run("a drain that ends", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			v := begin(t, &teller{words: 20_000})
			ctx, leave := context.WithCancel(t.Context())
			done := make(chan reply)
			go func() { done <- v.chatUntil(ctx, unlimited) }()
			time.Sleep(time.Second)
			synctest.Wait() // it has begun
			v.server.Drain()
			drained, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := v.server.Wait(drained); err == nil {
				t.Error("a stream that waits was not waited for")
			}
			leave()
			<-done
			if err := v.server.Wait(t.Context()); err != nil || v.limiter.OpenCount() != 0 {
				t.Errorf("%v; %d reservations are open", err, v.limiter.OpenCount())
			}
		})
	})
	t.Run("there is more, and the upstream has been cut", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			v := begin(t, &teller{words: 5100, cut: true})
			got := v.chat(unlimited)
			if words := strings.Count(got.body, " one"); got.err == nil || words != 5100 || got.whole < 6*time.Second {
				t.Errorf("%v after %s, %d words", got.err, got.whole, words)
			}
			time.Sleep(time.Minute)
			if x := v.store.only(t); x.End.Ending != "broken_stream" || x.End.Usage.Output != 5100 {
				t.Errorf("ended as %s with %+v", x.End.Ending, x.End.Usage)
			}
		})
	})
	t.Run("there is more, and the upstream falls silent", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			up := &teller{words: 5100, cut: true}
			v := newVirtual(t, alice(t, slowly), func(w http.ResponseWriter, r *http.Request) {
				func() {
					defer func() { recover() }()
					up.ServeHTTP(w, r)
				}()
				<-r.Context().Done()
			}, func(s *settings) { s.options.IdleTimeout = 3 * time.Second })
			got := v.chat(unlimited)
			if words := strings.Count(got.body, " one"); got.err == nil || words != 5100 {
				t.Errorf("%v after %s, %d words", got.err, got.whole, words)
			}
		})
	})
}

// TestTheRestOfAModelIsWorthAWait: what a model can still say may be less than a step is ever cut to.
func TestTheRestOfAModelIsWorthAWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "60k tokens per minute")
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", MaxOutput: firstStep + 100}}
		v := newVirtual(t, spec, (&teller{words: firstStep + 100}).ServeHTTP)
		v.spend("60k tokens per minute", 60_000-8-firstStep)
		got := v.chat(unlimited)
		if got.err != nil || got.body != strings.Repeat(word, firstStep+100)+properEnd || got.whole < 100*time.Millisecond {
			t.Errorf("%v after %s; the end: %.300q", got.err, got.whole, got.body[max(0, len(got.body)-300):])
		}
	})
}

// TestAWaitIsBounded: by the timeout, whatever a budget would give after it.
func TestAWaitIsBounded(t *testing.T) {
	for timeout, ends := range map[time.Duration]bool{0: true, 2 * time.Minute: false} {
		inBubble(t, func(t *testing.T) {
			const slow = "100 tokens per minute, burst 5k" // of 128 tokens, that is
			v := newVirtual(t, alice(t, slow, "1m tokens in total"), (&teller{words: 5100}).ServeHTTP, func(s *settings) { s.options.DrawTimeout = timeout })
			got := v.chat(unlimited)
			n := strings.Count(got.body, " one")
			switch {
			case got.err != nil:
				t.Errorf("timeout %s: %v", timeout, got.err)
			case ends && (!strings.HasSuffix(got.body, endedBy("key alice: "+slow)) || n < 4992 || got.whole > 30*time.Second):
				t.Errorf("%d words after %s; the end: %.300q", n, got.whole, got.body[max(0, len(got.body)-300):])
			case !ends && (!strings.HasSuffix(got.body, properEnd) || n != 5100 || got.whole < 60*time.Second):
				t.Errorf("%d words after %s; the end: %.300q", n, got.whole, got.body[max(0, len(got.body)-300):])
			}
		})
	}
}
