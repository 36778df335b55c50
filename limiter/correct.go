package limiter

import (
	"sort"
	"time"
)

// Correct changes what was used at some time by an amount that became known
// later, after its reservation was settled:
//
//   - A [SlidingWindow] where it counts what was taken then, if that has not
//     left it. What is given back comes off the grain of that time and those
//     after it, as an overrun counts when it was settled; then off the oldest.
//   - A [CalendarQuota] if that time falls into the period that goes on now.
//   - A [Total] always.
//
// None goes below nothing used, or above what fits in 64 bits, and what is held
// stays held. A [TokenBucket] stays as it is: what a change of the past is worth
// now hangs on when it was full since, which [Memory.Recount] has to be told. An
// [AtOnce] has no past.
//
// A time in the future counts as now, as for [Memory.Restore]. An error is
// misuse and changes nothing: a handle that is nil, zero or another limiter's.
func (m *Memory) Correct(b *Budget, at time.Time, delta int64) error {
	if err := m.checkOwn(b); err != nil {
		return err
	}
	now := m.now(true)
	b = b.lockLive()
	defer b.mu.Unlock()
	b.enter(now)
	then := now.before(time.Unix(0, now.wall).Sub(at))
	switch c := b.counter().(type) {
	case *window:
		c.correct(then.ns, delta)
	case *calendar:
		if c.current(then.wall) {
			c.tally.correct(delta)
		}
	case *total:
		c.correct(delta)
	}
	return nil
}

// correct changes what was used at an instant, unless it has left.
func (w *window) correct(at, delta int64) {
	end := w.rule.grainEnd(at)
	if addSaturated(end, int64(w.rule.Window)) <= w.now {
		return
	}
	if delta > 0 {
		if n := min(delta, w.room()); n > 0 {
			w.entryAt(end).n += n
			w.used += n
		}
		return
	}
	first := w.search(end)
	for i := range w.n {
		e := w.at((first + i) % w.n)
		off := min(e.n-e.held, -max(delta, -mostCounted))
		e.n -= off
		w.used -= off
		delta += off
	}
	w.trim()
}

// search returns which entry is the first that ends at an instant or later.
func (w *window) search(end int64) int {
	return sort.Search(w.n, func(i int) bool { return w.at(i).end >= end })
}

// entryAt returns the entry of the grain that ends then, and makes it if need
// be. Where there is no place between two, the younger one serves.
func (w *window) entryAt(end int64) *entry {
	if w.n == len(w.ring) {
		w.grow()
	}
	i := w.search(end)
	if i == w.n {
		return w.append(end)
	}
	e, before := w.at(i), w.gone
	if i > 0 {
		before = w.at(i - 1).place
	}
	if e.end == end || e.place-before < 2 {
		return e
	}
	made := entry{end: end, place: before + (e.place-before)/2}
	w.n++
	for j := w.n - 1; j > i; j-- {
		*w.at(j) = *w.at(j - 1)
	}
	*w.at(i) = made
	return w.at(i)
}
