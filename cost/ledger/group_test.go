package ledger_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// slow takes so long for each commit, before it is written.
func slow(d time.Duration) func(context.Context, *ledger.Batch) error {
	return func(ctx context.Context, _ *ledger.Batch) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

func TestTicketsReturnWhenTheirRowsAreDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(slow(30*time.Millisecond), nil)
		w, stop := run(t, m, ledger.Options{})
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				b := begun(w, "key", 5)
				began := time.Now()
				durable(t, w.Begin(b))
				if !m.has(b.Exchange) {
					t.Errorf("%v is said to be durable, and is not there", b.Exchange)
				}
				if took := time.Since(began); took < 30*time.Millisecond || took > 60*time.Millisecond {
					t.Errorf("a row became durable after %v; a commit takes 30 ms, and it may have to wait for one before", took)
				}
				durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1}))
				durable(t, w.End(ended(b, 4)))
			})
		}
		wg.Wait()
		stopped(t, stop)
		m.balanced()
		if n := m.commits(); n < 9 || n > 14 {
			t.Errorf("600 rows of 290 ms took %d commits, want one every 30 ms", n)
		}
		if s := w.Stats(); s.Rows != 600 || s.Commits != int64(m.commits()) || s.Queued+int(s.Lost+s.Failures) > 0 || s.Failing > 0 {
			t.Errorf("%+v; %d commits of 600 rows were made", s, m.commits())
		}
	})
}

func TestRowsThatComeDuringACommitShareTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(slow(time.Second), nil)
		w, stop := run(t, m, ledger.Options{})
		first := w.Begin(begun(w, "key", 1))
		time.Sleep(500 * time.Millisecond)
		var tickets []ledger.Ticket
		for range 500 {
			tickets = append(tickets, w.Begin(begun(w, "key", 1)))
		}
		if n := w.Stats().Queued; n != 500 {
			t.Errorf("%d rows wait, want 500", n)
		}
		durable(t, first)
		for _, ticket := range tickets {
			durable(t, ticket)
		}
		if n := m.commits(); n != 2 {
			t.Errorf("%d commits, want 2", n)
		}
		stopped(t, stop)
	})
}

func TestCommitsBeginAGapApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Gap: 50 * time.Millisecond, RollEvery: time.Hour})
		var waiting sync.WaitGroup
		for range 100 {
			ticket := w.Begin(begun(w, "key", 1))
			waiting.Go(func() { durable(t, ticket) })
			time.Sleep(7 * time.Millisecond)
		}
		waiting.Wait()
		m.look(func() {
			for i, c := range m.committed[1:] {
				if gap := c.at.Sub(m.committed[i].at); gap < 50*time.Millisecond || gap > 57*time.Millisecond {
					t.Errorf("commit %d comes %v after the one before", i+1, gap)
				}
			}
			if n := len(m.committed); n < 14 || n > 16 {
				t.Errorf("%d commits in 700 ms", n)
			}
		})
		stopped(t, stop)
	})
}

// As long as nobody waits, rows wait for others; whoever then waits has them written at once.
func TestRowsNobodyWaitsForComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Gap: time.Millisecond, Late: 20 * time.Millisecond, RollEvery: time.Hour})
		time.Sleep(time.Minute)
		for range 1000 {
			w.Begin(begun(w, "key", 1))
			time.Sleep(time.Millisecond)
		}
		if n := m.commits(); n < 45 || n > 55 {
			t.Errorf("%d commits in a second, want one every 20 ms", n)
		}
		time.Sleep(time.Second)
		first := w.Begin(begun(w, "key", 1))
		time.Sleep(5 * time.Millisecond)
		before, began := m.commits(), time.Now()
		durable(t, first)
		if took := time.Since(began); took > time.Millisecond || m.commits() != before+1 {
			t.Errorf("who waits does so for %v and %d commits", took, m.commits()-before)
		}
		stopped(t, stop)
	})
}

func TestASingleRowIsCommittedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		time.Sleep(time.Minute)
		began := time.Now()
		durable(t, w.Begin(begun(w, "key", 1)))
		if took := time.Since(began); took != 0 {
			t.Errorf("a row of an idle ledger waits for %v", took)
		}
		stopped(t, stop)
	})
}

func TestSeqsRiseAcrossCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(slow(time.Millisecond), nil)
		w, stop := run(t, m, ledger.Options{})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				for range 20 {
					b := begun(w, "key", 3)
					w.Begin(b)
					w.End(ended(b, 3))
					durable(t, w.Correct([]*ledger.Correction{corrected(b, 1), corrected(b, -1)}))
				}
			})
		}
		wg.Wait()
		stopped(t, stop)
		m.balanced()
		var all []ledger.ID
		m.look(func() {
			for _, c := range m.committed {
				all = append(all, seqs(c.batch.Ends)...)
			}
		})
		if len(all) != 1000 || !slices.IsSorted(all) {
			t.Errorf("%d ends, in the order of their seqs: %v", len(all), slices.IsSorted(all))
		}
	})
}

// The memory judges every batch: no row may be said to be in the sums that is not even there.
func TestSumsGoAsFarAsTheRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: 10 * time.Millisecond})
		var open []*ledger.Begin
		for i := range 500 {
			b := begun(w, "key", 3)
			w.Begin(b)
			if open = append(open, b); i%3 == 0 {
				w.End(ended(open[0], 2))
				open = open[1:]
			}
			w.IDs().Next() // of an exchange that never comes
			time.Sleep(time.Duration(i%7) * time.Millisecond)
		}
		for _, b := range open {
			w.End(ended(b, 2))
		}
		stopped(t, stop)
		m.balanced()
	})
}
