package limiter

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Memory is a Limiter that keeps its budgets in this process. Its calls never
// block on anything but short locks, so they do not look at their contexts,
// and no decision is made on a half-taken charge: all budgets of a call are
// locked together, in the order of their creation.
//
// Budgets are never dropped: their names must come from configuration, not
// from the network.
type Memory struct {
	base time.Time // instants are nanoseconds since base, on the monotonic clock
	open atomic.Int64

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
	switch rule.(type) {
	case TokenBucket, SlidingWindow, CalendarQuota, Total:
	default:
		panic(fmt.Sprintf("BUG: limiter: budget %q: rule is a %T, not one of the package's rules by value", name, rule))
	}
	if err := rule.Validate(); err != nil {
		panic(fmt.Sprintf("BUG: limiter: budget %q: %v", name, err))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.budgets[name]
	if b == nil {
		b = &Budget{name: name, id: len(m.budgets), owner: m}
		b.setRule(rule, m.now(true))
		m.budgets[name] = b
		return b
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rule != rule {
		b.setRule(rule, m.now(true))
	}
	return b
}

// Reserve takes every charge or none. It allocates the reservation and nothing
// else for up to four charges.
func (m *Memory) Reserve(_ context.Context, charges []Charge) (*Reservation, Decision, error) {
	var buf [8]int
	order, err := m.lockOrder(charges, buf[:0])
	if err != nil {
		return nil, Decision{Refused: -1}, err
	}
	m.lock(charges, order)
	defer unlock(charges, order)
	d, err := decide(charges)
	if err != nil || !d.OK {
		return nil, d, err
	}
	r := newReservation(m, charges, order)
	fillStates(charges, false)
	return r, d, nil
}

// TryAcquire takes every charge or none, for good, and allocates nothing for
// up to eight charges.
func (m *Memory) TryAcquire(_ context.Context, charges []Charge) (Decision, error) {
	var buf [8]int
	order, err := m.lockOrder(charges, buf[:0])
	if err != nil {
		return Decision{Refused: -1}, err
	}
	m.lock(charges, order)
	defer unlock(charges, order)
	d, err := decide(charges)
	if err != nil || !d.OK {
		return d, err
	}
	spend(charges)
	return d, nil
}

// Peek answers as Reserve would and changes nothing.
func (m *Memory) Peek(_ context.Context, charges []Charge) (Decision, error) {
	var buf [8]int
	order, err := m.lockOrder(charges, buf[:0])
	if err != nil {
		return Decision{Refused: -1}, err
	}
	m.lock(charges, order)
	defer unlock(charges, order)
	d, err := decide(charges)
	if err == nil && d.OK {
		fillStates(charges, false)
	}
	return d, err
}

// Inc counts every charge without asking, or returns an error and counts none.
func (m *Memory) Inc(_ context.Context, charges []Charge) error {
	var buf [8]int
	order, err := m.lockOrder(charges, buf[:0])
	if err != nil {
		return err
	}
	m.lock(charges, order)
	defer unlock(charges, order)
	for i := range charges {
		if err := checkRoom(&charges[i]); err != nil {
			return err
		}
	}
	spend(charges)
	return nil
}

// Open returns the number of reservations neither settled nor cancelled yet.
func (m *Memory) Open() int { return int(m.open.Load()) }

// now reads the clock; the wall clock, which costs twice as much, only if asked.
func (m *Memory) now(wall bool) instant {
	if !wall {
		return instant{ns: int64(time.Since(m.base))}
	}
	t := time.Now()
	return instant{ns: int64(t.Sub(m.base)), wall: t.UnixNano()}
}

// lockOrder checks the charges and appends their indices to order, sorted by
// budget id: the one order in which budgets are ever locked.
func (m *Memory) lockOrder(charges []Charge, order []int) ([]int, error) {
	for i := range charges {
		c := &charges[i]
		switch {
		case c.Budget == nil:
			return nil, fmt.Errorf("limiter: charge %d has no budget", i)
		case c.Budget.owner != m:
			return nil, fmt.Errorf("limiter: budget %q belongs to another limiter; get the handle from this one", c.Budget.name)
		case c.N < 0:
			return nil, fmt.Errorf("limiter: charge of %d to budget %q; amounts must not be negative", c.N, c.Budget.name)
		}
		order = append(order, i)
		for j := i; j > 0; j-- {
			before := charges[order[j-1]].Budget
			if before == c.Budget {
				return nil, fmt.Errorf("limiter: budget %q charged twice in one call; add the amounts up", before.name)
			}
			if before.id < c.Budget.id {
				break
			}
			order[j-1], order[j] = order[j], order[j-1]
		}
	}
	return order, nil
}

// lock locks the budgets and then brings them to the present. The clock is
// read under the locks, so no budget has seen a later instant.
func (m *Memory) lock(charges []Charge, order []int) {
	wall := false
	for _, i := range order {
		b := charges[i].Budget
		b.mu.Lock()
		wall = wall || b.wall
	}
	now := m.now(wall)
	for i := range charges {
		charges[i].Budget.counter.advance(now)
	}
}

func unlock(charges []Charge, order []int) {
	for _, i := range order {
		charges[i].Budget.mu.Unlock()
	}
}
