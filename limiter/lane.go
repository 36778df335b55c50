package limiter

import (
	"context"
	"time"
)

// The fast lane. A token bucket that nobody holds reservations on is described
// by one number: the instant at which it will be whole, counted in parts. As
// long as that fits into a word, a decision is one compare-and-swap on it,
// without a lock, and still exact: the parts are those of the slow arithmetic,
// less a common divisor.
//
// Whatever needs more (several charges at once, a hold, a draw's turn, Inc)
// closes the lane under the budget's lock and works on the state there;
// TryAcquire of one charge opens it again when it finds nothing in the way. A budget whose
// rule was changed has no lane any more, so that no late swap can mistake the
// parts of one rule for those of another.

// What the word says when it is not an instant.
const (
	laneClosed = -1
	laneDead   = -2 // the state was dropped: there is, or will be, another
	laneNew    = -3 // closed, and a bucket that starts empty has never been charged
)

// TryAcquire takes n, or nothing and returns false: the fastest way for
// callers who know the cost, charge one budget, and need not know when a
// refused call would pass ([TryAcquire] and [Limiter.Peek] tell). n = 0 always
// passes and changes nothing. An error means misuse, as no handle or a zero one
// is, or a store that could not answer; memory never looks at the context.
func (b *Budget) TryAcquire(ctx context.Context, n int64) (bool, error) {
	t := b.termsOrNil()
	if t == nil {
		return false, errNoHandle
	}
	if n > 0 && n <= t.capacity && t.lane.until > 0 {
		if _, _, ok, decided := b.passLane(t, n); decided {
			return ok, nil
		}
	}
	if t.memory == nil {
		d, err := TryAcquire(ctx, t.foreign.owner, []Charge{{Budget: b, N: n}})
		return d.OK, err
	}
	return b.tryAcquire(t, n)
}

// passLane takes n, from 1 to the capacity, if the lane is open, and returns
// what the word says after it and the instant of the decision, or -1 if only the
// word is certain.
//
// The word is read before the clock: what others have spent by then, they saw
// at an instant no later than ours. Where the word has changed in between, a
// charge that fits at our instant fits later, too, so only one that does not
// needs to know the time again. That keeps many goroutines at one budget from
// reading clocks instead of getting on.
func (b *Budget) passLane(t *terms, n int64) (whole, now int64, ok, decided bool) {
	base := t.memory.base
	v := b.lane.Load()
	now = int64(time.Since(base))
	for first := true; v >= 0 && now < t.lane.until; v, first = b.lane.Load(), false {
		whole, ok = t.lane.charged(v, now, n)
		if !ok && !first {
			if now = int64(time.Since(base)); now >= t.lane.until {
				break
			}
			whole, ok = t.lane.charged(v, now, n)
		}
		if !ok {
			return v, now, false, true
		}
		if b.lane.CompareAndSwap(v, whole) {
			if !first {
				now = -1 // others may have seen later ones
			}
			return whole, now, true, true
		}
	}
	return 0, 0, false, false
}

// charged returns when the bucket will be whole after n more, from 1 to the
// capacity, is taken now, and whether it fits.
func (l *laneTerms) charged(whole, now, n int64) (int64, bool) {
	at := now * l.refill
	whole = max(whole, at) + n*l.every
	return whole, whole-at <= l.size
}

// isWhole reports whether nothing of the bucket is missing any more.
func (l *laneTerms) isWhole(whole, now int64) bool { return whole <= now*l.refill }

// passLane is the budget's, with the decision and the state.
func (c *Charge) passLane() (d Decision, decided bool) {
	t := c.Budget.terms.Load()
	if c.N < 1 || c.N > t.capacity || t.lane.until == 0 {
		return d, false
	}
	whole, now, ok, decided := c.Budget.passLane(t, c.N)
	if !decided {
		return d, false
	}
	if now < 0 {
		now = int64(time.Since(t.memory.base))
	}
	l := &t.lane
	deficit := max(0, whole-now*l.refill)
	used := ceilDiv(deficit, l.every)
	s := &c.State
	s.Limit, s.Used, s.Held, s.Open, s.Remaining = t.capacity, used, 0, 0, t.capacity-used
	s.ResetAfter, s.LeftAfterWaiting = time.Duration(ceilDiv(deficit, l.refill)), used
	if ok {
		return Decision{OK: true, Refused: -1}, true
	}
	wait := ceilDiv(deficit+c.N*l.every-l.size, l.refill)
	s.LeftAfterWaiting = ceilDiv(max(0, deficit-wait*l.refill), l.every)
	return Decision{RetryAfter: time.Duration(wait)}, true
}

func ceilDiv(a, by int64) int64 { return (a + by - 1) / by }

// tryAcquire is TryAcquire where there is no open lane.
func (b *Budget) tryAcquire(t *terms, n int64) (bool, error) {
	if n == 0 {
		return true, nil
	}
	charge := Charge{Budget: b, N: n}
	if err := charge.check(t.memory, 0); err != nil {
		return false, err
	}
	now := t.memory.now(t.wall)
	b = b.lockLive()
	defer b.mu.Unlock()
	now = t.memory.with(now, b)
	b.enter(now)
	charge.Budget = b
	if !b.fits(n, nil, now.ns) {
		if charge.judge(nil, now.ns).noRoom {
			return false, charge.errNoRoom()
		}
		return false, nil
	}
	b.counter().spend(n)
	b.openLane()
	return true, nil
}

// closeLane takes the state back under the lock. The instant it is taken at is
// no earlier than what callers in the lane have seen.
func (b *Budget) closeLane() {
	v := b.lane.Swap(laneClosed)
	b.leaveLane(v, b.terms.Load().memory.now(false).ns)
}

func (b *Budget) leaveLane(v, now int64) {
	l := &b.terms.Load().lane
	b.now = max(b.now, now)
	b.deficit = product(wide{lo: uint64(v)}.minus(product(b.now, l.refill)).narrow(), l.divisor)
}

// openLane hands the state over to the lane if nothing else depends on it.
func (b *Budget) openLane() {
	t := b.terms.Load()
	switch v, m := b.lane.Load(), b.more; {
	case v >= 0, v == laneDead, b.now >= t.lane.until, t.size.less(b.deficit):
		return
	case m != nil && (m.counter != nil || m.open > 0 || len(m.turns) > 0):
		return
	}
	b.lane.Store(b.now*t.lane.refill + b.deficit.ceilDiv(t.lane.divisor))
}
