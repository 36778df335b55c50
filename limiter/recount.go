package limiter

import (
	"math"
	"sort"
	"time"
)

// Mark is a moment in the life of a token bucket, for [Memory.Recount].
type Mark struct{ returned wide }

// Mark notes the moment before the past of a budget is read from a ledger. An
// error is misuse: a handle that is nil, zero or another limiter's.
func (m *Memory) Mark(b *Budget) (Mark, error) {
	if err := m.checkOwn(b); err != nil {
		return Mark{}, err
	}
	b = b.lockLive()
	defer b.mu.Unlock()
	if b.more == nil {
		return Mark{}, nil
	}
	return Mark{b.more.returned}, nil
}

// Recount changes a [TokenBucket] as its past has changed. was is what a ledger
// says was charged to it, with what is reserved by calls that run, and is the
// same after some of it was corrected. Both reach back as far as for
// [Memory.Restore], and were read after since. early is the latter again, with
// what is dated roughly at the earliest instants it may have been of; nil: all
// of it is exact.
//
// What a change is worth now is the difference between two buckets that have
// lived through the one and the other: what refill has replaced already is not
// given back, and what it would have paid off is not owed. The same holds for
// what open reservations give back when they are settled. The bucket is
// otherwise as exact as it was, also for what the ledger has not got yet; only
// what was given back after since may make it give less, never more.
//
// Budgets of other kinds stay as they are. An error is misuse and changes
// nothing: a handle that is nil, zero or another limiter's, or a negative amount.
func (m *Memory) Recount(b *Budget, since Mark, was, is, early []Spend) error {
	if err := m.checkOwn(b); err != nil {
		return err
	}
	for {
		now, t := m.now(true), b.terms.Load()
		if _, ok := t.rule.(TokenBucket); !ok {
			return nil
		}
		before, err := now.past(was)
		if err != nil {
			return misusef("recount budget %q: before: %v", b.name, err)
		}
		after, err := now.past(is)
		if err != nil {
			return misusef("recount budget %q: after: %v", b.name, err)
		}
		earliest := after
		if early != nil {
			if earliest, err = now.past(early); err != nil {
				return misusef("recount budget %q: early: %v", b.name, err)
			}
		}
		// They may be long, so nobody waits for this.
		changed := firstDifference(before, after)
		if changed == never {
			return nil
		}
		first := min(firstOf(before), firstOf(after))
		r := recount{
			old: t.course(before, first), fresh: t.course(after, first), least: t.course(earliest, firstOf(earliest)),
			changed: changed, since: since,
		}
		live := b.lockLive()
		if live.terms.Load() == t {
			live.enter(m.now(true))
			r.change((*bucket)(live))
			live.mu.Unlock()
			return nil
		}
		live.mu.Unlock() // a new rule came in between
		b = live
	}
}

// never is later than anything that was spent.
const never = math.MaxInt64

// firstOf is when the first of them was spent.
func firstOf(past []spent) int64 {
	if len(past) == 0 {
		return never
	}
	return past[0].at
}

// firstDifference is the first instant of which two pasts tell different spends.
func firstDifference(a, b []spent) int64 {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return min(firstOf(a), firstOf(b))
}

// course is what the deficit of a bucket was in the course of time.
type course struct {
	at      []int64 // of each spend
	lowest  []wide  // just before each spend or a later one
	now     int64   // of the last spend
	deficit wide    // after it
	refill  int64
}

// course works out what spends, in the order of time, come to. A bucket that
// starts empty did so at an instant.
func (t *terms) course(past []spent, first int64) *course {
	c := &course{at: make([]int64, len(past)), lowest: make([]wide, len(past)), now: first, refill: t.refill}
	if t.startsEmpty {
		c.deficit = t.size
	}
	for i, s := range past {
		c.deficit = c.later(s.at)
		c.at[i], c.lowest[i], c.now = s.at, c.deficit, s.at
		c.deficit = c.deficit.plus(product(min(s.n, mostCounted-c.deficit.ceilDiv(t.every)), t.every))
	}
	for i := len(past) - 2; i >= 0; i-- {
		c.lowest[i] = least(c.lowest[i], c.lowest[i+1])
	}
	return c
}

// later is the deficit at an instant after the last spend.
func (c *course) later(now int64) wide {
	return c.deficit.minus(product(max(0, now-c.now), c.refill))
}

// since is the smallest deficit from an instant until now.
func (c *course) since(at, now int64) wide {
	low := c.later(now)
	if i := sort.Search(len(c.at), func(i int) bool { return c.at[i] > at }); i < len(c.at) {
		low = least(low, c.lowest[i])
	}
	return low
}

// aside is how far a ledger's date of a spend may be from the instant of the
// hold that it was: ids that are made at the same time are dated one after
// another.
const aside = int64(time.Millisecond)

// recount is what the courses say of a bucket.
type recount struct {
	old, fresh, least *course
	changed           int64 // since when the first two differ
	since             Mark
}

// change changes the deficit, and what holds remember of it.
func (r *recount) change(b *bucket) {
	if b.more != nil {
		b.more.holds.observe(b.deficit)
	}
	was, is := r.old.later(b.now), r.fresh.later(b.now)
	switch {
	case was.less(is):
		if b.lane.Load() == laneNew {
			b.lane.Store(laneClosed)
		}
		b.deficit = b.deficit.plus(least(is.minus(was), product(max(0, b.room()), b.terms.Load().every)))
	case is.less(was):
		b.deficit = b.deficit.minus(r.back(b, was.minus(is)))
	}
	if b.more == nil {
		return
	}
	for h := b.more.holds.youngest; h != nil; h = h.older {
		at := int64(h.place) + aside
		h.least = h.least.plus(r.fresh.since(at, b.now)).minus(r.old.since(at, b.now))
		if h.younger != nil {
			h.least = least(h.least, h.younger.least)
		}
	}
	b.more.holds.stale = true
}

// back is how much of what the courses differ by is given back: no more than
// leaves what is certainly missing. What others have given back meanwhile, the
// courses may still count.
func (r *recount) back(b *bucket, n wide) wide {
	var returned wide
	if b.more != nil {
		returned = b.more.returned.minus(r.since.returned)
	}
	n = least(n, r.fresh.since(r.changed, b.now).plus(n).minus(returned))
	return least(n, b.deficit.minus(r.least.later(b.now).minus(returned)))
}
