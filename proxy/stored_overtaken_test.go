package proxy_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// hesitant takes a second for the first of its reservations, or for all.
type hesitant struct {
	limiter.Limiter
	all   bool
	asked atomic.Int64
}

func (h *hesitant) Reserve(ctx context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	if h.asked.Add(1) == 1 || h.all {
		time.Sleep(time.Second)
	}
	return h.Limiter.Reserve(ctx, charges)
}

// TestACallThatIsOvertakenIsAdmittedAnew: while it was being admitted its conversation has grown, and that is reserved.
func TestACallThatIsOvertakenIsAdmittedAnew(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTalk(t, answerWith(200, itemsAdded), saidOf(3020, 5), func(s *settings) {
			s.options.Limiter = &hesitant{Limiter: s.options.Limiter}
		})
		var put sync.WaitGroup
		put.Go(func() {
			time.Sleep(500 * time.Millisecond)
			c.post(t.Context(), someItems, putting(3000))
		})
		defer put.Wait()
		if got := c.post(t.Context(), wire.Responses, saying("go")); got.status != http.StatusOK || got.reserved(t) < 3000 {
			t.Errorf("%d, %d tokens were reserved", got.status, got.reserved(t))
		}
		if n := c.asked(); n != 1 {
			t.Errorf("it was sent %d times", n)
		}
	})
}

// TestACallThatIsAlwaysOvertakenIsRefused, and holds nothing.
func TestACallThatIsAlwaysOvertakenIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newTalk(t, answerWith(200, itemsAdded), saidOf(10, 5), func(s *settings) {
			s.options.Limiter = &hesitant{Limiter: s.options.Limiter, all: true}
		})
		ctx, stop := context.WithCancel(t.Context())
		var put sync.WaitGroup
		put.Go(func() {
			time.Sleep(500 * time.Millisecond) // each takes a second, too
			for ctx.Err() == nil {
				c.post(ctx, someItems, putting(3))
			}
		})
		got := c.post(t.Context(), wire.Responses, saying("go"))
		if _, kind, _, code := got.errorOf(t); got.status != http.StatusConflict || code != "conversation_locked" || kind != "invalid_request_error" {
			t.Errorf("%d %s", got.status, got.body)
		}
		stop()
		put.Wait()
		time.Sleep(time.Minute)
		if n := c.asked(); n != 0 {
			t.Errorf("it was sent %d times", n)
		}
		for name, state := range c.states() {
			if state.Used != 0 || state.Held != 0 {
				t.Errorf("%s: %+v", name, state)
			}
		}
	})
}
