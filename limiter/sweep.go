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
	f.directory.each(func(p *part, hash uint64) { dropped += f.sweep(p, hash) })
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

// sweep is called with the part locked. If it drops any, another has taken the
// part's place.
func (f *Family) sweep(p *part, hash uint64) (dropped int) {
	if f.names.Load() < f.most && f.sharing() {
		return 0 // a name made anew would be charged for others: nobody is as good as that
	}
	now := f.memory.now(true)
	for i := range p.slots {
		if b := p.slots[i].budget.Load(); b != nil && b.dropIfFresh(now) {
			dropped++
		}
	}
	p.kept, p.swept = p.n-dropped, time.Now()
	if dropped > 0 {
		f.names.Add(-int64(dropped))
		f.dropped.Add(int64(dropped))
		f.directory.thin(p, hash, func(b *Budget) bool { return b.lane.Load() != laneDead })
	}
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
