package limiter_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/limitertest"
)

func inMemory() limitertest.Harness {
	return limitertest.Harness{
		New:     func(testing.TB) limiter.Limiter { return limiter.NewMemory() },
		Advance: func(_ testing.TB, d time.Duration) { time.Sleep(d) },
		Tick:    time.Nanosecond,
		Within:  synctest.Test,
	}
}

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { limitertest.Run(t, inMemory()) })
	t.Run("family", func(t *testing.T) {
		h := inMemory()
		h.New = func(testing.TB) limiter.Limiter { return newRelatives() }
		h.Disturb = func(l limiter.Limiter) { l.(*relatives).family.Sweep() }
		limitertest.Run(t, h)
	})
}

func FuzzHistory(f *testing.F) { limitertest.Fuzz(f, inMemory()) }

// relatives is a Limiter whose budgets are of a family, and dropped by every
// sweep that finds them as good as new: it keeps the family's handles, dead or
// alive, behind handles of its own.
type relatives struct {
	memory *limiter.Memory
	family *limiter.Family

	mu      sync.Mutex
	handles map[string]*limiter.Budget
}

// relative is what a handle of relatives stands for.
type relative struct {
	mu     sync.Mutex
	budget *limiter.Budget
}

func newRelatives() *relatives {
	m := limiter.NewMemory()
	return &relatives{memory: m, family: m.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 7}}), handles: map[string]*limiter.Budget{}}
}

func (l *relatives) Budget(name string, rule limiter.Rule) *limiter.Budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.handles[name]
	if b == nil {
		own := new(relative)
		b = limiter.NewBudget(l, name, rule, own)
		own.budget = l.family.BudgetUnder(name, b.Rule())
		l.handles[name] = b
		return b
	}
	if b.Revise(rule) {
		own := b.Own().(*relative)
		own.mu.Lock()
		defer own.mu.Unlock()
		own.budget = l.family.Set(name, b.Rule())
	}
	return b
}

// relate has a call use the family's handles.
func (l *relatives) relate(charges []limiter.Charge, call func([]limiter.Charge) error) error {
	related := make([]limiter.Charge, len(charges))
	for i, c := range charges {
		related[i] = c
		if c.Budget != nil && c.Budget.Owner() == limiter.Limiter(l) {
			own := c.Budget.Own().(*relative)
			own.mu.Lock()
			related[i].Budget = own.budget
			own.mu.Unlock()
		}
	}
	err := call(related)
	for i := range charges {
		charges[i].State = related[i].State
	}
	return err
}

func (l *relatives) Reserve(ctx context.Context, charges []limiter.Charge) (r *limiter.Reservation, d limiter.Decision, err error) {
	err = l.relate(charges, func(charges []limiter.Charge) error {
		r, d, err = l.memory.Reserve(ctx, charges)
		return err
	})
	if r != nil {
		r = limiter.NewReservation(relatedCall{r, l})
	}
	return r, d, err
}

func (l *relatives) TryAcquire(ctx context.Context, charges []limiter.Charge) (d limiter.Decision, err error) {
	err = l.relate(charges, func(charges []limiter.Charge) error {
		d, err = l.memory.TryAcquire(ctx, charges)
		return err
	})
	return d, err
}

func (l *relatives) Peek(ctx context.Context, charges []limiter.Charge) (d limiter.Decision, err error) {
	err = l.relate(charges, func(charges []limiter.Charge) error {
		d, err = l.memory.Peek(ctx, charges)
		return err
	})
	return d, err
}

func (l *relatives) Inc(ctx context.Context, charges []limiter.Charge) error {
	return l.relate(charges, func(charges []limiter.Charge) error { return l.memory.Inc(ctx, charges) })
}

// relatedCall is the Backing of a reservation of relatives.
type relatedCall struct {
	*limiter.Reservation
	l *relatives
}

func (c relatedCall) Draw(ctx context.Context, more []limiter.Charge) (d limiter.Decision, err error) {
	err = c.l.relate(more, func(more []limiter.Charge) error {
		d, err = c.Reservation.Draw(ctx, more)
		return err
	})
	return d, err
}
