package proxy_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestWhatMayYetBeStoredHidesNothing: an upstream may store what it did not answer for after it has answered others, whose usage does not
// show it then. What those put in counts besides.
func TestWhatMayYetBeStoredHidesNothing(t *testing.T) {
	for name, broken := range map[string]http.HandlerFunc{"left": nil, "failed": answerWith(500, refusal)} {
		for path, body := range map[wire.Endpoint]string{someItems: putting(3000), wire.Responses: saying(words(3000))} {
			t.Run(name+" "+string(path), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					var late atomic.Bool
					late.Store(true)
					answers := broken
					if answers == nil {
						answers = func(w http.ResponseWriter, r *http.Request) {
							time.Sleep(time.Minute)
							answerWith(500, refusal)(w, r)
						}
					}
					first := func(then http.HandlerFunc) http.HandlerFunc {
						return func(w http.ResponseWriter, r *http.Request) {
							if late.Load() {
								answers(w, r)
								return
							}
							then(w, r)
						}
					}
					c := newTalk(t, first(answerWith(200, itemsAdded)), first(saidOf(2010, 5)))
					ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
					defer leave()
					c.post(ctx, path, body)
					late.Store(false)
					if got := c.post(t.Context(), wire.Responses, saying(words(2000))); got.status != http.StatusOK {
						t.Fatalf("%d %s", got.status, got.body)
					}
					if n := c.holds(t); n < 5000 {
						t.Errorf("%d tokens are reserved for 3000 words that may be there, and 2000 that are", n)
					}
					time.Sleep(time.Minute)
				})
			})
		}
	}
}
