package proxy_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A 408 after a whole request is an answer like another: however many connections are idle, the call is sent once.
func TestThreatATimeoutIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const idle = 20
		good := true
		v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
			if !good {
				answerWith(http.StatusRequestTimeout, errorBody("too slow"))(w, r)
				return
			}
			time.Sleep(time.Second) // so that each of those at once has its connection
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		var all sync.WaitGroup
		for range idle {
			all.Go(func() { v.chat(hi) })
		}
		all.Wait()
		synctest.Wait()
		good = false
		before := v.usedOf(t, plenty)
		for calls := 1; calls <= 3; calls++ {
			got := v.chat(hi)
			if got.status != http.StatusRequestTimeout {
				t.Errorf("%d %s", got.status, got.body)
			}
			if n := len(v.sent()); n != idle+calls {
				t.Fatalf("%d calls were sent for %d", n-idle, calls)
			}
		}
		if used := v.usedOf(t, plenty); used != before {
			t.Errorf("charged %d for what the upstream did not do", used-before)
		}
	})
}
