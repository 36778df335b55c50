package limiter_test

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// The reference keeps every charge for ever and works each answer out anew
// from the beginning. It is slow and has no cleverness to go wrong.

// refCharge is one charge as the log has it. What an overrun adds is a charge
// of its own, at the instant it was settled.
type refCharge struct {
	at   time.Duration // since the start
	n    int64         // what counts: reserved while open, then what was used
	open bool
	inc  bool         // counted without asking
	rule limiter.Rule // not nil: no charge, but a new rule from here on
}

// refBudget answers for one budget at any instant from its log.
type refBudget struct {
	rule  limiter.Rule // the newest
	first limiter.Rule
	start time.Time
	log   []*refCharge
}

// counted returns what counts at an instant, rounded up to whole units. With
// zeroHeld it leaves out what is open, as if settled at zero.
func (b *refBudget) counted(at time.Duration, zeroHeld bool) int64 {
	switch r := b.rule.(type) {
	case limiter.TokenBucket:
		return b.bucketDeficit(at, zeroHeld)
	case limiter.SlidingWindow:
		return b.sum(zeroHeld, func(c *refCharge) bool { return windowLeaves(r, c.at) > at })
	case limiter.CalendarQuota:
		hour := func(d time.Duration) int64 { return b.start.Add(d).Unix() / 3600 }
		return b.sum(zeroHeld, func(c *refCharge) bool { return hour(c.at) == hour(at) })
	default:
		return b.sum(zeroHeld, func(*refCharge) bool { return true })
	}
}

func (b *refBudget) sum(zeroHeld bool, counts func(*refCharge) bool) (n int64) {
	for _, c := range b.log {
		if counts(c) && !(zeroHeld && c.open) {
			n += c.n
		}
	}
	return n
}

// bucketDeficit replays the log: refill up to the size, then the charge. A new
// size moves the level with it. Levels are in parts of 1/Every of a unit, which
// is exact, and histories are short enough for 64 bits.
func (b *refBudget) bucketDeficit(at time.Duration, zeroHeld bool) int64 {
	r := b.first.(limiter.TokenBucket)
	unit := int64(r.Every)
	level, last := r.Size*unit, time.Duration(0)
	refill := func(to time.Duration) {
		level = min(r.Size*unit, level+int64(to-last)*r.Refill)
		last = to
	}
	for _, c := range b.log {
		if zeroHeld && c.open {
			continue
		}
		refill(c.at)
		level -= c.n * unit
		if c.rule != nil {
			newer := c.rule.(limiter.TokenBucket)
			level += (newer.Size - r.Size) * unit
			r = newer
		}
	}
	refill(at)
	return (r.Size*unit - level + unit - 1) / unit
}

// windowLeaves is when what was taken at an instant stops counting.
func windowLeaves(r limiter.SlidingWindow, at time.Duration) time.Duration {
	if r.Grain > 0 {
		at = (at/r.Grain + 1) * r.Grain
	}
	return at + r.Window
}

// fits reports whether n could be taken at an instant.
func (b *refBudget) fits(at time.Duration, n int64, zeroHeld bool) bool {
	return n == 0 || b.counted(at, zeroHeld) <= b.rule.Capacity()-n
}

func (b *refBudget) charge(at time.Duration, n int64, open, inc bool) *refCharge {
	c := &refCharge{at: at, n: n, open: open, inc: inc}
	if n > 0 {
		b.log = append(b.log, c)
	}
	return c
}

// resize gives the budget a new rule of the same kind and stretch of time.
func (b *refBudget) resize(at time.Duration, rule limiter.Rule) {
	b.rule = rule
	b.log = append(b.log, &refCharge{at: at, rule: rule})
}

// settle corrects a charge where it stands, the overrun where the clock is.
func (b *refBudget) settle(at time.Duration, c *refCharge, actual int64) {
	over := actual - c.n
	c.n, c.open = min(actual, c.n), false
	if over > 0 {
		b.charge(at, over, false, true)
	}
}

// overBound returns by how much the log breaks the promise of its rule over
// any stretch of time: what was admitted in it is at most the capacity (plus
// refill) and what was counted without asking. 0 or less is kept. Under one
// rule only.
func (b *refBudget) overBound() int64 {
	worst := int64(-1)
	for _, c := range b.log {
		if c.rule != nil {
			return worst
		}
	}
	for i, from := range b.log {
		admitted, allowed := int64(0), b.rule.Capacity()
		for _, c := range b.log[i:] {
			switch r := b.rule.(type) {
			case limiter.SlidingWindow:
				if c.at-from.at >= r.Window {
					continue
				}
			case limiter.CalendarQuota:
				if b.start.Add(c.at).Unix()/3600 != b.start.Add(from.at).Unix()/3600 {
					continue
				}
			}
			if c.inc {
				allowed += c.n
			} else {
				admitted += c.n
			}
			refilled := int64(0)
			if r, ok := b.rule.(limiter.TokenBucket); ok {
				refilled = int64(c.at-from.at) * r.Refill / int64(r.Every)
			}
			worst = max(worst, admitted-allowed-refilled)
		}
	}
	return worst
}
