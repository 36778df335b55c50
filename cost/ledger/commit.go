package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Bounds of committing.
const (
	mostRolled  = 5000 // exchanges that may be missing in the sums
	firstRetry  = 20 * time.Millisecond
	slowRetry   = time.Second
	commitTime  = 30 * time.Second // for one attempt, and rowTime for each row
	rowTime     = time.Millisecond
	lastChances = 10 * time.Second // for what is left when Run ends
	mostPruned  = 200              // exchanges dropped at a time: a few milliseconds
	pruneEvery  = time.Minute
	mostAhead   = time.Hour // that the newest row may be ahead of the clock, before somebody should know
)

// Run commits what is queued until ctx ends, then what is left. An error says how many rows are lost, or are in the journal alone, as the
// ledger could not be written for ten more seconds. Call it once.
func (w *Writer) Run(ctx context.Context) error {
	go w.answerCalls()
	defer close(w.calls)
	tick := time.NewTicker(w.options.RollEvery)
	defer tick.Stop()
	var patient <-chan time.Time // runs while there are rows that nobody waits for
	for ctx.Err() == nil {       // once it has ended, nothing may overtake what was kept
		began, roll := time.Now(), false
		select {
		case <-ctx.Done():
			continue
		case <-w.wake:
		case <-w.later:
			if patient == nil {
				patient = time.After(w.options.Late)
			}
			continue
		case <-patient:
			patient = nil
		case <-tick.C:
			roll = true
			w.tellAdopted()
		}
		w.commitNext(ctx, roll)
		if err := w.Err(); errors.Is(err, ErrLocked) {
			return err // for good
		}
		w.prune(ctx)
		if rest := w.options.Gap - time.Since(began); rest > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(rest):
			}
		}
	}
	return w.finish(context.WithoutCancel(ctx))
}

// commitNext commits what is queued; with the roll if it is time for one, though nothing else may be there.
func (w *Writer) commitNext(ctx context.Context, roll bool) {
	if g := w.take(roll); g != nil {
		w.prepare(g, roll)
		_ = w.persist(ctx, g) // ends with ctx: what is left is tried again by finish
	}
}

// take closes the group that was being filled, and begins another. It returns nil, and the group goes on, if there is nothing to write:
// refusals alone wait for rows, or for the time of a roll.
func (w *Writer) take(roll bool) *group {
	w.mu.Lock()
	g := w.next
	if g.rows == 0 && !w.due(roll) && (len(g.refusals) == 0 || !roll) {
		w.mu.Unlock()
		return nil
	}
	g.upto = w.ids.reached() // rows get their Seq under the same lock
	g.taken.Store(true)
	w.next, w.taken = newGroup(w.slot, g.queued.Number+1), g
	w.mu.Unlock()
	return g
}

// due reports whether the sums are to be written.
func (w *Writer) due(roll bool) bool {
	roll = roll || time.Since(w.rolled) >= w.options.RollEvery || len(w.roll.Hours)+len(w.roll.Slots) >= mostRolled
	return roll && (!w.roll.empty() || w.options.RollIdle > 0 && time.Since(w.rolled) >= w.options.RollIdle)
}

// prepare makes a batch of a group.
func (w *Writer) prepare(g *group, roll bool) {
	g.batch = g.queued
	b := &g.batch
	w.match(b)
	for _, c := range b.Corrections {
		w.roll.correct(c)
	}
	b.Refusals = w.refusals(g)
	if w.due(roll) {
		w.roll.Upto = g.upto
		b.Rolled = w.roll
		w.roll, w.rolled = newRoll(&w.names), time.Now()
	}
	b.Oldest = w.open.oldest()
}

// match finds the exchanges that rows are of. Those whose begin row was lost, or that have ended, are lost, too: what there is of
// an exchange adds up.
func (w *Writer) match(b *Batch) {
	for _, begin := range b.Begins {
		w.open.add(begin)
	}
	stray := func(begin *Begin) bool {
		if begin == nil {
			w.stats.lost.Add(1)
		}
		return begin == nil
	}
	b.Draws = without(b.Draws, func(d *Draw) bool { return stray(w.open.begins[d.Exchange]) })
	b.Ends = without(b.Ends, func(e *End) bool {
		begin := w.open.end(e.Exchange)
		if begin != nil {
			w.roll.end(begin, e)
		}
		return stray(begin)
	})
}

// without is a list without some, another one if there are any: the journal may be reading it.
func without[T any](list []T, drop func(T) bool) []T {
	kept, shared := list, true
	for i, v := range list {
		switch dropped := drop(v); {
		case dropped && shared:
			kept, shared = slices.Clone(list[:i]), false
		case !dropped && !shared:
			kept = append(kept, v)
		}
	}
	return kept
}

// refusals are those of a group. They are kept for ever, so names that callers make up are folded.
func (w *Writer) refusals(g *group) (list []Refusal) {
	counts := make(map[Refusal]int64, len(g.refusals))
	for r, n := range g.refusals {
		r.Model = w.names.fold(r.Hour, r.Key, "refused", r.Model)
		counts[r] += n
	}
	for r, n := range counts {
		r.N = n
		list = append(list, r)
	}
	return list
}

// persist commits a group, however often it takes. It gives up when ctx ends; the group is then kept for finish.
func (w *Writer) persist(ctx context.Context, g *group) error {
	began := time.Now()
	w.committing.Store(&began)
	for wait := firstRetry; ; wait = min(2*wait, slowRetry) {
		limit := commitTime + time.Duration(g.rows)*rowTime
		err := w.attempt(ctx, limit, func(ctx context.Context) error { return w.store.Commit(ctx, &g.batch) })
		if err == nil {
			g.stored.Store(true)
			w.committing.Store(nil)
			w.stats.stuck.Store(0)
			w.recovered()
			w.stats.commits.Add(1)
			w.stats.rows.Add(int64(g.rows))
			g.settle()
			return nil
		}
		locked := errors.Is(err, ErrLocked)
		w.stats.stuck.Store(int64(g.rows))
		if ctx.Err() == nil || locked {
			w.stats.failures.Add(1)
			w.unavailable(err)
		}
		if w.options.Serve {
			g.settle() // nobody is to wait for it
		}
		if locked {
			return err // for good
		}
		select {
		case <-ctx.Done():
			w.kept = g
			return err
		case <-time.After(wait):
		}
	}
}

// prune drops a few rows that are too old. Between two commits there is time for that, and more are dropped than come. While rows
// are dated ahead of the clock, one of the two is wrong, and nothing is dropped.
func (w *Writer) prune(ctx context.Context) {
	if w.options.Keep == 0 || ctx.Err() != nil || w.failing.Load() != nil || time.Since(w.pruned) < pruneEvery || w.ids.ahead() > mostAhead {
		return
	}
	var n int
	err := w.attempt(ctx, commitTime, func(ctx context.Context) (err error) {
		n, err = w.store.Prune(ctx, time.Now().Add(-w.options.Keep), mostPruned)
		return err
	})
	if err != nil && ctx.Err() == nil {
		w.options.Log.Error("prune ledger", "error", err)
	}
	w.recovered() // it may have been silent for long
	if err != nil || n < mostPruned {
		w.pruned = time.Now()
	}
}

// finish writes what is left, for as long as a process that ends has time.
func (w *Writer) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastChances)
	defer cancel()
	rows, err := 0, error(nil)
	if w.deaf {
		err = errDeaf
	}
	if g := w.kept; g != nil {
		w.kept = nil
		if err == nil {
			err = w.persist(ctx, g)
		}
		if err != nil {
			rows += g.rows
		}
	}
	for err == nil {
		g := w.take(true)
		if g == nil {
			return w.clear()
		}
		w.prepare(g, true)
		if err = w.persist(ctx, g); err != nil {
			rows += g.rows
		}
	}
	w.mu.Lock()
	rows += w.next.rows
	w.mu.Unlock()
	if !errors.Is(err, ErrLocked) && w.rescued() {
		return fmt.Errorf("%w: %d rows are in its journal, and get into it when it is opened next: %w", ErrUnavailable, rows, err)
	}
	return fmt.Errorf("%w: %d rows are lost: %w", ErrUnavailable, rows, err)
}

// settle lets those go on who wait for the group.
func (g *group) settle() {
	if !g.settled.Swap(true) {
		close(g.done)
	}
}
