package limiter

import "time"

// verdict is the answer to one charge.
type verdict struct {
	wait   time.Duration // 0: it passes
	held   bool          // only holds are in its way
	tooBig bool          // more than the budget can ever hold
	atOnce bool          // it waits for a call to end; wait is a guess
	noRoom bool          // it would pass, but the sum of all holds would not fit
}

// fits reports whether n, at least 1, can be taken now, and in 64 bits: the
// short way to the usual answer.
func (b *Budget) fits(n int64, by *Reservation, now int64) bool {
	t, m := b.terms.Load(), b.more
	switch {
	case n > t.capacity:
		return false
	case m == nil: // a token bucket, and nothing in the way
		return !t.size.less(b.deficit.plus(product(n, t.every)))
	}
	return b.wait(n, by, now) == 0 && !b.noRoom(n)
}

// noRoom reports whether an amount that fits the capacity is too much for the
// sum of all holds of a bucket, which refill does not make smaller.
func (b *Budget) noRoom(n int64) bool { return b.more != nil && n > mostCounted-b.more.held }

// wait is the time until the charge, looked at alone, passes.
func (c *Charge) wait(by *Reservation, now int64) time.Duration {
	switch {
	case c.N == 0:
		return 0
	case c.N > c.Budget.terms.Load().capacity:
		return Never
	}
	return c.Budget.wait(c.N, by, now)
}

// judge answers for a charge whose budget is locked and brought to the
// present.
func (c *Charge) judge(by *Reservation, now int64) verdict {
	b := c.Budget
	t, wait := b.terms.Load(), c.wait(by, now)
	v := verdict{wait: wait, noRoom: wait == 0 && b.noRoom(c.N), tooBig: c.N > t.capacity}
	if wait > 0 && !v.tooBig {
		v.held = b.counter().fitsWithoutHeld(c.N)
		if _, v.atOnce = t.rule.(AtOnce); v.atOnce { // be it for a draw's turn
			v.wait = min(max(v.wait, shortestGuess), longestGuess)
		}
	}
	return v
}

// explainsBetter reports whether a refused call is better explained by v than
// by another of its charges: by the one that waits longest, and among equals
// by the one whose refusal is the most final. A guess explains only what
// nothing else does.
func (v verdict) explainsBetter(other verdict) bool {
	switch {
	case v.atOnce != other.atOnce:
		return other.atOnce
	case v.wait != other.wait:
		return v.wait > other.wait
	case v.tooBig != other.tooBig:
		return v.tooBig
	}
	return other.held && !v.held
}

// errNoRoom reports an amount that does not fit in 64 bits on top of what
// counts.
func (c *Charge) errNoRoom() error {
	return misusef("charge of %d to budget %q: the sum does not fit in 64 bits", c.N, c.Budget.name)
}
