package limiter

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"
)

// Spend is consumption that an earlier process has counted.
type Spend struct {
	At time.Time // by the wall clock
	N  int64     // at least 0; 0 changes nothing
}

// Restore charges a budget with what earlier processes have spent, as a ledger
// has it, before anybody charges it in this one. From then on it answers as if
// it had been there all along, each spend counted at its own time by Inc:
//
//   - A [TokenBucket] has got back what refill has given since, and may be in
//     debt. One that starts empty did so at the first spend; without spends it
//     stays as it is.
//   - A [SlidingWindow] counts what has not left it yet. Its grains are those
//     of this limiter, so entries leave late by at most a Grain, never early.
//   - A [CalendarQuota] counts the spends of the period that goes on now, each
//     being of the period its own time falls in.
//   - A [Total] counts all.
//   - An [AtOnce] counts none: no call of an earlier process runs any more.
//
// So the spends need not go back further than to where a window or period
// begins, or a bucket was last full. They may come in any order, and take the
// least time in that of theirs.
//
// How long ago they were is told by the wall clock as it is now. Those in its
// future, as there are when it was set back, count as of now. A sum that does
// not fit in 64 bits is cut off there, as by [Reservation.Settle].
//
// Other calls on the budget see all of it or nothing. An error is misuse and
// changes nothing: a handle that is nil, zero or another limiter's, a negative
// amount, or a budget in use. It is in use while any of what was charged to it
// counts, or a reservation that charged it is open; and a bucket that starts
// empty from its first charge on, until it is full.
func (m *Memory) Restore(b *Budget, spends []Spend) error {
	if err := m.checkOwn(b); err != nil {
		return err
	}
	now := m.now(true)
	past, err := now.past(spends)
	if err != nil {
		return misusef("restore budget %q: %v", b.name, err)
	}
	b = b.lockLive()
	defer b.mu.Unlock()
	b.enter(now)
	if !b.idle() || b.lane.Load() != laneNew && !b.counter().fresh() {
		return misusef("restore budget %q: it is in use; restore budgets before anybody charges them", b.name)
	}
	if len(past) > 0 {
		b.replay(past, now)
	}
	return nil
}

// past returns spends at monotonic instants, in their order.
func (now instant) past(spends []Spend) ([]spent, error) {
	clock, past := time.Unix(0, now.wall), make([]spent, 0, len(spends))
	for i, s := range spends {
		switch {
		case s.N < 0:
			return nil, fmt.Errorf("spend %d is of %d; amounts must not be negative", i, s.N)
		case s.N > 0:
			past = append(past, spent{now.before(clock.Sub(s.At)).ns, s.N})
		}
	}
	slices.SortFunc(past, func(a, b spent) int { return cmp.Compare(a.at, b.at) })
	return past, nil
}

func (m *Memory) checkOwn(b *Budget) error {
	switch t := b.termsOrNil(); {
	case t == nil:
		return errNoHandle
	case t.memory != m:
		return errAnothers(b)
	}
	return nil
}

// spent is a Spend at a monotonic instant, which is most often before the
// limiter's base and thus negative.
type spent struct{ at, n int64 }

// farthest is as long as any window and grain together, and short enough for
// the time from then to now to fit in 64 bits. What is older counts as of then.
const farthest = 2 * longest

// before returns the instant so long ago, the present one for a negative age.
func (now instant) before(age time.Duration) instant {
	ns := int64(min(max(0, age), farthest))
	return instant{ns: now.ns - ns, wall: now.wall - ns}
}

// replay has a budget that is not in use live through spends in the order of
// time. It is locked and was brought to the present.
func (b *Budget) replay(past []spent, now instant) {
	c, ahead := b.counter(), now.wall-now.ns
	switch c := c.(type) {
	case *bucket:
		now.ns = c.now // or later: others may have looked at it since
		c.now, c.deficit = past[0].at, wide{}
		if t := b.terms.Load(); t.startsEmpty {
			c.deficit = t.size
		}
	case *window:
		now.ns = c.now
		c.now = past[0].at
	case *calendar:
		past = past[sort.Search(len(past), func(i int) bool { return c.current(past[i].at + ahead) }):]
	case *atOnce:
		return
	}
	for _, s := range past {
		c.advance(instant{ns: s.at, wall: s.at + ahead})
		if n := min(s.n, c.room()); n > 0 {
			c.spend(n)
		}
	}
	c.advance(now)
}
