package limiter

import (
	"fmt"
	"time"
)

// verdict is the answer to one charge.
type verdict struct {
	wait   time.Duration // 0: it passes
	held   bool          // only holds are in its way
	tooBig bool          // more than the budget can ever hold
	atOnce bool          // it waits for a call to end; wait is a guess
}

// judge answers for a charge whose budget is locked and brought to the
// present. It leaves the wait in the state, for describe.
func (c *Charge) judge(by *Reservation, now int64) verdict {
	v := verdict{}
	b := c.Budget
	switch t := b.terms.Load(); {
	case c.N == 0:
	case c.N > t.capacity:
		v.wait, v.tooBig = Never, true
	default:
		if v.wait = b.wait(c.N, by, now); v.wait > 0 {
			v.held = b.counter().fitsWithoutHeld(c.N)
			_, v.atOnce = t.rule.(AtOnce)
		}
	}
	c.State.ResetAfter = v.wait
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

// checkRoom reports an amount that does not fit in 64 bits on top of what
// counts.
func (b *Budget) checkRoom(n int64) error {
	if n > b.counter().room() {
		return fmt.Errorf("limiter: charge of %d to budget %q: the sum does not fit in 64 bits", n, b.name)
	}
	return nil
}
