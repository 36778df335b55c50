package limiter

import "context"

// Backing does the work of the reservations of a [Limiter] outside this
// package: a shared store, a fallback. Its methods are called with what the
// methods of [Reservation] were called with, from any goroutine, and must keep
// their promises: of Settle and Cancel the first call that succeeds wins.
type Backing interface {
	Draw(ctx context.Context, more []Charge) (Decision, error)
	Settle(ctx context.Context, actual []int64) error
	Cancel(ctx context.Context) error
}

// NewReservation returns a reservation of a limiter outside this package. It
// panics without a backing.
func NewReservation(b Backing) *Reservation {
	if b == nil {
		panic("BUG: limiter: NewReservation needs a Backing")
	}
	return &Reservation{backing: b}
}

// foreign is a budget's link to a limiter outside this package.
type foreign struct {
	owner Limiter
	own   any
}

// NewBudget returns a handle of a limiter outside this package. own is whatever
// that limiter wants to find again by [Budget.Own]. Like [Limiter.Budget] it
// panics on a rule that is not valid, and without an owner.
//
// [Limiter.Budget] must give the same name the same handle, and keep it. For
// names from the network a limiter whose counters are elsewhere need keep none:
// a handle is a name, a rule and own, and nothing is counted in it, so a new one
// for each call will do and is garbage after it. Two handles of a name are then
// told from each other by nobody but that limiter, which must refuse, as misuse,
// both in one call.
func NewBudget(owner Limiter, name string, rule Rule, own any) *Budget {
	if owner == nil {
		panic("BUG: limiter: NewBudget needs the limiter whose handle it is")
	}
	rule, generation := unrevised(name, rule)
	t := newTerms(nil, name, rule)
	t.generation, t.foreign, t.lane = max(t.generation, generation), &foreign{owner, own}, laneTerms{}
	return new(Budget).init(name, 0, t, instant{})
}

// Revise gives a handle made by [NewBudget] a newer rule, as [Limiter.Budget]
// does when a name is known, and reports whether it was newer. It panics on a
// rule that is not valid and on handles of [Memory].
func (b *Budget) Revise(rule Rule) bool {
	if b.termsOrNil() == nil {
		panic("BUG: limiter: " + string(errNoHandle))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.terms.Load()
	if t.foreign == nil {
		panic("BUG: limiter: budget \"" + b.name + "\" is revised through its limiter")
	}
	rule, generation, newer := t.supersededBy(b.name, rule)
	if newer {
		next := t.revised(b.name, rule, generation)
		next.foreign = t.foreign
		b.terms.Store(next)
	}
	return newer
}

// termsOrNil returns nil for a handle that is nil or zero.
func (b *Budget) termsOrNil() *terms {
	if b == nil {
		return nil
	}
	return b.terms.Load()
}

// Own returns what [NewBudget] was given, nil for budgets of [Memory].
func (b *Budget) Own() any {
	if t := b.termsOrNil(); t != nil && t.foreign != nil {
		return t.foreign.own
	}
	return nil
}

// Owner returns the limiter that handed the budget out, nil for a handle that is
// nil or zero.
func (b *Budget) Owner() Limiter {
	switch t := b.termsOrNil(); {
	case t == nil:
		return nil
	case t.foreign != nil:
		return t.foreign.owner
	default:
		return t.memory
	}
}
