package limitbench

import (
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestOursDoesNotAllocate holds for every way to decide; a reservation is one
// allocation.
func TestOursDoesNotAllocate(t *testing.T) {
	o, drained := newOurs(plenty, steady).(ours), newOurs(1, period).(ours)
	name := []string{theName}
	o.named(name)
	drained.one(1)
	drained.named(name)
	charges := []limiter.Charge{{Budget: o.b, N: 1}}
	actual := []int64{1}
	for _, c := range []struct {
		what string
		most float64
		f    func() bool
	}{
		{"by handle", 0, func() bool { return o.one(1) == 1 }},
		{"by name", 0, func() bool { return o.named(name) == 1 }},
		{"with states", 0, func() bool { d, err := limiter.TryAcquire(ctx, o.m, charges); return err == nil && d.OK }},
		{"refused by handle", 0, func() bool { return drained.one(1) == 0 }},
		{"refused by name", 0, func() bool { return drained.named(name) == 0 }},
		{"reserve and settle", 1, func() bool {
			r, _, err := o.m.Reserve(ctx, charges)
			return err == nil && r.Settle(ctx, actual) == nil
		}},
	} {
		if got := testing.AllocsPerRun(1000, func() {
			if !c.f() {
				t.Error(c.what, "did not answer as it should")
			}
		}); got > c.most {
			t.Errorf("%s: %v allocations, want at most %v", c.what, got, c.most)
		}
	}
}
