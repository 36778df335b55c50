package ledger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Where serving goes before recording, calls are served while the ledger cannot be written, memory is bounded, and what does not
// fit is counted.
func TestServingGoesBeforeRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Serve: true, MostQueued: 100})
		before := begun(w, "key", 1)
		durable(t, w.Begin(before))
		m.onCommit(broken, nil)
		w.Begin(begun(w, "key", 1))
		time.Sleep(50 * time.Millisecond)
		if w.Err() == nil || w.Admit() != nil {
			t.Errorf("%v; admit: %v", w.Err(), w.Admit())
		}
		began := time.Now()
		for range 300 {
			b := begun(w, "key", 1)
			ticket := w.Begin(b)
			durable(t, ticket)
			if ticket.Lost() {
				continue
			}
			durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1}))
			durable(t, w.End(ended(b, 1)))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the rows waited for %v", took)
		}
		if s := w.Stats(); s.Queued != 1+3*34 || s.Lost != 2*(300-34) {
			t.Errorf("%+v; want the row from before and those of 34 exchanges in memory, and those of the others lost", s)
		}
		durable(t, w.End(ended(before, 1))) // its begin row is there
		m.onCommit(nil, nil)
		time.Sleep(2 * time.Second)
		if s := w.Stats(); s.Queued != 0 || s.Failing != 0 || w.Err() != nil {
			t.Errorf("after it has recovered: %+v, %v", s, w.Err())
		}
		m.look(func() {
			if len(m.rows) != 2+34 {
				t.Errorf("%d exchanges are there, want the two from before and 34 of 300", len(m.rows))
			}
		})
		b := begun(w, "key", 1)
		durable(t, w.Begin(b))
		if !m.has(b.Exchange) {
			t.Error("after it has recovered, a row is said to be durable, and is not there")
		}
		stopped(t, stop)
	})
}

// Corrections, notices and prices are few, and not lost.
func TestWhatIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Serve: true, MostQueued: 1})
		b := begun(w, "key", 1)
		durable(t, w.Begin(b))
		durable(t, w.End(ended(b, 1)))
		m.onCommit(broken, nil)
		w.Begin(begun(w, "key", 1))
		time.Sleep(50 * time.Millisecond)
		for range 10 {
			w.Correct([]*ledger.Correction{corrected(b, 1)})
			w.Notify(ledger.Notice{Budget: "key"})
			w.Price(ledger.PriceCard{Version: "v1"})
			w.Refused("key", "model", "code")
		}
		m.onCommit(nil, nil)
		stopped(t, stop)
		m.look(func() {
			if len(m.corrected) != 10 || len(m.notices) != 10 || len(m.prices) != 10 || len(m.refused) != 1 {
				t.Errorf("%d corrections, %d notices, %d prices, %v", len(m.corrected), len(m.notices), len(m.prices), m.refused)
			}
		})
	})
}

// A store that hangs is waited for once; from then on calls are served at once.
func TestServingWhileAStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(hangs, nil)
		w, stop := run(t, m, ledger.Options{Serve: true, Patience: 2 * time.Second, MostQueued: 10})
		began := time.Now()
		durable(t, w.Begin(begun(w, "key", 1)))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the first waited for %v", took)
		}
		time.Sleep(50 * time.Millisecond) // the commit that hangs may have begun a little later than the ticket
		began = time.Now()
		for range 100 {
			durable(t, w.Begin(begun(w, "key", 1)))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("others waited for %v", took)
		}
		if s := w.Stats(); s.Queued != 10 || s.Lost != 2*90 {
			t.Errorf("%+v; want 10 in memory, and the rows of 90 lost", s)
		}
		m.onCommit(nil, nil)
		stopped(t, stop)
	})
}
