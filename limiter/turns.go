package limiter

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// turn is a draw that waits for a budget. A running call whose answer grows
// must not starve behind callers who have not begun, so whatever is admitted
// meanwhile leaves room for the draws that wait, and a draw for those before
// it.
//
// Which is before which is one order for all budgets: if each had its own, two
// draws on the same two could leave room for each other for ever.
type turn struct {
	of    *Reservation
	place uint64
	n     int64
	until int64 // when it lapses, on the monotonic clock
}

// turnGrace is how long a draw that was refused may come back late: after that
// its turn lapses, so that a caller who never does cannot keep others waiting.
const turnGrace = time.Second

// keepTurn notes that a draw waits, in its place.
func (m *more) keepTurn(of *Reservation, n int64) {
	m.giveUpTurn(of)
	at, _ := slices.BinarySearchFunc(m.turns, of.place, func(t turn, place uint64) int { return cmp.Compare(t.place, place) })
	m.turns = slices.Insert(m.turns, at, turn{of, of.place, n, of.until})
}

func (m *more) giveUpTurn(of *Reservation) {
	m.turns = slices.DeleteFunc(m.turns, func(t turn) bool { return t.of == of })
}

func (m *more) dropLapsed(now int64) {
	m.turns = slices.DeleteFunc(m.turns, func(t turn) bool { return t.until <= now })
}

// dropTurnsAbove drops those that a newer rule will never let pass.
func (m *more) dropTurnsAbove(capacity int64) {
	m.turns = slices.DeleteFunc(m.turns, func(t turn) bool { return t.n > capacity })
}

// turnsBefore returns the turns that come before a draw of a reservation, and
// all for a nil one, a call that begins, and for a draw that has no place yet.
func (b *Budget) turnsBefore(by *Reservation) []turn {
	if b.more == nil {
		return nil
	}
	if by != nil && by.place != 0 {
		for i, t := range b.more.turns {
			if t.place >= by.place {
				return b.more.turns[:i]
			}
		}
	}
	return b.more.turns
}

// wait returns the time until n, no more than the capacity, fits beside the
// draws that wait, if nothing else happens; 0 if it does now.
//
// Both what counts and the turns only ever get less by themselves, so n fits
// from some instant on: the earliest at which it fits beside those turns that
// have not lapsed by then.
func (b *Budget) wait(n int64, by *Reservation, now int64) time.Duration {
	c, before := b.counter(), b.turnsBefore(by)
	if len(before) == 0 {
		return c.wait(n)
	}
	before = slices.Clone(before)
	slices.SortFunc(before, func(a, b turn) int { return cmp.Compare(a.until, b.until) })
	ahead := sum(before)
	if ahead <= b.terms.Load().capacity-n && c.wait(ahead+n) == 0 {
		return 0
	}
	best := Never
	for lapsed := now; ; {
		if capacity := b.terms.Load().capacity; ahead <= capacity-n {
			best = min(best, max(time.Duration(lapsed-now), c.wait(ahead+n)))
		}
		if len(before) == 0 {
			return best
		}
		lapsed = before[0].until
		before = before[1:]
		ahead = sum(before)
	}
}

// beside returns what of an amount is there to be taken beside the draws that
// wait, at least 0.
func (b *Budget) beside(n int64) int64 {
	if n > 0 && b.more != nil && len(b.more.turns) > 0 {
		n -= min(n, sum(b.more.turns))
	}
	return max(0, n)
}

// sum adds up what draws wait for, at most the largest int64.
func sum(turns []turn) int64 {
	n := int64(0)
	for _, t := range turns {
		n = addSaturated(n, t.n)
	}
	return n
}

// lapses is when a turn that was promised an instant lapses.
func lapses(now int64, wait time.Duration) int64 {
	if int64(wait) > math.MaxInt64-int64(turnGrace)-now {
		return math.MaxInt64
	}
	return now + int64(wait) + int64(turnGrace)
}
