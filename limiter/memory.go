package limiter

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Memory is a Limiter that keeps its budgets in this process. Its calls never
// block on anything but short locks, so they do not look at their contexts,
// and no decision is made on a half-taken charge: all budgets of a call are
// locked together, in the order of their creation.
//
// Budgets made by [Memory.Budget] are never dropped: their names must come from
// configuration. For names that come from the network there is [Memory.Family].
//
// The zero Memory has no clock: use [NewMemory].
type Memory struct {
	base   time.Time // instants are nanoseconds since base, on the monotonic clock
	ids    atomic.Uint64
	places atomic.Uint64 // counts the draws that had to wait
	open   register

	mu      sync.Mutex // taken before any budget's lock
	budgets map[string]*Budget
}

// NewMemory returns a limiter without budgets.
func NewMemory() *Memory {
	return &Memory{base: time.Now(), budgets: make(map[string]*Budget)}
}

// Budget returns the handle on the counter of that name and makes it if need
// be. A new rule takes effect at once: what was consumed and what is held stay
// so, and the budget is in debt if that is more than the new capacity.
//
// A rule of another kind under an old name starts a counter of that kind,
// charged with what counted until then. Reservations still open keep their
// whole amount charged there, and only what they overrun is added.
func (m *Memory) Budget(name string, rule Rule) *Budget {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.budgets[name]
	if b == nil {
		rule, generation := unrevised(name, rule)
		t := newTerms(m, name, rule)
		t.generation = max(t.generation, generation)
		b = m.newBudget(name, t)
		m.budgets[name] = b
		return b
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revise(rule)
	return b
}

func (m *Memory) newBudget(name string, t *terms) *Budget {
	if m.base.IsZero() {
		panic("BUG: limiter: a Memory that NewMemory did not make")
	}
	return new(Budget).init(name, m.ids.Add(1), t, m.now(t.wall))
}

// revise takes a rule if it is newer. It is called with b.mu held.
func (b *Budget) revise(rule Rule) {
	t := b.terms.Load()
	if rule, generation, newer := t.supersededBy(b.name, rule); newer {
		b.setTerms(t.revised(b.name, rule, generation), t.memory.now(true))
	}
}

// Reserve takes every charge or none. It allocates the reservation and nothing
// else for up to four charges.
func (m *Memory) Reserve(ctx context.Context, charges []Charge) (*Reservation, Decision, error) {
	var buf [usualCharges]int
	order, now, err := m.begin(charges, buf[:0])
	if err != nil {
		return nil, Decision{Refused: -1}, err
	}
	d, err := decide(charges, nil, now.ns)
	if err != nil || !d.OK {
		unlock(charges, order)
		return nil, d, err
	}
	r := m.reserve(charges, order, now, ownerOf(ctx))
	describe(charges)
	unlock(charges, order)
	m.open.add(r)
	return r, d, nil
}

// TryAcquire takes every charge or none, for good, and allocates nothing for
// up to eight charges.
func (m *Memory) TryAcquire(_ context.Context, charges []Charge) (Decision, error) {
	single := len(charges) == 1
	if single && charges[0].check(m, 0) == nil {
		if d, decided := charges[0].passLane(); decided {
			return d, nil
		}
	}
	var buf [usualCharges]int
	order, now, err := m.begin(charges, buf[:0])
	if err != nil {
		return Decision{Refused: -1}, err
	}
	d, err := decide(charges, nil, now.ns)
	if err == nil && d.OK {
		take(charges)
		if single {
			charges[0].Budget.openLane()
		}
	}
	unlock(charges, order)
	return d, err
}

// Peek answers as Reserve would and changes nothing.
func (m *Memory) Peek(_ context.Context, charges []Charge) (Decision, error) {
	var buf [usualCharges]int
	order, now, err := m.begin(charges, buf[:0])
	if err != nil {
		return Decision{Refused: -1}, err
	}
	d, err := decide(charges, nil, now.ns)
	if err == nil && d.OK {
		describe(charges)
	}
	unlock(charges, order)
	return d, err
}

// Inc counts every charge without asking, or returns an error and counts none.
func (m *Memory) Inc(_ context.Context, charges []Charge) error {
	var buf [usualCharges]int
	order, _, err := m.begin(charges, buf[:0])
	if err != nil {
		return err
	}
	defer unlock(charges, order)
	for i := range charges {
		if charges[i].N > charges[i].Budget.counter().room() {
			return charges[i].errNoRoom()
		}
	}
	take(charges)
	return nil
}

// now reads the clock; the wall clock, which costs twice as much, only if asked.
func (m *Memory) now(wall bool) instant {
	if !wall {
		return instant{ns: int64(time.Since(m.base))}
	}
	t := time.Now()
	return instant{ns: int64(t.Sub(m.base)), wall: t.UnixNano()}
}

// with returns now, or a newer instant if the budget needs the wall clock and
// now is without: its rule has just become a calendar's.
func (m *Memory) with(now instant, b *Budget) instant {
	if now.wall == 0 && b.terms.Load().wall {
		return m.now(true)
	}
	return now
}
