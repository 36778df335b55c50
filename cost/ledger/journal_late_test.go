package ledger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Whoever comes to the journal when his rows are in the store, and those of later batches in the journal, puts nothing there: the rows of a
// batch are not kept after those of the next.
func TestWhoeverComesLateKeepsNothing(t *testing.T) {
	for _, batches := range []int{1, 2, 3, 4} {
		synctest.Test(t, func(t *testing.T) {
			m, p := newMemory(t), newPaper(t)
			w, stop := run(t, m, ledger.Options{Journal: p})
			call := func() ledger.Ticket {
				b := begun(w, "key", 5)
				ticket := w.Begin(b)
				w.End(ended(b, 4))
				return ticket
			}
			late := call()
			for range batches {
				time.Sleep(time.Second) // all that is queued gets into the store
				durable(t, call())
			}
			calls := p.calls
			ledger.KeepLate(late)
			if p.calls != calls {
				t.Errorf("%d batches later the journal was written %d times for rows that are in the store", batches, p.calls-calls)
			}
			b := begun(w, "key", 5)
			durable(t, w.Begin(b))
			w.End(ended(b, 4))
			if n := p.times(b.Exchange); n != 1 {
				t.Errorf("then a row was kept %d times, want once", n)
			}
			stopped(t, stop)
			m.balanced()
		})
	}
}
