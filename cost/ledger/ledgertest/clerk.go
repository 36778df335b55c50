package ledgertest

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// clerk writes batches by hand, as a Writer does, but at instants of the story's choice, and with no cleverness.
type clerk struct {
	t     testing.TB
	store ledger.Store
	past  *ledger.Past

	number int64                       // of the last batch
	last   ledger.ID                   // the largest made
	batch  *ledger.Batch               // being filled
	open   map[ledger.ID]*ledger.Begin // with those of the batch

	// Not rolled up.
	ended     []ledger.Exchange
	corrected []ledger.Correction
}

// hire opens a ledger to write. Exchanges that crashed are ended with the next batch.
func hire(t testing.TB, l Ledger) *clerk {
	t.Helper()
	return hireAt(t, l, time.Time{})
}

// hireAt is hire at an instant, which the end rows of what crashed are not before.
func hireAt(t testing.TB, l Ledger, at time.Time) *clerk {
	t.Helper()
	store := l.Open(t)
	past, err := store.Resume(t.Context())
	if err != nil {
		store.Close()
		t.Fatalf("resume: %v", err)
	}
	c := &clerk{
		t: t, store: store, past: past, number: past.Batch, last: past.Last,
		ended: past.Tail, corrected: past.Corrected, batch: &ledger.Batch{}, open: map[ledger.ID]*ledger.Begin{},
	}
	for i := range past.Unfinished {
		x := &past.Unfinished[i]
		c.open[x.Begin.Exchange] = &x.Begin
		c.end(x.Crash(), later(at, c.last.Time()))
	}
	return c
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// leave closes the store, as a process does that ends.
func (c *clerk) leave() {
	c.t.Helper()
	if err := c.store.Close(); err != nil {
		c.t.Errorf("close: %v", err)
	}
}

// id makes an ID no earlier than at, and larger than all before.
func (c *clerk) id(at time.Time) ledger.ID {
	c.last = max(ledger.At(at), (c.last/ledger.Slots+1)*ledger.Slots) + ledger.ID(c.past.Slot)
	return c.last
}

// begin puts a begin row into the batch, and gives it an ID if it has none.
func (c *clerk) begin(b *ledger.Begin, at time.Time) *ledger.Begin {
	if b.Exchange == 0 {
		b.Exchange = c.id(at)
	}
	c.open[b.Exchange] = b
	c.batch.Begins = append(c.batch.Begins, b)
	return b
}

func (c *clerk) draw(d *ledger.Draw) { c.batch.Draws = append(c.batch.Draws, d) }

// end puts an end row into the batch.
func (c *clerk) end(e *ledger.End, at time.Time) *ledger.End {
	b := c.open[e.Exchange]
	if b == nil {
		c.t.Fatalf("%v has not begun", e.Exchange)
	}
	delete(c.open, e.Exchange)
	e.Seq = c.id(at)
	c.batch.Ends = append(c.batch.Ends, e)
	c.ended = append(c.ended, ledger.Exchange{Begin: *b, End: e})
	return e
}

func (c *clerk) correct(r *ledger.Correction, at time.Time) *ledger.Correction {
	r.Seq = c.id(at)
	c.batch.Corrections = append(c.batch.Corrections, r)
	c.corrected = append(c.corrected, *r)
	return r
}

// roll adds all that is not in the sums to what the batch adds to them.
func (c *clerk) roll() {
	c.batch.Rolled = ledger.RollOf(c.ended, c.corrected)
	c.ended, c.corrected = nil, nil
}

// take closes the batch, and begins another.
func (c *clerk) take() *ledger.Batch {
	b := c.batch
	c.number++
	b.Slot, b.Number = c.past.Slot, c.number
	if len(c.open) > 0 {
		b.Oldest = slices.Min(slices.Collect(maps.Keys(c.open)))
	}
	c.batch = &ledger.Batch{}
	return b
}

// commit writes the batch.
func (c *clerk) commit() *ledger.Batch {
	c.t.Helper()
	b := c.take()
	if err := c.store.Commit(c.t.Context(), b); err != nil {
		c.t.Fatalf("commit batch %d: %v", b.Number, err)
	}
	return b
}

// rollUp brings the sums up to date.
func (c *clerk) rollUp() {
	c.t.Helper()
	c.roll()
	c.commit()
}

// prune drops exchanges.
func (c *clerk) prune(before time.Time, most int) int {
	c.t.Helper()
	n, err := c.store.Prune(context.WithoutCancel(c.t.Context()), before, most)
	if err != nil {
		c.t.Fatalf("prune: %v", err)
	}
	return n
}
