package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Bounds of committing.
const (
	mostRolled  = 5000 // exchanges that may be missing in the sums
	firstRetry  = 20 * time.Millisecond
	slowRetry   = time.Second
	commitTime  = 30 * time.Second // for one attempt
	lastChances = 10 * time.Second // for what is left when Run ends
	mostPruned  = 200              // exchanges dropped at a time: a few milliseconds
	pruneEvery  = time.Minute
)

// Run commits what is queued until ctx ends, then what is left. An error says how many rows are lost, as the ledger could not be
// written for ten more seconds; or it matches [ErrFenced], whereupon this process has to end: nothing it does is recorded
// any more. Call it once.
func (w *Writer) Run(ctx context.Context) error {
	tick := time.NewTicker(w.options.RollEvery)
	defer tick.Stop()
	patient := time.NewTimer(0) // for rows that nobody waits for
	defer patient.Stop()
	running := true
	for {
		began, roll := time.Now(), false
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-w.later:
			if !running {
				patient.Reset(w.options.Late)
				running = true
			}
			continue
		case <-patient.C:
			running = false
		case <-tick.C:
			roll = true
			w.tellAdopted()
		}
		if ctx.Err() != nil { // first of all: what a commit has kept comes before anything new
			return w.finish(context.WithoutCancel(ctx))
		}
		w.commitNext(ctx, roll)
		if err := w.Err(); errors.Is(err, ErrFenced) {
			return err
		}
		w.prune(ctx)
		if rest := w.options.Gap - time.Since(began); rest > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(rest):
			}
		}
	}
}

// commitNext commits what is queued; with the roll if it is time for one, though nothing else may be there.
func (w *Writer) commitNext(ctx context.Context, roll bool) {
	g := w.take()
	roll = roll || time.Since(w.rolled) >= w.options.RollEvery
	if g = w.prepare(g, roll); g != nil {
		_ = w.persist(ctx, g) // ends with ctx: what is left is tried again by finish
	}
}

// take closes the group that was being filled, and begins another.
func (w *Writer) take() *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.next
	g.upto = w.ids.reached() // rows get their Seq under the same lock
	w.next = newGroup()
	return g
}

// prepare makes a batch of a group, or returns nil if there is nothing to write.
func (w *Writer) prepare(g *group, roll bool) *group {
	b := &g.batch
	for _, begin := range b.Begins {
		w.open.add(begin)
	}
	ends := b.Ends[:0]
	for _, e := range b.Ends {
		begin := w.open.end(e.Exchange)
		if begin == nil {
			w.stats.lost.Add(1) // its begin row was
			continue
		}
		ends = append(ends, e)
		w.roll.end(begin, e)
	}
	b.Ends = ends
	for _, c := range b.Corrections {
		w.roll.correct(c)
	}
	for r, n := range g.refusals {
		r.N = n
		b.Refusals = append(b.Refusals, r)
	}
	due := roll || len(w.roll.Hours)+len(w.roll.Slots) >= mostRolled
	if due && (!w.roll.empty() || time.Since(w.rolled) >= w.options.Heartbeat) {
		w.roll.Upto = g.upto
		b.Rolled = w.roll
		w.roll, w.rolled = newRoll(&w.names), time.Now()
	}
	if g.rows == 0 && b.Rolled == nil && (len(b.Refusals) == 0 || !roll) {
		w.putBack(b.Refusals)
		g.settle()
		return nil
	}
	b.Slot, b.Number, b.Oldest = w.slot, w.number+1, w.open.oldest()
	return g
}

// putBack counts refusals again that were taken out.
func (w *Writer) putBack(refusals []Refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range refusals {
		n := r.N
		r.N = 0
		if w.next.refusals == nil {
			w.next.refusals = map[Refusal]int64{}
		}
		w.next.refusals[r] += n
	}
}

// persist commits a group, however often it takes. It gives up when ctx ends; the group is then kept for finish.
func (w *Writer) persist(ctx context.Context, g *group) error {
	for wait := firstRetry; ; wait = min(2*wait, slowRetry) {
		err := w.try(ctx, g)
		if err == nil {
			w.recovered()
			w.number++
			w.stats.commits.Add(1)
			w.stats.rows.Add(int64(g.rows))
			g.settle()
			return nil
		}
		fenced := errors.Is(err, ErrFenced)
		if ctx.Err() == nil || fenced {
			w.stats.failures.Add(1)
			w.unavailable(err)
		}
		if w.options.Serve {
			g.settle() // nobody is to wait for it
		}
		if fenced {
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

// prune drops a few rows that are too old. Between two commits there is time for that, and more are dropped than come.
func (w *Writer) prune(ctx context.Context) {
	if w.options.Keep == 0 || w.failing.Load() != nil || time.Since(w.pruned) < pruneEvery {
		return
	}
	n, err := w.store.Prune(ctx, time.Now().Add(-w.options.Keep), mostPruned)
	if err != nil && ctx.Err() == nil {
		w.options.Log.Error("prune ledger", "error", err)
	}
	if err != nil || n < mostPruned {
		w.pruned = time.Now()
	}
}

// try makes one attempt. A store that hangs must not hold up the others for ever, and while it does, it cannot be written: who
// waited for it was told so.
func (w *Writer) try(ctx context.Context, g *group) error {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	told := make(chan struct{})
	late := time.AfterFunc(w.options.Patience, func() {
		defer close(told)
		w.unavailable(fmt.Errorf("it has not answered for %s", w.options.Patience))
	})
	err := w.store.Commit(ctx, &g.batch)
	if !late.Stop() {
		<-told // or it could be told after the recovery
	}
	return err
}

// finish writes what is left, for as long as a process that ends has time.
func (w *Writer) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastChances)
	defer cancel()
	rows, err := 0, error(nil)
	if g := w.kept; g != nil {
		w.kept = nil
		if err = w.persist(ctx, g); err != nil {
			rows += g.rows
		}
	}
	for err == nil {
		g := w.prepare(w.take(), true)
		if g == nil {
			return nil
		}
		if err = w.persist(ctx, g); err != nil {
			rows += g.rows
		}
	}
	w.mu.Lock()
	rows += w.next.rows
	w.mu.Unlock()
	return fmt.Errorf("%w: %d rows are lost: %w", ErrUnavailable, rows, err)
}

// settle lets those go on who wait for the group.
func (g *group) settle() {
	if !g.settled.Swap(true) {
		close(g.done)
	}
}

// unavailable notes that the ledger cannot be written, and says so when that begins. It is called by one goroutine at a time.
func (w *Writer) unavailable(err error) {
	if old := w.failing.Load(); old != nil {
		w.failing.Store(&failure{err: err, since: old.since})
		return
	}
	w.failing.Store(&failure{err: err, since: time.Now()})
	defer close(*w.alarm.Load())
	then := "new calls are refused until it can be"
	if w.options.Serve {
		then = "calls are served all the same, and what does not fit into memory is not recorded"
	}
	w.options.Log.Error("ledger unavailable", "error", err, "then", then)
}

// recovered notes that the ledger can be written.
func (w *Writer) recovered() {
	if f := w.failing.Load(); f != nil {
		w.newAlarm()
		w.failing.Store(nil)
		w.options.Log.Info("ledger available again", "after_ms", time.Since(f.since).Milliseconds(), "lost_rows", w.stats.lost.Load())
	}
}

// counters are the writer's own figures.
type counters struct{ commits, rows, failures, lost atomic.Int64 }

// Stats are figures of a [Writer] since it was opened.
type Stats struct {
	Commits  int64         // groups that became durable
	Rows     int64         // rows in them
	Failures int64         // commits that failed, each attempt counted
	Lost     int64         // rows that were not recorded, as memory was full
	Queued   int           // rows that wait for the next commit
	Failing  time.Duration // for how long the ledger could not be written; 0: it can be
}

// Stats returns the figures as they are now.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	queued := w.next.rows
	w.mu.Unlock()
	s := Stats{
		Commits: w.stats.commits.Load(), Rows: w.stats.rows.Load(), Failures: w.stats.failures.Load(), Lost: w.stats.lost.Load(),
		Queued: queued,
	}
	if f := w.failing.Load(); f != nil {
		s.Failing = time.Since(f.since)
	}
	return s
}
