package limiter

import "time"

// bucket is a Budget seen as the counter of its TokenBucket. It keeps the
// deficit (capacity less level) rather than the level, so that a rule of
// another size leaves alone what was consumed. The deficit is counted in
// parts, so that no instant is ever rounded.
type bucket Budget

func (b *bucket) setTerms(t *terms) {
	if old := b.terms.Load(); t.every != old.every {
		// A deficit's fraction is rounded up and a bound on what may be given
		// back is rounded down, so a new period never makes capacity.
		b.deficit = b.deficit.rescaled(old.every, t.every, true)
		if b.more != nil {
			for h := b.more.holds.oldest; h != nil; h = h.younger {
				h.least = h.least.rescaled(old.every, t.every, false)
			}
			b.more.holds.stale = true
			b.more.returned = b.more.returned.rescaled(old.every, t.every, true)
		}
	}
}

func (b *bucket) advance(now instant) {
	if dt := now.ns - b.now; dt > 0 {
		b.now = now.ns
		if !b.deficit.isZero() {
			b.deficit = b.deficit.minus(product(dt, b.terms.Load().refill))
		}
	}
}

func (b *bucket) counted() (used, held int64) {
	all := b.deficit.ceilDiv(b.terms.Load().every)
	if b.more != nil {
		held = min(b.more.held, all)
	}
	return all - held, held
}

func (b *bucket) describe() (used, held int64, open int, untilWhole time.Duration) {
	used, held = b.counted()
	if b.more != nil {
		open = b.more.holds.reservations
	}
	return used, held, open, time.Duration(b.deficit.ceilDiv(b.terms.Load().refill))
}

func (b *bucket) room() int64 {
	all := b.deficit.ceilDiv(b.terms.Load().every)
	if b.more != nil {
		all = max(all, b.more.held)
	}
	return mostCounted - all
}

// wait returns the smallest time after which the deficit leaves n:
// ceil((deficit − (size − n)) / refill) in parts, and Never if that is no
// time.Duration.
func (b *bucket) wait(n int64) time.Duration {
	t := b.terms.Load()
	if need := b.deficit.plus(product(n, t.every)); t.size.less(need) {
		return time.Duration(need.minus(t.size).ceilDiv(t.refill))
	}
	return 0
}

func (b *bucket) after(d time.Duration) int64 {
	t := b.terms.Load()
	return b.deficit.minus(product(int64(d), t.refill)).ceilDiv(t.every)
}

func (b *bucket) fitsWithoutHeld(n int64) bool {
	t, m := b.terms.Load(), b.more
	if m == nil || m.held == 0 {
		return b.wait(n) == 0
	}
	held, need := product(m.held, t.every), product(n, t.every)
	if t.size.less(b.deficit.minus(held).plus(need)) {
		return false // not even if all of it came back
	}
	rest := b.deficit.minus(m.holds.returnable(b.deficit, held, t.every))
	return !t.size.less(rest.plus(need))
}

func (b *bucket) spend(n int64) {
	if b.more != nil {
		b.more.holds.observe(b.deficit)
	}
	if b.lane.Load() == laneNew {
		b.lane.Store(laneClosed)
	}
	b.deficit = b.deficit.plus(product(n, b.terms.Load().every))
}

func (b *bucket) hold(h *hold) {
	m := (*Budget)(b).rest()
	b.spend(h.n)
	m.held += h.n
	h.place = uint64(b.now)
	m.holds.add(h, product(h.n, b.terms.Load().every))
}

func (b *bucket) settle(h *hold, used int64) {
	if back := h.n - used; back > 0 {
		b.more.holds.observe(b.deficit)
		given := b.more.holds.giveBack(h, product(back, b.terms.Load().every))
		b.deficit = b.deficit.minus(given)
		b.more.returned = b.more.returned.plus(given)
	}
	b.more.holds.remove(h)
	b.more.held -= h.n
}

func (b *bucket) fresh() bool {
	return b.deficit.isZero() && (b.more == nil || b.more.holds.oldest == nil)
}
