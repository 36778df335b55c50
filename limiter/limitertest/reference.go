package limitertest

import (
	"math/big"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// The reference keeps every charge for ever and works each answer out anew
// from the beginning, in exact integers. It is slow and has no cleverness to
// go wrong: what is settled is corrected in the log, where it stands, and all
// that follows from it follows by reading the log again.

// entry is one charge as the log has it. What an overrun adds is an entry of
// its own, at the instant it was settled.
type entry struct {
	at    time.Duration // since the limiter was made
	as    time.Duration // the instant whose calendar period it counts in: at, or when that period was changed
	n     int64         // what counts: reserved while held, then what was used
	by    *call         // not nil while it is held
	asked bool          // was admitted; else counted without asking
	left  bool          // had left the window, or its period was over, when the rule was changed
	rule  limiter.Rule  // not nil: no charge, but a new rule of the same kind from here on
}

// account answers for one budget at any instant from its log.
type account struct {
	name       string
	wall       time.Time    // the wall clock at instant 0
	rule       limiter.Rule // in force
	generation int64
	first      limiter.Rule // in force when the log begins
	empty      bool         // a bucket that began without its burst
	from       time.Duration
	log        []*entry
	unbroken   bool // one rule all the time

	// Where a window's grains begin and end is the limiter's affair; the
	// reference is told, see history.learn.
	phase   time.Duration
	learned bool
}

func newAccount(name string, rule limiter.Rule, at time.Duration, wall time.Time) *account {
	a := &account{name: name, wall: wall, generation: 1, from: at, unbroken: true}
	if r, ok := rule.(limiter.Revision); ok {
		rule, a.generation = r.Rule, r.Generation
	}
	a.rule, a.first = rule, rule
	if r, ok := rule.(limiter.TokenBucket); ok {
		a.empty = r.StartEmpty
	}
	return a
}

// counted returns what counts at an instant, rounded up to whole units. With
// noneHeld it leaves out what is held, as if settled at zero.
func (a *account) counted(at time.Duration, noneHeld bool) int64 {
	if _, ok := a.rule.(limiter.TokenBucket); ok {
		return a.deficit(at, noneHeld)
	}
	n := int64(0)
	for _, e := range a.log {
		if a.counts(e, at) && !(noneHeld && e.by != nil) {
			n += e.n
		}
	}
	return n
}

// held is the part of counted that is held. In a bucket, what time has given
// back is taken off what is not.
func (a *account) held(at time.Duration) int64 {
	n := int64(0)
	for _, e := range a.log {
		if e.by != nil && a.counts(e, at) {
			n += e.n
		}
	}
	return min(n, a.counted(at, false))
}

// open is how many reservations hold some of it, or held it before it left.
func (a *account) open() int {
	by := map[*call]bool{}
	for _, e := range a.log {
		if e.by != nil && e.n > 0 {
			by[e.by] = true
		}
	}
	return len(by)
}

// counts reports whether an entry still counts at an instant. In a bucket, all
// do: refill is another matter.
func (a *account) counts(e *entry, at time.Duration) bool {
	switch r := a.rule.(type) {
	case limiter.SlidingWindow:
		return !e.left && a.leaves(r, e.at) > at
	case limiter.CalendarQuota:
		return !e.left && a.period(r, e.as) == a.period(r, at)
	case limiter.AtOnce:
		return e.by != nil
	}
	return true
}

// leaves is when what was taken at an instant stops counting in a window: a
// window after the end of its grain.
func (a *account) leaves(r limiter.SlidingWindow, at time.Duration) time.Duration {
	if r.Grain > 0 {
		at += r.Grain - (at-a.phase+r.Grain)%r.Grain
	}
	return at + r.Window
}

// period names the calendar period an instant falls in. The zones of histories
// are whole hours off, and set their clocks at no midnight.
func (a *account) period(r limiter.CalendarQuota, at time.Duration) [3]int64 {
	t := a.wall.Add(at).UTC()
	if r.Zone != nil {
		t = t.In(r.Zone)
	}
	y, m, d := t.Date()
	switch r.Period {
	case limiter.Hour:
		return [3]int64{t.Unix() / 3600}
	case limiter.Day:
		return [3]int64{int64(y), int64(m), int64(d)}
	case limiter.Week:
		y, w := t.ISOWeek()
		return [3]int64{int64(y), int64(w)}
	case limiter.Month:
		return [3]int64{int64(y), int64(m)}
	}
	return [3]int64{int64(y), int64(m-1) / 3}
}

// deficit replays the log of a bucket: refill up to the size, then the charge.
// A new size moves the level with it. Levels are in parts of 1/Every of a
// unit, which is exact, and histories are short enough for 64 bits.
func (a *account) deficit(at time.Duration, noneHeld bool) int64 {
	r := a.first.(limiter.TokenBucket)
	unit, last := int64(r.Every), a.from
	level := r.Size * unit
	if a.empty {
		level = 0
	}
	refill := func(to time.Duration) {
		level = min(r.Size*unit, level+int64(to-last)*r.Refill)
		last = to
	}
	for _, e := range a.log {
		if noneHeld && e.by != nil {
			continue
		}
		refill(e.at)
		level -= e.n * unit
		if e.rule != nil {
			newer := e.rule.(limiter.TokenBucket)
			if level += (newer.Size - r.Size) * unit; newer.Every != r.Every {
				level = scaled(level, int64(newer.Every), unit)
			}
			r, unit = newer, int64(newer.Every)
		}
	}
	refill(at)
	return (r.Size*unit - level + unit - 1) / unit
}

// scaled returns n × to / from, rounded down. Histories only ever make Every a
// multiple of what it was, and nothing is rounded.
func scaled(n, to, from int64) int64 {
	product := new(big.Int).Mul(big.NewInt(n), big.NewInt(to))
	return product.Div(product, big.NewInt(from)).Int64()
}

// charge logs an amount.
func (a *account) charge(at time.Duration, n int64, by *call, asked bool) *entry {
	e := &entry{at: at, as: at, n: n, by: by, asked: asked}
	if _, ok := a.rule.(limiter.AtOnce); n > 0 && !(ok && by == nil) {
		a.log = append(a.log, e)
	}
	return e
}

// revise takes a rule if it is newer. Under another kind of rule the log
// begins anew with what counted until then, of which nothing can be given back.
func (a *account) revise(rule limiter.Rule, at time.Duration) {
	generation := a.generation + 1
	if r, ok := rule.(limiter.Revision); ok {
		rule, generation = r.Rule, r.Generation
		if generation <= a.generation {
			return
		}
	} else if rule == a.rule {
		return
	}
	if a.generation = generation; rule == a.rule {
		return
	}
	a.unbroken = false
	for _, e := range a.log { // what is gone does not come back, and what is not counts on
		e.left = !a.counts(e, at)
		if old, ok := a.rule.(limiter.CalendarQuota); ok && moved(old, rule) {
			e.as = at
		}
	}
	if kind(rule) == kind(a.rule) {
		a.log = append(a.log, &entry{at: at, rule: rule})
		a.rule = rule
		return
	}
	counted := a.counted(at, false)
	a.rule, a.first, a.from, a.empty, a.log, a.learned = rule, rule, at, false, nil, false
	a.charge(at, counted, nil, false)
}

func moved(old limiter.CalendarQuota, rule limiter.Rule) bool {
	r, ok := rule.(limiter.CalendarQuota)
	return ok && (r.Period != old.Period || r.Zone != old.Zone)
}

func kind(rule limiter.Rule) int {
	switch rule.(type) {
	case limiter.TokenBucket:
		return 1
	case limiter.SlidingWindow:
		return 2
	case limiter.CalendarQuota:
		return 3
	case limiter.Total:
		return 4
	}
	return 5
}

// overBound returns by how much the log breaks the promise of its rule over
// any stretch of time: what was admitted in it is at most the capacity (plus
// refill) and what was counted without asking. 0 or less is kept. It says
// nothing about a budget whose rule has changed.
//
// This is B6, and with it B3 and B4, for buckets; W2 for windows.
func (a *account) overBound() int64 {
	worst := int64(-1)
	if _, ok := a.rule.(limiter.AtOnce); ok || !a.unbroken {
		return worst
	}
	for i, from := range a.log {
		admitted, allowed := int64(0), a.rule.Capacity()
		for _, e := range a.log[i:] {
			refilled := int64(0)
			switch r := a.rule.(type) {
			case limiter.TokenBucket:
				refilled = int64(e.at-from.at) * r.Refill / int64(r.Every)
			case limiter.SlidingWindow:
				if e.at-from.at >= r.Window {
					continue
				}
			case limiter.CalendarQuota:
				if a.period(r, e.at) != a.period(r, from.at) {
					continue
				}
			}
			if e.asked {
				admitted += e.n
			} else {
				allowed += e.n
			}
			worst = max(worst, admitted-allowed-refilled)
		}
	}
	return worst
}
