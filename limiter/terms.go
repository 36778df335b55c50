package limiter

import (
	"fmt"
	"math"
	"reflect"
	"time"
)

// terms is a rule made ready for use. Budgets under the same rule may share it;
// nothing in it changes but the pace.
type terms struct {
	memory     *Memory  // nil for budgets of another limiter
	foreign    *foreign // then this
	family     *Family  // nil for a budget from configuration
	rule       Rule
	generation int64
	pinned     bool // set for this name alone: what would be made anew would differ
	capacity   int64
	wall       bool  // the counter needs the wall clock
	pace       *pace // of an AtOnce

	// For a TokenBucket. A part is what comes back in 1/refill of a
	// nanosecond; every parts are one unit.
	startsEmpty   bool
	refill, every int64
	size          wide // capacity in parts
	lane          laneTerms
}

// newTerms makes a rule ready. It panics on rules that are not valid: they
// come from configuration, which is checked before it gets here.
func newTerms(m *Memory, name string, rule Rule) *terms {
	if err := check(rule); err != nil {
		panic(fmt.Sprintf("BUG: limiter: budget %q: %v", name, err))
	}
	t := &terms{memory: m, rule: rule, generation: 1, capacity: rule.Capacity()}
	switch r := rule.(type) {
	case CalendarQuota:
		t.wall = true
	case AtOnce:
		t.pace = new(pace)
	case TokenBucket:
		t.startsEmpty = r.StartEmpty
		t.refill, t.every = r.Refill, int64(r.Every)
		t.size = product(r.Size, t.every)
		t.lane = newLaneTerms(r)
	}
	return t
}

// check is Validate for a rule of any kind, and refuses all but the package's
// own kinds by value.
func check(rule Rule) error {
	switch rule.(type) {
	case TokenBucket, SlidingWindow, CalendarQuota, Total, AtOnce:
		return rule.Validate()
	}
	return fmt.Errorf("rule is a %T, not one of the package's rules by value", rule)
}

// revised returns the terms of a newer rule of the same budget. They have no
// fast lane, see lane.go.
func (t *terms) revised(name string, rule Rule, generation int64) *terms {
	newer := newTerms(t.memory, name, rule)
	newer.family, newer.generation, newer.pinned = t.family, generation, t.pinned
	newer.lane = laneTerms{}
	if t.pace != nil && newer.pace != nil {
		newer.pace = t.pace
	}
	return newer
}

// supersededBy reports whether a rule is newer than the one in force, and what
// generation it is of: the one it names, or else the next if it differs.
func (t *terms) supersededBy(name string, rule Rule) (Rule, int64, bool) {
	rule, generation := unrevised(name, rule)
	if generation == 0 {
		return rule, t.generation + 1, !sameRule(rule, t.rule)
	}
	return rule, generation, generation > t.generation
}

// sameRule reports whether two rules say the same. A zone that is loaded twice
// is the same, though its pointer is not.
func sameRule(a, b Rule) bool {
	x, calendar := a.(CalendarQuota)
	y, both := b.(CalendarQuota)
	if !calendar || !both || x.zone().String() != y.zone().String() {
		return a == b
	}
	_, east := time.Unix(0, 0).In(x.zone()).Zone()
	_, west := time.Unix(0, 0).In(y.zone()).Zone()
	return x.Limit == y.Limit && x.Period == y.Period && east == west
}

// sameKind reports whether a counter can go on under another rule.
func (t *terms) sameKind(other *terms) bool {
	return reflect.TypeOf(t.rule) == reflect.TypeOf(other.rule)
}

// unrevised splits a rule from its generation, 0 if it has none. It panics on
// revisions that are not valid, as newTerms does on rules.
func unrevised(name string, rule Rule) (Rule, int64) {
	r, ok := rule.(Revision)
	if !ok {
		return rule, 0
	}
	if err := r.Validate(); err != nil {
		panic(fmt.Sprintf("BUG: limiter: budget %q: %v", name, err))
	}
	return r.Rule, r.Generation
}

// laneTerms is a TokenBucket in numbers small enough for a single word, for
// the fast lane. The zero value means that there is no lane.
type laneTerms struct {
	refill, every int64 // reduced by their greatest common divisor
	size          int64 // capacity in such parts
	divisor       int64
	until         int64 // the lane is good for instants before this one
}

func newLaneTerms(r TokenBucket) laneTerms {
	d := divisor(r.Refill, int64(r.Every))
	l := laneTerms{refill: r.Refill / d, every: int64(r.Every) / d, divisor: d}
	const most = math.MaxInt64 / 4
	if l.every > most/r.Size {
		return laneTerms{}
	}
	l.size = r.Size * l.every
	l.until = (math.MaxInt64 - 2*l.size) / l.refill
	if l.until < int64(24*365*time.Hour) {
		return laneTerms{} // not worth it for so short a time
	}
	return l
}

// divisor returns the greatest common divisor of two positive numbers.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
