package limiter

import (
	"sync"
	"sync/atomic"
	"time"
)

// Budget is a handle on one counter: its name, its newest rule and its state.
// Get it once from [Limiter.Budget] and keep it; the same name gives the same
// pointer. Its methods may be called from any number of goroutines.
type Budget struct {
	name  string
	id    uint64                // place in the one order in which budgets are locked
	terms atomic.Pointer[terms] // changed with mu held
	lane  atomic.Int64          // see lane.go

	// The state of a token bucket, the commonest kind, is part of the handle:
	// with a million names, every allocation saved counts.
	mu      sync.Mutex // guards all below
	now     int64      // the last instant seen
	deficit wide       // capacity less level, in parts; above the capacity it is debt
	more    *more      // nil until there is something in it
}

// more is what an idle token bucket has no need of.
type more struct {
	counter  counter  // of any other kind of rule
	epoch    uint16   // counts the changes from one kind to another
	held     int64    // token bucket: sum of the open holds, whether or not refill has replaced them
	holds    holdList // token bucket
	returned wide     // token bucket: what holds have ever given back
	turns    []turn   // draws that wait, in their order
	open     int      // holds not yet settled, under whatever kind of rule: they may still spend
}

// counter is the state of one budget under one kind of rule. advance brings it
// to an instant, and the other methods speak of that instant; a monotonic
// instant before the last one seen leaves it where it is. Amounts are at least 1.
type counter interface {
	// setTerms takes a newer rule of the same kind.
	setTerms(*terms)
	advance(instant)
	// counted is what still counts: settled and held. Their sum is at most
	// mostCounted.
	counted() (used, held int64)
	// describe is counted with, besides, the number of holds taken and not
	// settled and State.ResetAfter.
	describe() (used, held int64, open int, untilWhole time.Duration)
	// room is how much more can be counted within 64 bits.
	room() int64
	// wait is the time until n, no more than the capacity, fits if nothing
	// else happens. 0 if it fits now.
	wait(n int64) time.Duration
	// after is what will count when that much time has passed.
	after(d time.Duration) int64
	// fitsWithoutHeld reports whether n would fit now if every hold were
	// settled at zero.
	fitsWithoutHeld(n int64) bool
	// spend counts n for good.
	spend(n int64)
	// hold counts h.n until it is settled.
	hold(h *hold)
	// settle replaces a hold by what was used of it, at most h.n, where the
	// hold was charged.
	settle(h *hold, used int64)
	// fresh reports whether the counter is as good as new.
	fresh() bool
}

// instant is a point in time on both clocks.
type instant struct {
	ns   int64 // monotonic, since the limiter's base
	wall int64 // Unix nanoseconds; 0 unless a calendar needs it
}

// init makes b a budget under the given terms, as good as new.
func (b *Budget) init(name string, id uint64, t *terms, now instant) *Budget {
	b.name, b.id, b.now = name, id, now.ns
	b.terms.Store(t)
	b.lane.Store(laneClosed)
	if t.startsEmpty {
		b.deficit = t.size
		b.lane.Store(laneNew)
	}
	if c := newCounter(t, now); c != nil && t.memory != nil {
		b.more = &more{counter: c}
	}
	return b
}

// newCounter returns nil for a token bucket, whose state is part of Budget.
func newCounter(t *terms, now instant) counter {
	switch r := t.rule.(type) {
	case SlidingWindow:
		return &window{rule: r, now: now.ns}
	case CalendarQuota:
		return newCalendar(r, now.wall)
	case Total:
		return &total{rule: r}
	case AtOnce:
		return &atOnce{rule: r, now: now.ns, pace: t.pace}
	}
	return nil
}

// Name returns the name the budget was made under.
func (b *Budget) Name() string { return b.name }

// Rule returns the budget's newest rule, nil for a handle that no limiter made.
func (b *Budget) Rule() Rule {
	if t := b.terms.Load(); t != nil {
		return t.rule
	}
	return nil
}

// Generation returns the generation of that rule: 1 for the first, unless a
// [Revision] named another, and more for each that replaced it; 0 for a handle
// that no limiter made.
func (b *Budget) Generation() int64 {
	if t := b.terms.Load(); t != nil {
		return t.generation
	}
	return 0
}

// counter is called with b.mu held, as is all that follows.
func (b *Budget) counter() counter {
	if b.more != nil && b.more.counter != nil {
		return b.more.counter
	}
	return (*bucket)(b)
}

func (b *Budget) rest() *more {
	if b.more == nil {
		b.more = new(more)
	}
	return b.more
}

func (b *Budget) epoch() uint16 {
	if b.more == nil {
		return 0
	}
	return b.more.epoch
}

// enter brings the budget to the present.
func (b *Budget) enter(now instant) {
	if b.lane.Load() >= 0 {
		b.closeLane()
	}
	if b.more == nil || b.more.counter == nil {
		(*bucket)(b).advance(now)
	} else {
		b.more.counter.advance(now)
	}
	if b.more != nil && len(b.more.turns) > 0 {
		b.more.dropLapsed(now.ns)
	}
}

// setTerms gives the budget a newer rule. Under another kind of rule it starts
// a counter of that kind, charged with what counted until then.
func (b *Budget) setTerms(t *terms, now instant) {
	b.enter(now)
	if b.more != nil {
		b.more.dropTurnsAbove(t.capacity)
	}
	if t.sameKind(b.terms.Load()) {
		b.counter().setTerms(t)
		b.terms.Store(t)
		return
	}
	used, held := b.counter().counted()
	b.terms.Store(t)
	b.now, b.deficit = now.ns, wide{}
	b.lane.Store(laneClosed)
	old := b.rest()
	b.more = &more{counter: newCounter(t, now), epoch: old.epoch + 1, turns: old.turns, open: old.open}
	if used+held > 0 {
		b.counter().spend(used + held)
	}
}

// fresh reports whether the budget is as good as one that is made anew.
func (b *Budget) fresh() bool {
	t := b.terms.Load()
	return !t.pinned && !t.startsEmpty && b.idle() && b.counter().fresh()
}

// idle reports whether nobody holds any of the budget, or waits to draw from it.
func (b *Budget) idle() bool {
	return b.more == nil || len(b.more.turns) == 0 && b.more.open == 0
}
