package limiter

import (
	"context"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Family is budgets under one rule, one for each name that turns up: clients,
// addresses, whatever comes from the network. A budget is made when its name
// is first seen, once however many see it at the same time, and dropped when
// it is as good as a new one, which nobody can tell: no answer changes by it.
// Names that are in use are never dropped. Its methods may be called from any
// number of goroutines.
type Family struct {
	memory   *Memory
	terms    *terms
	most     int64
	names    atomic.Int64
	seed     maphash.Seed
	shards   []familyShard // as many as a power of two
	overflow *Budget
	crowded  atomic.Bool // overflow was handed out once
}

// FamilyOptions are the options of a family.
type FamilyOptions struct {
	// Rule of every name, unless it gets one of its own. It panics if it is
	// not valid.
	Rule Rule

	// Most is how many names there can be at once; 0 means 1,048,576. When all
	// are in use, newcomers share one budget until there is room again: no one
	// can make room by pushing others out, nor capacity by making names up.
	Most int
}

// familyShard is a part of a family's names, small enough to be looked through
// in well under a millisecond.
type familyShard struct {
	mu      sync.RWMutex // taken before any budget's lock
	budgets map[string]*Budget
	kept    int       // names that were left by the last sweep
	swept   time.Time // when that was
	_       [16]byte  // apart from the next one's lock
}

// namesPerShard is how many names a shard has when the family is full.
const namesPerShard = 256

// Family returns a new family of budgets of this limiter. They can be charged
// in one call with budgets of other families and with configured ones.
func (m *Memory) Family(o FamilyOptions) *Family {
	if o.Most <= 0 {
		o.Most = 1 << 20
	}
	f := &Family{memory: m, most: int64(o.Most), seed: maphash.MakeSeed()}
	f.terms = newTerms(m, "of a family", o.Rule)
	f.terms.family = f
	f.overflow = m.newBudget("(newcomers)", f.terms)
	shards := 1
	for shards*namesPerShard < o.Most {
		shards *= 2
	}
	f.shards = make([]familyShard, shards)
	for i := range f.shards {
		f.shards[i].budgets = make(map[string]*Budget)
	}
	return f
}

// Budget returns the budget of a name and makes it under the family's rule if
// the name is new. Look it up for every call: keeping the handle is allowed,
// but when the family was full it is the newcomers' common one.
//
// One call may charge only one name of a family, as two newcomers may have the
// same budget.
func (f *Family) Budget(name string) *Budget { return f.budget(name, f.terms) }

// BudgetUnder is Budget with a rule for a name that is new: the first one wins,
// until the name has been idle so long that it was dropped. It panics on a
// rule that is not valid.
func (f *Family) BudgetUnder(name string, rule Rule) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.budget(name, f.termsOf(name, rule))
}

// Set gives a name a rule of its own, whether it is new or not. What was
// consumed stays consumed. While that rule differs from the family's, the name
// stays, counts as one in use, and is there even if the family was full.
func (f *Family) Set(name string, rule Rule) *Budget {
	for {
		b := f.find(name)
		if b == nil {
			b = f.make(name, f.termsOf(name, rule), true)
		}
		b.mu.Lock()
		if b.lane.Load() == laneDead {
			b.mu.Unlock()
			continue
		}
		b.revise(rule)
		if t := b.terms.Load(); t.pinned != (t.rule != f.terms.rule) {
			pinned := t.revised(name, t.rule, t.generation)
			pinned.pinned = !t.pinned
			b.setTerms(pinned, f.memory.now(true))
		}
		b.mu.Unlock()
		return b
	}
}

// termsOf returns the family's own terms if the rule is its own.
func (f *Family) termsOf(name string, rule Rule) *terms {
	rule, _ = unrevised(name, rule)
	if rule == f.terms.rule {
		return f.terms
	}
	t := newTerms(f.memory, name, rule)
	t.family = f
	return t
}

// Len returns the number of names there are.
func (f *Family) Len() int { return int(f.names.Load()) }

func (f *Family) shard(name string) *familyShard {
	return &f.shards[maphash.String(f.seed, name)&uint64(len(f.shards)-1)]
}

func (f *Family) find(name string) *Budget {
	s := f.shard(name)
	s.mu.RLock()
	b := s.budgets[name]
	s.mu.RUnlock()
	return b
}

func (f *Family) budget(name string, t *terms) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.make(name, t, false)
}

// live returns the budget that has taken the place of one whose state was
// dropped, and makes it if need be. Others are their own.
func (b *Budget) live() *Budget {
	if b.lane.Load() != laneDead {
		return b
	}
	t := b.terms.Load()
	return t.family.budget(b.name, t)
}

// lockLive locks a budget, or the one that has taken its place.
func (b *Budget) lockLive() *Budget {
	for {
		b.mu.Lock()
		if b.lane.Load() != laneDead {
			return b
		}
		b.mu.Unlock()
		b = b.live()
	}
}

// make makes the budget of a name that was not there a moment ago.
func (f *Family) make(name string, t *terms, always bool) *Budget {
	s := f.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.budgets[name]; b != nil {
		return b
	}
	full := f.names.Load() >= f.most
	if len(s.budgets) >= 2*s.kept+16 || full && time.Since(s.swept) > time.Second {
		f.names.Add(-int64(s.sweep(f.memory)))
		full = f.names.Load() >= f.most
	}
	if full && !always {
		f.crowded.Store(true)
		return f.overflow
	}
	f.names.Add(1)
	name = strings.Clone(name) // it may be part of a whole request
	b := f.memory.newBudget(name, t)
	f.chargeNewcomer(b)
	s.budgets[name] = b
	return b
}

// chargeNewcomer makes a name begin with all that newcomers have consumed in
// common. Its own share of that is unknown, and must not be had twice.
func (f *Family) chargeNewcomer(b *Budget) {
	if !f.crowded.Load() {
		return
	}
	o := f.overflow
	o.mu.Lock()
	defer o.mu.Unlock()
	o.enter(f.memory.now(o.terms.Load().wall))
	used, held := o.counter().counted()
	own, _ := b.counter().counted() // not 0 in a bucket that starts empty
	if n := used + held - own; n > 0 {
		b.counter().spend(n)
	}
}

// Sweep drops the names that are as good as new and returns how many. It goes
// about it in slices, each holding up only a small part of the names, for well
// under a millisecond. Growth makes parts of it happen by themselves, so that
// there are never more than about twice as many names as needed; call Sweep,
// or Run, to have the memory back in quiet times too.
func (f *Family) Sweep() (dropped int) {
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.Lock()
		n := s.sweep(f.memory)
		f.names.Add(-int64(n))
		s.mu.Unlock()
		dropped += n
	}
	return dropped
}

// Run sweeps every so often until the context ends, and returns its error.
func (f *Family) Run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			f.Sweep()
		}
	}
}

// sweep is called with s.mu held.
func (s *familyShard) sweep(m *Memory) (dropped int) {
	now := m.now(true)
	for name, b := range s.budgets {
		if b.dropIfFresh(now) {
			delete(s.budgets, name)
			dropped++
		}
	}
	if dropped > 3*len(s.budgets) { // a map keeps the room it once needed
		s.budgets = maps.Clone(s.budgets)
	}
	s.kept, s.swept = len(s.budgets), time.Now()
	return dropped
}

// dropIfFresh marks a budget dead if it is as good as new. A budget that is
// locked is in use.
func (b *Budget) dropIfFresh(now instant) bool {
	if !b.mu.TryLock() {
		return false
	}
	defer b.mu.Unlock()
	open := b.lane.Load() >= 0
	b.enter(now)
	if b.fresh() {
		b.lane.Store(laneDead)
		return true
	}
	if open {
		b.openLane()
	}
	return false
}
