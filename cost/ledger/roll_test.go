package ledger_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// rolls is how many commits brought sums.
func (m *memory) rolls() (n int) {
	m.look(func() {
		for _, c := range m.committed {
			if c.batch.Rolled != nil {
				n++
			}
		}
	})
	return n
}

func TestSumsAreBroughtUpToDateThoughNothingElseHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: 10 * time.Second})
		time.Sleep(time.Second)
		b := begun(w, "key", 3)
		durable(t, w.Begin(b))
		durable(t, w.End(ended(b, 2)))
		if n := m.rolls(); n != 0 {
			t.Errorf("%d rolls at once", n)
		}
		time.Sleep(10 * time.Second)
		m.balanced()
		if m.rolls() != 1 || m.commits() != 3 {
			t.Errorf("%d rolls in %d commits, want one in 3", m.rolls(), m.commits())
		}
		time.Sleep(time.Hour)
		if n := m.commits(); n != 3 {
			t.Errorf("%d commits, though nothing happened for an hour", n)
		}
		durable(t, w.Correct([]*ledger.Correction{corrected(b, 1)}))
		time.Sleep(10 * time.Second)
		m.balanced()
		stopped(t, stop)
	})
}

func TestSumsAreAtMostSoOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: time.Second})
		for range 2000 {
			b := begun(w, "key", 3)
			w.Begin(b)
			w.End(ended(b, 2))
			time.Sleep(7 * time.Millisecond)
		}
		m.look(func() {
			last := m.committed[0].at
			for _, c := range m.committed {
				if c.batch.Rolled != nil {
					if gap := c.at.Sub(last); gap > 1100*time.Millisecond {
						t.Errorf("the sums were %v behind", gap)
					}
					last = c.at
				}
			}
		})
		if n := m.rolls(); n < 12 || n > 16 {
			t.Errorf("%d rolls in 14 s", n)
		}
		stopped(t, stop)
		m.balanced()
	})
}

// Sums that are told apart by very many names are written before they fill memory.
func TestManySumsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: time.Hour})
		for i := range 12_000 {
			b := begun(w, fmt.Sprint("key", i), 3)
			w.Begin(b)
			w.End(ended(b, 2))
			if i%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if n := m.rolls(); n < 4 {
			t.Errorf("%d rolls of 24,000 sums", n)
		}
		stopped(t, stop)
		m.balanced()
	})
}

// What a crash has left is rolled up with the first commit, and what it left unfinished is charged there, however much it is.
func TestAHugePastIsCaughtUpWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: time.Hour})
		for i := range 6_000 {
			b := begun(w, fmt.Sprint("key", i%50), 3)
			w.Begin(b)
			if i%10 > 0 {
				e := ended(b, 2)
				w.End(e)
				if i%10 == 5 {
					w.Correct([]*ledger.Correction{corrected(b, 1)})
				}
			} else {
				w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1, Charges: b.Charges})
			}
		}
		time.Sleep(time.Second)
		m.onCommit(broken, nil) // and there it dies
		if err := stop(); err == nil {
			t.Fatal("a writer ended well whose store is broken")
		}
		m.look(func() { m.tried = nil })
		for range 3 {
			w, crashed, err := ledger.Open(t.Context(), m, ledger.Options{})
			if err != nil || crashed != 600 || w.Stats().Queued != 600 {
				t.Errorf("%d exchanges crashed, %v; want 600, and their end rows to be queued: %+v", crashed, err, w.Stats())
			}
		}
		m.onCommit(nil, nil)
		before := m.commits()
		w, stop = run(t, m, ledger.Options{RollEvery: time.Hour})
		time.Sleep(time.Second)
		m.balanced()
		if n := m.commits(); n != before+1 {
			t.Errorf("it took %d commits", n-before)
		}
		m.look(func() {
			if n := m.slots[ledger.Slot{Budget: ledger.Budget{Name: "key0", Unit: "tokens"}, Start: ledger.SlotOf(time.Now())}]; n != 120*6 {
				t.Errorf("120 exchanges of a key had reserved 3, and drawn 3 more; charged were %d", n)
			}
		})
		stopped(t, stop)
		if _, crashed, err := ledger.Open(t.Context(), m, ledger.Options{}); crashed != 0 || err != nil {
			t.Errorf("%d exchanges crashed, %v; want none", crashed, err)
		}
		_ = w
	})
}

// Refusals are counted, and go with the next roll if with no rows before.
func TestRefusalsGoWithTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{RollEvery: time.Second})
		refused := func(code string) (n int64) {
			m.look(func() {
				for r, of := range m.refused {
					if r.Key == "key" && r.Code == code {
						n += of
					}
				}
			})
			return n
		}
		for range 1000 {
			w.Refused("key", "model", "alone")
		}
		if n := m.commits(); n != 0 {
			t.Errorf("%d commits of refusals alone", n)
		}
		time.Sleep(1100 * time.Millisecond)
		if n := refused("alone"); n != 1000 || m.commits() != 1 {
			t.Errorf("%d refusals in %d commits, want 1000 in one", n, m.commits())
		}
		w.Refused("key", "model", "in company")
		durable(t, w.Begin(begun(w, "key", 1)))
		if n := refused("in company"); n != 1 {
			t.Errorf("%d refusals went with a row, want 1", n)
		}
		m.onCommit(fails(3), nil)
		for range 10 {
			w.Refused("key", "model", "while it fails")
			time.Sleep(400 * time.Millisecond)
		}
		w.Refused("key", "model", "at the end")
		stopped(t, stop)
		if a, b := refused("while it fails"), refused("at the end"); a != 10 || b != 1 {
			t.Errorf("%d refusals while it failed, %d at the end; want 10 and 1", a, b)
		}
	})
}

// What is old is pruned, a little at a time.
func TestKeepPrunes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		_, stop := run(t, m, ledger.Options{Keep: 24 * time.Hour})
		began := time.Now()
		time.Sleep(10*time.Minute + time.Second)
		stopped(t, stop)
		if n := len(m.dropped); n < 9 || n > 11 {
			t.Errorf("pruned %d times in ten minutes, want once a minute", n)
		}
		for _, before := range m.dropped {
			if age := time.Since(before); age < 24*time.Hour || before.Before(began.Add(-24*time.Hour)) {
				t.Errorf("what is older than %v is dropped, want a day", age)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		_, stop := run(t, m, ledger.Options{})
		time.Sleep(time.Hour)
		stopped(t, stop)
		if n := len(m.dropped); n != 0 {
			t.Errorf("pruned %d times, though rows are to be kept for ever", n)
		}
	})
}

// While the newest row is dated far ahead of the clock, one of the two is wrong: that is said, and nothing is dropped.
func TestRowsAheadOfTheClockDropNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := newMemory(t)
		m.newest = ledger.At(time.Now().Add(2 * time.Hour))
		w, stop := run(t, m, ledger.Options{Keep: 24 * time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if id := w.IDs().Next(); id <= m.newest {
			t.Errorf("id %s is made after %s", id, m.newest)
		}
		time.Sleep(50 * time.Minute)
		m.mu.Lock()
		n := len(m.dropped)
		m.mu.Unlock()
		if n != 0 || !strings.Contains(log.String(), "ahead_s=7200") {
			t.Errorf("pruned %d times, and the log says %q", n, log.String())
		}
		time.Sleep(30 * time.Minute) // the clock catches up
		stopped(t, stop)
		if len(m.dropped) == 0 {
			t.Error("nothing was dropped after the clock had caught up")
		}
	})
}
