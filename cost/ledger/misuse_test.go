package ledger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Rows of an exchange whose begin row is not there, or that has ended, are lost and counted: one exchange has one end.
func TestRowsWithoutTheirExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		never, b := begun(w, "key", 3), begun(w, "key", 3)
		durable(t, w.End(ended(never, 1)))
		durable(t, w.Draw(&ledger.Draw{Exchange: never.Exchange, Step: 1}))
		if s := w.Stats(); s.Lost != 2 {
			t.Errorf("an end and a draw without their beginning: %+v, want 2 lost", s)
		}
		w.Begin(b)
		durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1}))
		w.End(ended(b, 2))
		durable(t, w.End(ended(b, 3))) // with the same commit
		durable(t, w.End(ended(b, 3)))
		durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 2}))
		if s := w.Stats(); s.Lost != 5 {
			t.Errorf("two ends and a draw after the end: %+v, want 5 lost", s)
		}
		stopped(t, stop)
		m.balanced()
		m.look(func() {
			if x := m.rows[b.Exchange]; len(m.rows) != 1 || x.End.Usage.Input != 2 || len(x.Draws) != 1 {
				t.Errorf("%d exchanges; %+v", len(m.rows), x)
			}
		})
	})
}

// A row may come before those that are older, with the begin rows of all in one commit or in several.
func TestTheOldestThatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t) // which judges it with every batch
		w, stop := run(t, m, ledger.Options{})
		var list []*ledger.Begin
		for range 300 {
			list = append(list, begun(w, "key", 3))
		}
		at := func(i int) *ledger.Begin { return list[(i*7919)%len(list)] }
		for i := range 300 {
			w.Begin(at(i))
			if i%3 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			if i >= 40 {
				w.End(ended(at((i-40)*41%(i-39)), 2)) // some have ended already
			}
		}
		for i := range 300 {
			w.End(ended(at(i), 2))
			if i%3 == 0 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		stopped(t, stop)
		m.balanced()
	})
}

// Corrections of one list are durable together, in their order.
func TestCorrectionsOfOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Gap: time.Nanosecond})
		b := begun(w, "key", 3)
		durable(t, w.Begin(b))
		durable(t, w.End(ended(b, 2)))
		var tickets []ledger.Ticket
		for range 20 {
			var list []*ledger.Correction
			for range 30 {
				list = append(list, corrected(b, 1))
			}
			tickets = append(tickets, w.Correct(list))
			time.Sleep(time.Microsecond)
		}
		durable(t, w.Correct(nil))
		for _, ticket := range tickets {
			durable(t, ticket)
		}
		m.look(func() {
			last := ledger.ID(0)
			for _, c := range m.corrected {
				if c.Seq <= last {
					t.Errorf("correction %v comes after %v", c.Seq, last)
				}
				last = c.Seq
			}
			for _, c := range m.committed {
				if n := len(c.batch.Corrections); n%30 != 0 {
					t.Errorf("%d corrections in a commit, want lists of 30", n)
				}
			}
		})
		stopped(t, stop)
		m.balanced()
	})
}
