package metrics_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/metrics"
)

// pair returns the same limiter bare and with metrics, and n budgets of it to charge.
func pair(b *testing.B, n int) (bare, counted limiter.Limiter, charges []limiter.Charge) {
	memory := limiter.NewMemory()
	counted, err := metrics.Wrap(memory, metrics.Options{Registry: prometheus.NewRegistry()})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		rule := limiter.TokenBucket{Size: 1 << 40, Refill: 1 << 40, Every: time.Second}
		charges = append(charges, limiter.Charge{Budget: counted.Budget(fmt.Sprint("budget ", i), rule), N: 3})
	}
	return memory, counted, charges
}

func BenchmarkTryAcquire(b *testing.B) {
	bench(b, func(ctx context.Context, l limiter.Limiter, charges []limiter.Charge, _ []int64) {
		limiter.TryAcquire(ctx, l, charges)
	})
}

// BenchmarkHandle is the fast way past both, which nobody counts.
func BenchmarkHandle(b *testing.B) {
	_, _, charges := pair(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		charges[0].Budget.TryAcquire(context.Background(), 3)
	}
}

func BenchmarkReserveSettle(b *testing.B) {
	bench(b, func(ctx context.Context, l limiter.Limiter, charges []limiter.Charge, actual []int64) {
		r, _, _ := l.Reserve(ctx, charges)
		r.Settle(ctx, actual)
	})
}

func bench(b *testing.B, call func(context.Context, limiter.Limiter, []limiter.Charge, []int64)) {
	for _, n := range []int{1, 4} {
		bare, counted, charges := pair(b, n)
		actual := make([]int64, n)
		for name, l := range map[string]limiter.Limiter{"bare": bare, "counted": counted} {
			b.Run(fmt.Sprintf("budgets=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call(context.Background(), l, charges, actual)
				}
			})
		}
	}
}

// BenchmarkSeries is what a host pays that counts by itself: a call on four budgets, decided and settled.
func BenchmarkSeries(b *testing.B) {
	set, err := metrics.New(metrics.Options{Registry: prometheus.NewRegistry()})
	if err != nil {
		b.Fatal(err)
	}
	var series []*metrics.Series
	for i := range 4 {
		series = append(series, set.Series(fmt.Sprint("budget ", i)))
	}
	b.Run("decided", func(b *testing.B) {
		for b.Loop() {
			set.Decided(limiter.Local, 900*time.Nanosecond)
			for _, s := range series {
				s.Count(metrics.Allowed)
			}
		}
	})
	b.Run("amounts", func(b *testing.B) {
		for b.Loop() {
			for _, s := range series {
				s.Reserved(5000)
			}
			for _, s := range series {
				s.Settled(5000, 300)
			}
		}
	})
}
