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

// NewReservation returns a reservation of a limiter outside this package.
func NewReservation(b Backing) *Reservation { return &Reservation{backing: b} }

// foreign is a budget's link to a limiter outside this package.
type foreign struct {
	owner Limiter
	own   any
}

// NewBudget returns a handle of a limiter outside this package. The same name
// must be given the same handle. own is whatever that limiter wants to find
// again by [Budget.Own]. Like [Limiter.Budget] it panics on a rule that is not
// valid.
func NewBudget(owner Limiter, name string, rule Rule, own any) *Budget {
	rule, generation := unrevised(name, rule)
	t := newTerms(nil, name, rule)
	t.generation, t.foreign, t.lane = max(t.generation, generation), &foreign{owner, own}, laneTerms{}
	return new(Budget).init(name, 0, t, instant{})
}

// Revise gives a handle made by [NewBudget] a newer rule, as [Limiter.Budget]
// does when a name is known, and reports whether it was newer. It panics on a
// rule that is not valid and on handles of [Memory].
func (b *Budget) Revise(rule Rule) bool {
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

// Own returns what [NewBudget] was given, nil for budgets of [Memory].
func (b *Budget) Own() any {
	if f := b.terms.Load().foreign; f != nil {
		return f.own
	}
	return nil
}

// Owner returns the limiter that handed the budget out.
func (b *Budget) Owner() Limiter {
	t := b.terms.Load()
	if t.foreign != nil {
		return t.foreign.owner
	}
	return t.memory
}
