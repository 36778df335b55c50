package ledger

import (
	"context"
	"fmt"
	"time"
)

// Journal keeps rows that are on their way to the store where the end of this process, however sudden, cannot lose them. It is far
// cheaper than a commit, since it does not wait for a disk: what the machine itself loses, the journal loses with it, and the commit
// that follows within [Options.Late] is what outlasts that.
//
// Whoever opens the store next commits what the journal has and the store has not. One goroutine at a time uses it.
type Journal interface {
	// Keep adds rows to those of a batch, all of them or none, and returns once they outlast this process. What was kept of the batch
	// before the last is in the store by then, and forgotten.
	Keep(rows *Batch) error
	// Clear forgets everything: all of it is in the store.
	Clear() error
}

// mark says how much of a group is in the journal.
type mark struct{ begins, draws, ends, corrections, prices, notices, owned, grown int }

// since is what a batch has gained since a mark.
func (b *Batch) since(m mark) *Batch {
	return &Batch{
		Slot: b.Slot, Number: b.Number,
		Begins: b.Begins[m.begins:], Draws: b.Draws[m.draws:], Ends: b.Ends[m.ends:], Corrections: b.Corrections[m.corrections:],
		Prices: b.Prices[m.prices:], Notices: b.Notices[m.notices:], Owned: b.Owned[m.owned:], Grown: b.Grown[m.grown:],
	}
}

func (b *Batch) mark() mark {
	return mark{
		len(b.Begins), len(b.Draws), len(b.Ends), len(b.Corrections),
		len(b.Prices), len(b.Notices), len(b.Owned), len(b.Grown),
	}
}

// kept puts the row of a ticket into the journal, with all others that are queued, and reports whether it is there, or else whether patience
// is over. Where one caller does so for many, the others find theirs there when it is their turn. Its own write waits for no disk, but for
// the system, and cannot be given up.
func (t Ticket) kept(ctx context.Context, patience <-chan time.Time) (kept, over bool) {
	w, g := t.writer, t.group
	select {
	case w.keeping <- struct{}{}:
	default:
		select {
		case w.keeping <- struct{}{}:
		case <-g.done:
			return true, false
		case <-ctx.Done():
			return false, false
		case <-patience:
			return false, true
		}
	}
	defer func() { <-w.keeping }()
	if g.kept.Load() < t.row && !g.settled.Load() && !w.sealed {
		w.keep(g)
	}
	return g.kept.Load() >= t.row, false
}

// keep puts what is queued in a group into the journal. A batch is replayed after the one before it, or not at all. So as long as that one
// is not in the store, all of it is put there first, whether or not somebody has waited for its rows, and even if it has none. A group
// before that is in the store, though it was not a moment ago: batches are taken one after the other.
func (w *Writer) keep(g *group) {
	w.mu.Lock()
	before, filling := w.taken, w.next
	w.mu.Unlock()
	if g != before && g != filling {
		return
	}
	if before != nil && before != g && !before.stored.Load() && !w.note(before) {
		return
	}
	w.note(g)
}

// note puts what is queued in a group into the journal, and reports whether all of that is there.
func (w *Writer) note(g *group) bool {
	w.mu.Lock()
	rows, to, upto := g.queued.since(g.mark), g.queued.mark(), int64(g.rows)
	w.mu.Unlock()
	switch {
	case g.unkept:
		return false
	case g.noted && g.kept.Load() == upto:
		return true
	}
	if err := w.options.Journal.Keep(rows); err != nil {
		g.unkept = true
		w.stats.unkept.Add(1)
		if !w.unkept {
			w.unkept = true
			w.options.Log.Error("ledger journal", "error", err, "then", "answers wait for the ledger itself, as with sync: always, until it can be written")
		}
		return false
	}
	if w.unkept {
		w.unkept = false
		w.options.Log.Info("ledger journal can be written again")
	}
	g.mark, g.noted = to, true
	g.kept.Store(upto)
	return true
}

// rescued puts all rows that are not in the store into the journal, and reports whether they are there.
func (w *Writer) rescued() bool {
	if w.options.Journal == nil {
		return false
	}
	kept := make(chan bool, 1)
	go func() { // it may hang as the store does
		w.keeping <- struct{}{}
		defer func() { <-w.keeping }()
		w.mu.Lock()
		last := w.next
		w.mu.Unlock()
		w.keep(last)
		w.sealed = true
		kept <- last.noted && !last.unkept
	}()
	select {
	case done := <-kept:
		return done
	case <-time.After(time.Second):
		return false
	}
}

// clear ends with an empty journal, for all rows are in the store. Nothing is kept thereafter: the next who opens the ledger may be there
// already, and the files are his.
func (w *Writer) clear() error {
	if w.options.Journal == nil {
		return nil
	}
	select {
	case w.keeping <- struct{}{}:
		defer func() { <-w.keeping }()
	case <-time.After(lastChances):
		return fmt.Errorf("clear the ledger's journal: a write to it has hung for %s", lastChances)
	}
	w.sealed = true
	return w.options.Journal.Clear()
}
