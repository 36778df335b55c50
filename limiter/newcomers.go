package limiter

// Newcomers to a full family share one budget, so any of them may have spent
// what counts there. A name that is given one of its own while something still
// does is charged with it: too much for most, but never too little. Once there
// is room the common budget is charged no more, so it is over when time has
// given all of that back: with a calendar quota at its boundary, with a Total
// never, and not before a reservation that was made there has ended.

// sharing reports whether the newcomers' budget was handed out and is not yet
// as good as new again.
func (f *Family) sharing() bool {
	if f.shared.Load() == 0 {
		return false
	}
	b := f.newcomers
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.terms.Load()
	now := f.memory.now(t.wall)
	if whole := b.lane.Load(); whole >= 0 && now.ns < t.lane.until {
		return !t.lane.isWhole(whole, now.ns)
	}
	b.enter(now)
	return !b.counter().fresh()
}

// inherit charges a budget that nobody has seen yet with what counts on
// another, as if its own name had spent all of it.
func (b *Budget) inherit(from *Budget) {
	from.mu.Lock()
	defer from.mu.Unlock()
	from.enter(from.terms.Load().memory.now(from.terms.Load().wall))
	same := b.terms.Load() == from.terms.Load()
	switch c := b.counter().(type) {
	case *bucket:
		if same {
			b.lane.Store(from.lane.Load()) // which says whether it was ever charged
			c.now = from.now
			if c.deficit.less(from.deficit) { // it may have begun empty
				c.deficit = from.deficit
			}
			return
		}
	case *window:
		if same {
			c.inherit(from.counter().(*window))
			return
		}
	case *atOnce:
		if elders, ok := from.counter().(*atOnce); ok && elders.held.Load() > 0 {
			c.elders = elders
		}
		return
	}
	if used, held := from.counter().counted(); used+held > 0 {
		b.counter().spend(used + held)
	}
}
