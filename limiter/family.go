package limiter

import (
	"hash/maphash"
	"sync/atomic"
)

// Family is budgets under one rule, one for each name that turns up: clients,
// addresses, whatever comes from the network. A budget is made when its name
// is first seen, once however many see it at the same time, and dropped when
// it is as good as a new one, which nobody can tell: no answer changes by it.
// Names that are in use are never dropped. Its methods may be called from any
// number of goroutines.
type Family struct {
	memory    *Memory
	terms     *terms
	most      int64
	names     atomic.Int64
	dropped   atomic.Int64
	seed      maphash.Seed
	directory directory
	newcomers *Budget      // see newcomers.go
	shared    atomic.Int64 // how often that was handed out
	pace      *pace        // of all its budgets of calls at once
}

// FamilyOptions are the options of a family.
type FamilyOptions struct {
	// Rule of every name, unless it gets one of its own. Family panics if it is
	// not valid. A TokenBucket that starts empty is never as good as new: names
	// under one are not dropped.
	Rule Rule

	// Most is how many names there can be at once; 0 means 1,048,576. When all
	// are in use, newcomers share one budget, under the family's rule, until
	// there is room again: no one can make room by pushing others out, nor
	// capacity by making names up. As any newcomer may have spent what counts
	// there, it counts for each that then gets a budget of its own.
	Most int
}

// Family returns a new family of budgets of this limiter. They can be charged
// in one call with budgets of other families and with configured ones.
func (m *Memory) Family(o FamilyOptions) *Family {
	if o.Most <= 0 {
		o.Most = 1 << 20
	}
	f := &Family{memory: m, most: int64(o.Most), seed: maphash.MakeSeed()}
	rule, _ := unrevised("(any name of a family)", o.Rule)
	f.terms = newTerms(m, "(any name of a family)", rule)
	f.terms.family = f
	if f.pace = f.terms.pace; f.pace == nil {
		f.pace = new(pace)
	}
	f.newcomers = m.newBudget("(newcomers)", f.terms)
	f.directory.init()
	return f
}

// Budget returns the budget of a name and makes it under the family's rule if
// the name is new. Look it up for every call: keeping the handle is allowed,
// but when the family was full it is the newcomers' common one, and stays that.
//
// One call may charge only one name of a family, as two newcomers may have the
// same budget.
func (f *Family) Budget(name string) *Budget { return f.budget(name, f.terms) }

// BudgetUnder is Budget with a rule for a name that is new: the first one wins,
// until the name has been idle so long that it was dropped. Newcomers to a full
// family share a budget under the family's rule, whatever theirs says. It
// panics on a rule that is not valid.
func (f *Family) BudgetUnder(name string, rule Rule) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.budget(name, f.termsOf(name, rule))
}

// Find returns the budget that a name has, without making it: to look at, as a
// name that has none gets nil if it would be given a new one, and the newcomers'
// common budget if it would be given that one, or what counts there.
func (f *Family) Find(name string) *Budget {
	b := f.find(name)
	if b == nil && (f.names.Load() >= f.most || f.sharing()) {
		return f.newcomers
	}
	return b
}

// Set gives a name a rule of its own, whether it is new or not. What was
// consumed stays consumed. Until [Family.Unset] the name stays and counts as one
// in use; it is there even if the family was full, so let names be set by
// configuration, not by the network. It panics on a rule that is
// not valid. A budget whose rule was changed, here or elsewhere, takes the lock
// for every call, see [Budget.TryAcquire].
func (f *Family) Set(name string, rule Rule) *Budget {
	for {
		b := f.find(name)
		if b == nil {
			b = f.make(name, f.termsOf(name, rule), true)
		}
		if b.pin(rule, true) {
			return b
		}
	}
}

// Unset gives a name that was Set the family's rule again, and lets it be
// dropped. What was consumed stays consumed. Other names it leaves alone.
func (f *Family) Unset(name string) {
	if b := f.find(name); b != nil && b.terms.Load().pinned {
		b.pin(f.terms.rule, false)
	}
}

// pin gives the budget a rule, to stay or not. It returns false if the budget
// was dropped.
func (b *Budget) pin(rule Rule, pinned bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lane.Load() == laneDead {
		return false
	}
	b.revise(rule)
	if t := b.terms.Load(); t.pinned != pinned {
		t = t.revised(b.name, t.rule, t.generation)
		t.pinned = pinned
		b.setTerms(t, t.memory.now(true))
	}
	return true
}

// termsOf returns the family's own terms if the rule is its own.
func (f *Family) termsOf(name string, rule Rule) *terms {
	rule, _ = unrevised(name, rule)
	if sameRule(rule, f.terms.rule) {
		return f.terms
	}
	t := newTerms(f.memory, name, rule)
	if t.family = f; t.pace != nil {
		t.pace = f.pace
	}
	return t
}

// Len returns the number of names there are.
func (f *Family) Len() int { return int(f.names.Load()) }

// Dropped returns how many names were ever dropped, by sweeps of either kind.
func (f *Family) Dropped() int64 { return f.dropped.Load() }

// Shared returns how often a name was given the newcomers' common budget: more
// than 0 means that the family was full, and should perhaps be larger.
func (f *Family) Shared() int64 { return f.shared.Load() }
