package limiter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
)

// What no limiter has made is misuse wherever it can be charged or ended.
func TestZeroValues(t *testing.T) {
	ctx, rule := context.Background(), limiter.Total{Limit: 10}
	memory := limiter.NewMemory()
	for name, b := range map[string]*limiter.Budget{"nil budget": nil, "zero budget": {}} {
		for _, n := range []int64{-1, 0, 1} {
			charges := []limiter.Charge{{Budget: b, N: n}}
			_, _, reserve := memory.Reserve(ctx, charges)
			_, acquire := memory.TryAcquire(ctx, charges)
			_, peek := memory.Peek(ctx, charges)
			ok, fast := b.TryAcquire(ctx, n)
			for verb, err := range map[string]error{
				"reserve": reserve, "try": acquire, "peek": peek, "inc": memory.Inc(ctx, charges), "fast": fast,
			} {
				if !errors.Is(err, limiter.ErrMisuse) || ok {
					t.Errorf("%s, %s of %d: %v, %v", name, verb, n, ok, err)
				}
			}
		}
		if b.Owner() != nil || b.Own() != nil {
			t.Errorf("%s belongs to %v", name, b.Owner())
		}
	}

	if b := new(limiter.Budget); b.Name() != "" || b.Rule() != nil || b.Generation() != 0 {
		t.Errorf("zero budget: %q, %v, %d", b.Name(), b.Rule(), b.Generation())
	}

	var r limiter.Reservation
	_, draw := r.Draw(ctx, nil)
	_, nobody := limiter.TryAcquire(ctx, nil, nil)
	for verb, err := range map[string]error{
		"draw": draw, "settle": r.Settle(ctx, nil), "settle one": r.Settle(ctx, []int64{1}), "cancel": r.Cancel(ctx), "no limiter": nobody,
	} {
		if !errors.Is(err, limiter.ErrMisuse) {
			t.Errorf("zero reservation, %s: %v", verb, err)
		}
	}

	// Where there is no error to return, it is a panic that says so.
	for want, f := range map[string]func(){
		"NewMemory":          func() { new(limiter.Memory).Budget("b", rule) },
		"that NewMemory":     func() { new(limiter.Memory).Family(limiter.FamilyOptions{Rule: rule}) },
		"no limiter":         func() { new(limiter.Budget).Revise(rule) },
		"needs the limiter":  func() { limiter.NewBudget(nil, "b", rule, nil) },
		"needs a Backing":    func() { limiter.NewReservation(nil) },
		"through its limite": func() { memory.Budget("b", rule).Revise(rule) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "BUG: limiter: ") || !strings.Contains(got, want) {
					t.Errorf("%q does not say %q", got, want)
				}
			}()
			f()
		}()
	}
}
