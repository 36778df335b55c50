package limiter

import (
	"context"
	"time"
)

// Sweep drops the names that are as good as new and returns how many. It goes
// about it in slices, each holding up only a small part of the names, for well
// under a millisecond. Growth makes parts of it happen by themselves, so that
// there are not many more than twice as many names as needed; call Sweep,
// or Run, to have the memory back in quiet times too.
func (f *Family) Sweep() (dropped int) {
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.Lock()
		dropped += f.sweep(s)
		s.mu.Unlock()
	}
	return dropped
}

// Run sweeps every so often, which must be more than 0, until the context ends, and returns its error.
func (f *Family) Run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			f.Sweep()
		}
	}
}

// sweep is called with s.mu held.
func (f *Family) sweep(s *familyShard) (dropped int) {
	if f.names.Load() < f.most && f.sharing() {
		return 0 // a name made anew would be charged for others: nobody is as good as that
	}
	now, names := f.memory.now(true), s.table.Load()
	for i := range names.slots {
		if b := names.slots[i].budget.Load(); b != nil && b.dropIfFresh(now) {
			dropped++
		}
	}
	if dropped > 0 {
		names = names.copyOf(names.n-dropped, func(b *Budget) bool { return b.lane.Load() != laneDead })
		s.table.Store(names)
	}
	s.kept, s.swept = names.n, time.Now()
	f.names.Add(-int64(dropped))
	f.dropped.Add(int64(dropped))
	return dropped
}

// dropIfFresh marks a budget dead if it is as good as new. A budget that is
// locked is in use.
func (b *Budget) dropIfFresh(now instant) bool {
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	if t, whole := b.terms.Load(), b.lane.Load(); whole >= 0 && now.ns < t.lane.until { // the word says it all
		return !t.pinned && !t.startsEmpty && t.lane.isWhole(whole, now.ns) && b.lane.CompareAndSwap(whole, laneDead)
	}
	b.enter(now)
	if !b.fresh() {
		return false
	}
	b.lane.Store(laneDead)
	return true
}
