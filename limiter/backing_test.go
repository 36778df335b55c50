package limiter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
)

// distant is a Limiter whose counters are elsewhere, by name. It keeps no
// handles: every call makes its own.
type distant struct{ counters *limiter.Memory }

func (l distant) Budget(name string, rule limiter.Rule) *limiter.Budget {
	return limiter.NewBudget(l, name, rule, nil)
}

// there returns the charges as they are elsewhere.
func (l distant) there(charges []limiter.Charge) []limiter.Charge {
	there := make([]limiter.Charge, len(charges))
	for i, c := range charges {
		there[i] = limiter.Charge{Budget: l.counters.Budget(c.Budget.Name(), c.Budget.Rule()), N: c.N}
	}
	return there
}

func (l distant) Reserve(ctx context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	r, d, err := l.counters.Reserve(ctx, l.there(charges))
	if r != nil {
		r = limiter.NewReservation(distantCall{r, l})
	}
	return r, d, err
}

func (l distant) Peek(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	return l.counters.Peek(ctx, l.there(charges))
}

func (l distant) Inc(ctx context.Context, charges []limiter.Charge) error {
	return l.counters.Inc(ctx, l.there(charges))
}

type distantCall struct {
	*limiter.Reservation
	l distant
}

func (c distantCall) Draw(ctx context.Context, more []limiter.Charge) (limiter.Decision, error) {
	return c.Reservation.Draw(ctx, c.l.there(more))
}

// Handles of a limiter outside the package need not be kept: those of one name
// mean one counter, however many there have been.
func TestHandlesMadeAnew(t *testing.T) {
	ctx, l := context.Background(), distant{limiter.NewMemory()}
	alice := func(n int64) []limiter.Charge {
		return []limiter.Charge{{Budget: l.Budget("alice", limiter.Total{Limit: 10}), N: n}}
	}
	if one, another := alice(0)[0].Budget, alice(0)[0].Budget; one == another {
		t.Fatal("the same handle")
	}
	if d, err := limiter.TryAcquire(ctx, l, alice(3)); err != nil || !d.OK {
		t.Fatal(d, err)
	}
	if ok, err := alice(0)[0].Budget.TryAcquire(ctx, 2); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if d, err := limiter.TryAcquire(ctx, l, alice(6)); err != nil || d.OK {
		t.Fatal(d, err)
	}
	r, _, err := l.Reserve(ctx, alice(4))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := r.Draw(ctx, alice(2)); err != nil || d.OK {
		t.Fatal(d, err)
	}
	if d, err := r.Draw(ctx, alice(1)); err != nil || !d.OK {
		t.Fatal(d, err)
	}
	if ok, err := alice(0)[0].Budget.TryAcquire(ctx, 1); err != nil || ok {
		t.Fatal(ok, err)
	}
	if err := r.Settle(ctx, []int64{1}); err != nil {
		t.Fatal(err)
	}
	if ok, err := alice(0)[0].Budget.TryAcquire(ctx, 4); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if d, err := l.Peek(ctx, alice(1)); err != nil || d.OK || d.TooBig {
		t.Fatal(d, err)
	}
	if _, err := l.Peek(ctx, append(alice(1), alice(1)...)); !errors.Is(err, limiter.ErrMisuse) {
		t.Fatal(err)
	}
}
