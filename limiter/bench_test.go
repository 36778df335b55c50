package limiter_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// benchCharges returns one charge to each of n budgets that never refuse: tokens
// and requests a minute, a month, a total, and more of the same.
func benchCharges(m *limiter.Memory, n int, owner string) []limiter.Charge {
	rules := []limiter.Rule{
		bucket(1<<50, 1<<40, time.Minute),
		window(1<<60, time.Minute, time.Second),
		limiter.CalendarQuota{Limit: 1 << 60, Period: limiter.Month},
		limiter.Total{Limit: 1 << 60},
	}
	charges := make([]limiter.Charge, n)
	for i := range charges {
		charges[i] = limiter.Charge{Budget: m.Budget(owner+strconv.Itoa(i), rules[i%len(rules)]), N: 1000}
	}
	return charges
}

func BenchmarkTryAcquire(b *testing.B) {
	for _, n := range []int{1, 4, 8} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := limiter.NewMemory()
			charges := benchCharges(m, n, "")
			b.ReportAllocs()
			for b.Loop() {
				if d, err := limiter.TryAcquire(context.Background(), m, charges); err != nil || !d.OK {
					b.Fatal(d, err)
				}
			}
		})
	}
}

// BenchmarkTryAcquireShared has all cores on the same four budgets.
func BenchmarkTryAcquireShared(b *testing.B) {
	m := limiter.NewMemory()
	benchCharges(m, 4, "")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		charges := benchCharges(m, 4, "")
		for pb.Next() {
			if d, err := limiter.TryAcquire(context.Background(), m, charges); err != nil || !d.OK {
				b.Fatal(d, err)
			}
		}
	})
}

func BenchmarkRefused(b *testing.B) {
	b.Run("fast", func(b *testing.B) {
		m := limiter.NewMemory()
		charges := []limiter.Charge{{Budget: m.Budget("b", bucket(1000, 1, time.Hour)), N: 1000}}
		if _, err := m.TryAcquire(context.Background(), charges); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if d, err := limiter.TryAcquire(context.Background(), m, charges); err != nil || d.OK {
				b.Fatal(d, err)
			}
		}
	})
	// With holds, and more asked for than what was spent besides leaves, the
	// answer says whether they alone are in the way.
	const size, spent = 20_000, 5000
	for _, holds := range []int{0, 100, 10_000} {
		b.Run("holds="+strconv.Itoa(holds), func(b *testing.B) {
			ctx, m := context.Background(), limiter.NewMemory()
			charges := []limiter.Charge{{Budget: m.Budget("b", bucket(size, 1, time.Hour)), N: 1}}
			for range holds {
				if _, d, err := m.Reserve(ctx, charges); err != nil || !d.OK {
					b.Fatal(d, err)
				}
			}
			if charges[0].N = spent; m.Inc(ctx, charges) != nil {
				b.Fatal("not counted")
			}
			charges[0].N = size - spent
			if holds == 0 {
				charges[0].N++
			}
			b.ReportAllocs()
			for b.Loop() {
				if r, d, err := m.Reserve(ctx, charges); err != nil || r != nil || d.HeldOnly != (holds > 0) {
					b.Fatal(d, err)
				}
			}
		})
	}
}

func BenchmarkPeek(b *testing.B) {
	m := limiter.NewMemory()
	charges := benchCharges(m, 4, "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Peek(context.Background(), charges); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReserveSettle squares each call at a part of its estimate, with
// that many others open meanwhile.
func BenchmarkReserveSettle(b *testing.B) {
	for _, c := range []struct{ budgets, open int }{{1, 0}, {4, 0}, {8, 0}, {4, 100}, {4, 1000}} {
		b.Run(strconv.Itoa(c.budgets)+"budgets/"+strconv.Itoa(c.open)+"open", func(b *testing.B) {
			m := limiter.NewMemory()
			charges := benchCharges(m, c.budgets, "")
			actual := make([]int64, c.budgets)
			for i := range actual {
				actual[i] = 300
			}
			ring := make([]*limiter.Reservation, c.open+1)
			at := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := ring[at].Settle(context.Background(), actual); err != nil {
					b.Fatal(err)
				}
				r, d, err := m.Reserve(context.Background(), charges)
				if err != nil || !d.OK {
					b.Fatal(d, err)
				}
				ring[at] = r
				at = (at + 1) % len(ring)
			}
		})
	}
}

// TestHotPathDoesNotAllocate keeps the promises made by the documentation.
func TestHotPathDoesNotAllocate(t *testing.T) {
	m := limiter.NewMemory()
	charges := benchCharges(m, 8, "")
	actual := make([]int64, 4)
	ctx := context.Background()
	for name, c := range map[string]struct {
		most float64
		f    func() error
	}{
		"TryAcquire": {0, func() error { _, err := limiter.TryAcquire(ctx, m, charges); return err }},
		"Peek":       {0, func() error { _, err := m.Peek(ctx, charges); return err }},
		"Inc":        {0, func() error { return m.Inc(ctx, charges) }},
		"Reserve and Settle": {1, func() error {
			r, _, err := m.Reserve(ctx, charges[:4])
			if err != nil {
				return err
			}
			return r.Settle(ctx, actual)
		}},
	} {
		if got := testing.AllocsPerRun(200, func() {
			if err := c.f(); err != nil {
				t.Fatal(err)
			}
		}); got > c.most {
			t.Errorf("%s allocates %v times, want %v", name, got, c.most)
		}
	}
}
