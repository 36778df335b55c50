package proxy_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// An alarm on a counter needs it to be there at 0: increase() sees nothing of one that appears at 1.
func TestAlarmMetricsAreThereFromTheStart(t *testing.T) {
	h := newHouse(t, pairSpec(t, "1m tokens in total"), answerWith(200, plainAnswer(8, 3)))
	families, err := h.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range families {
		there[f.GetName()] = true
	}
	for _, name := range []string{"tokenfare_upstream_rejections_total", "tokenfare_upstream_rests_total", "tokenfare_failovers_total"} {
		if !there[name] {
			t.Errorf("%s is not there before the first one", name)
		}
	}
}

// A probe's client leaves: the upstream is found well by the next one after.
func TestAProbeThatIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var bad atomic.Bool
		bad.Store(true)
		var ones atomic.Int32
		spec := pairSpec(t, "1m tokens in total")
		v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				ones.Add(1)
				if bad.Load() {
					answerWith(503, errorBody("x"))(w, r)
					return
				}
				time.Sleep(2 * time.Second)
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		for range 3 {
			v.chat(hi)
		}
		bad.Store(false)
		time.Sleep(5 * time.Second)
		r, cancel := contextWithTimeout(t, time.Second)
		defer cancel()
		v.chatUntil(r, hi)
		ones.Store(0)
		time.Sleep(6 * time.Second)
		v.chat(hi)
		v.chat(hi)
		if ones.Load() != 2 {
			t.Errorf("%d of 2 went to it", ones.Load())
		}
	})
}

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}
