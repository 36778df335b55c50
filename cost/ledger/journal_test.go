package ledger_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// paper is a journal in memory.
type paper struct {
	t testing.TB

	mu    sync.Mutex
	kept  map[int64][]ledger.ID // the exchanges that rows are of, by batch
	calls int
	fails error         // what Keep returns
	stuck chan struct{} // Keep waits for it to be closed; nil: it does not
	clear int
}

func newPaper(t testing.TB) *paper { return &paper{t: t, kept: map[int64][]ledger.ID{}} }

func (p *paper) Keep(b *ledger.Batch) error {
	p.mu.Lock()
	stuck, fails := p.stuck, p.fails
	p.calls++
	p.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if fails != nil {
		return fails
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := range p.kept {
		if n > b.Number {
			p.t.Errorf("rows of batch %d are kept after those of batch %d", b.Number, n)
		}
		if n < b.Number-1 {
			delete(p.kept, n)
		}
	}
	list := p.kept[b.Number]
	for _, r := range b.Begins {
		list = append(list, r.Exchange)
	}
	for _, r := range b.Draws {
		list = append(list, r.Exchange)
	}
	for _, r := range b.Ends {
		list = append(list, r.Exchange)
	}
	p.kept[b.Number] = list
	return nil
}

func (p *paper) Clear() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.kept)
	p.clear++
	return nil
}

// times is how many rows of an exchange are kept.
func (p *paper) times(id ledger.ID) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.kept {
		for _, x := range list {
			if x == id {
				n++
			}
		}
	}
	return n
}

// With a journal nobody waits for the store, which gets the rows in time all the same.
func TestTicketsWaitForTheJournalAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		m.onCommit(slow(30*time.Millisecond), nil)
		w, stop := run(t, m, ledger.Options{Journal: p})
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				b := begun(w, "key", 5)
				began := time.Now()
				durable(t, w.Begin(b))
				if !m.has(b.Exchange) && p.times(b.Exchange) != 1 {
					t.Errorf("%v is said to be durable, and is kept %d times", b.Exchange, p.times(b.Exchange))
				}
				durable(t, w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1}))
				w.End(ended(b, 4))
				if took := time.Since(began); took != 0 {
					t.Errorf("somebody waited %v, though nothing has to be waited for", took)
				}
			})
		}
		wg.Wait()
		stopped(t, stop)
		m.balanced()
		if n := m.commits(); n > 9 {
			t.Errorf("600 rows of 200 ms took %d commits, want one every 40 ms", n)
		}
		if p.clear != 1 || len(p.kept) != 0 {
			t.Errorf("in the end the journal was cleared %d times, and holds %v", p.clear, p.kept)
		}
	})
}

// Stored is for those who read the store next.
func TestStoredWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		w, stop := run(t, m, ledger.Options{Journal: p})
		defer stopped(t, stop)
		b := begun(w, "key", 5)
		ticket := w.Begin(b)
		durable(t, ticket)
		if m.has(b.Exchange) {
			t.Fatal("the row is in the store at once")
		}
		began := time.Now()
		if err := ticket.Stored(t.Context()); err != nil || !m.has(b.Exchange) {
			t.Errorf("the row is said to be in the store (%v), and is not there", err)
		}
		if took := time.Since(began); took > 2*time.Millisecond {
			t.Errorf("it took %v, though somebody waits for it", took)
		}
	})
}

// Many who wait at once are served by few writes.
func TestTheJournalIsWrittenForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		w, stop := run(t, m, ledger.Options{Journal: p, Late: time.Hour, RollEvery: time.Hour})
		p.stuck = make(chan struct{})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				b := begun(w, "key", 5)
				durable(t, w.Begin(b))
				w.End(ended(b, 4))
			})
		}
		synctest.Wait()
		close(p.stuck)
		wg.Wait()
		if p.calls > 2 {
			t.Errorf("the journal was written %d times for those who waited while it was written once", p.calls)
		}
		stopped(t, stop)
		m.balanced()
	})
}

// A journal that cannot be written is done without: answers wait for the store then, and with the next batch it is tried again.
func TestAJournalThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		p.fails = errors.New("the disk is full")
		w, stop := run(t, m, ledger.Options{Journal: p})
		for range 3 {
			b := begun(w, "key", 5)
			durable(t, w.Begin(b))
			if !m.has(b.Exchange) {
				t.Error("a row is said to be durable that is neither in the journal nor in the store")
			}
			w.End(ended(b, 4))
		}
		if n := w.Stats().Unkept; n != int64(p.calls) || n < 3 {
			t.Errorf("%d writes to the journal are said to have failed, and %d did", n, p.calls)
		}
		p.mu.Lock()
		p.fails = nil
		p.mu.Unlock()
		failed := w.Stats().Unkept
		b := begun(w, "key", 5)
		durable(t, w.Begin(b))
		if n := w.Stats().Unkept - failed; n != 0 {
			t.Errorf("%d more are said to have failed", n)
		}
		if m.has(b.Exchange) || p.times(b.Exchange) != 1 {
			t.Error("the journal is not used again")
		}
		w.End(ended(b, 4))
		stopped(t, stop)
		m.balanced()
	})
}

// While a write to the journal hangs, others wait for it no longer than their patience lasts, unless the store has their rows meanwhile.
func TestAJournalThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		w, stop := run(t, m, ledger.Options{Journal: p, Patience: time.Second})
		p.stuck = make(chan struct{})
		rows := []*ledger.Begin{begun(w, "key", 5), begun(w, "key", 5), begun(w, "key", 5)}
		first := make(chan error)
		go func() { first <- w.Begin(rows[0]).Wait(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		durable(t, w.Begin(rows[1]))
		if took := time.Since(began); took > 50*time.Millisecond {
			t.Errorf("a row took %v to be durable, though the store can be written", took)
		}
		m.onCommit(hangs, nil)
		began = time.Now()
		if err := w.Begin(rows[2]).Wait(t.Context()); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("got %v, want that the ledger is unavailable", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it was waited for %v, want a second", took)
		}
		m.onCommit(nil, nil)
		close(p.stuck)
		if err := <-first; err != nil {
			t.Error(err)
		}
		for _, b := range rows {
			w.End(ended(b, 4))
		}
		stopped(t, stop)
		m.balanced()
	})
}

// What comes after the end is not kept: the files are those of whoever opens the ledger next.
func TestNothingIsKeptAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		w, stop := run(t, m, ledger.Options{Journal: p})
		stopped(t, stop)
		late := begun(w, "key", 5)
		if err := w.Begin(late).Wait(t.Context()); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("a row that nobody will write: %v, want that the ledger is unavailable", err)
		}
		if p.times(late.Exchange) != 0 {
			t.Error("a row was kept in a journal that was cleared for the next")
		}
	})
}

// A journal that fails for long is said to do so once, and so is that it can be written again.
func TestAJournalThatFailsIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		p.fails = errors.New("the disk is full")
		var log strings.Builder
		w, stop := run(t, m, ledger.Options{Journal: p, Log: slog.New(slog.NewTextHandler(&log, nil))})
		call := func() {
			b := begun(w, "key", 5)
			durable(t, w.Begin(b))
			durable(t, w.End(ended(b, 4)))
			time.Sleep(time.Second)
		}
		for range 10 {
			call()
		}
		p.fails = nil
		call()
		call()
		stopped(t, stop)
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors are logged, want one:\n%s", n, log.String())
		}
		if n := strings.Count(log.String(), "can be written again"); n != 1 {
			t.Errorf("%d times it is said that it can be written again, want once:\n%s", n, log.String())
		}
	})
}

// Where a commit takes long, answers wait for the store again: what a power loss forgets is no more than a second.
func TestTheJournalDoesNotStandInForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(t), newPaper(t)
		w, stop := run(t, m, ledger.Options{Journal: p})
		m.onCommit(slow(3*time.Second), nil)
		began := time.Now()
		var longest time.Duration
		for time.Since(began) < 2*time.Second {
			b := begun(w, "key", 5)
			asked := time.Now()
			durable(t, w.Begin(b))
			longest = max(longest, time.Since(asked))
			w.End(ended(b, 4))
			time.Sleep(10 * time.Millisecond)
		}
		if longest < 2*time.Second {
			t.Errorf("for three seconds nothing has reached the store, and nobody waited longer than %s", longest)
		}
		m.onCommit(nil, nil)
		b := begun(w, "key", 5)
		durable(t, w.Begin(b)) // of the batch that is slow
		w.End(ended(b, 4))
		time.Sleep(5 * time.Second)
		asked := time.Now()
		b = begun(w, "key", 5)
		durable(t, w.Begin(b))
		if took := time.Since(asked); took != 0 {
			t.Errorf("the store is fast again, and somebody waits for %s", took)
		}
		w.End(ended(b, 4))
		stopped(t, stop)
		m.balanced()
	})
}

// What the store does not take in the end is in the journal, and is not said to be lost.
func TestTheEndLeavesWhatIsLeftInTheJournal(t *testing.T) {
	for name, want := range map[string]string{"it can be written": " 2 rows are in its journal", "nor can it": " 2 rows are lost"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, p := newMemory(t), newPaper(t)
				m.onCommit(broken, nil)
				if name == "nor can it" {
					p.fails = errors.New("the disk is full")
				}
				w, stop := run(t, m, ledger.Options{Journal: p})
				first, second := begun(w, "key", 1), begun(w, "key", 1)
				w.Begin(first)
				time.Sleep(time.Second)
				w.Begin(second)
				err := stop()
				if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), want) {
					t.Errorf("run: %v; want that it says:%s", err, want)
				}
				if kept := p.times(first.Exchange) + p.times(second.Exchange); kept != 2 && p.fails == nil {
					t.Errorf("%d of two rows are in the journal", kept)
				}
			})
		})
	}
}
