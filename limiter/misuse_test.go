package limiter_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestMisuse(t *testing.T) {
	ctx := context.Background()
	m, other := limiter.NewMemory(), limiter.NewMemory()
	b, foreign := m.Budget("b", limiter.Total{Limit: 10}), other.Budget("b", limiter.Total{Limit: 10})
	full := m.Budget("full", limiter.Total{Limit: math.MaxInt64 - 1})
	if err := m.Inc(ctx, []limiter.Charge{{Budget: full, N: math.MaxInt64 - 1}}); err != nil {
		t.Fatal(err)
	}
	for name, charges := range map[string][]limiter.Charge{
		"no budget":         {{N: 1}},
		"negative":          {{Budget: b, N: -1}},
		"twice":             {{Budget: b, N: 1}, {Budget: b, N: 1}},
		"another limiter's": {{Budget: foreign, N: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, reserve := m.Reserve(ctx, charges)
			_, acquire := m.TryAcquire(ctx, charges)
			_, peek := m.Peek(ctx, charges)
			for _, err := range []error{reserve, acquire, peek, m.Inc(ctx, charges)} {
				if !errors.Is(err, limiter.ErrMisuse) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	r, _, err := m.Reserve(ctx, []limiter.Charge{{Budget: b, N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, another := r.Draw(ctx, []limiter.Charge{{Budget: full, N: 1}})
	for name, err := range map[string]error{
		"a sum that does not fit":  m.Inc(ctx, []limiter.Charge{{Budget: full, N: 1}}),
		"settled at too many":      r.Settle(ctx, []int64{1, 2}),
		"settled at less than 0":   r.Settle(ctx, []int64{-1}),
		"drawn on another budget":  another,
		"drawn without any at all": func() error { _, err := (*limiter.Reservation)(nil).Draw(ctx, nil); return err }(),
	} {
		if !errors.Is(err, limiter.ErrMisuse) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Inc(ctx, []limiter.Charge{{Budget: b, N: 1}, {Budget: full, N: 1}}); err == nil || !strings.Contains(err.Error(), `"full"`) {
		t.Errorf("the budget at fault is not named: %v", err)
	}
	if err := r.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Draw(ctx, []limiter.Charge{{Budget: b, N: 1}}); !errors.Is(err, limiter.ErrMisuse) {
		t.Errorf("drawn after the end: %v", err)
	}
	if n := m.OpenCount(); n != 0 {
		t.Errorf("%d open", n)
	}
	if d, err := m.Peek(ctx, []limiter.Charge{{Budget: b, N: 10}}); err != nil || !d.OK {
		t.Errorf("misuse has left something behind: %+v, %v", d, err)
	}
	if ok, err := m.Budget("bucket", bucket(1, 1, time.Second)).TryAcquire(ctx, -1); ok || !errors.Is(err, limiter.ErrMisuse) {
		t.Errorf("%v, %v", ok, err)
	}
}
