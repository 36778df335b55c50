package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// TestAMemberThatHangsIsFoundOut though all clients give up before we do; but not by those who wait for a moment only, nor while it answers others.
func TestAMemberThatHangsIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		answers  bool // somebody, while five hang at the same time
		ones     int32
	}{
		"clients wait":           {6 * time.Second, false, 3},
		"clients do not wait":    {time.Second, false, 6},
		"others are answered":    {6 * time.Second, true, 6},
		"just too short a while": {4900 * time.Millisecond, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var ones atomic.Int32
				var others sync.WaitGroup
				v := newVirtual(t, pairSpec(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
					if isOne(r) && r.ContentLength < 500 {
						ones.Add(1)
						<-r.Context().Done()
						return
					}
					answerWith(200, plainAnswer(8, 3))(w, r)
				})
				leaves := func() {
					r, cancel := contextWithTimeout(t, c.patience)
					defer cancel()
					v.chatUntil(r, hi)
					synctest.Wait() // until that is known
				}
				if c.answers {
					for range 5 {
						others.Go(func() {
							r, cancel := contextWithTimeout(t, c.patience)
							defer cancel()
							v.chatUntil(r, hi)
						})
					}
					time.Sleep(time.Second)
					v.chat(strings.Replace(hi, "Hi", strings.Repeat("quick ", 100), 1))
					others.Wait()
					leaves()
				} else {
					for range 6 {
						leaves()
					}
				}
				synctest.Wait()
				if ones.Load() != c.ones {
					t.Errorf("%d of 6 calls went to the member that hangs, want %d", ones.Load(), c.ones)
				}
			})
		})
	}
}

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}
