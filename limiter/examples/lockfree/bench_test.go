package lockfree_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// plenty never refuses and is never full again.
var plenty = lockfree.Config{Capacity: 1 << 32, Refill: 1 << 30, Every: time.Hour}

// BenchmarkTryAcquire has one core decide; the article's aim is ten million
// decisions a second.
func BenchmarkTryAcquire(b *testing.B) {
	bucket, err := lockfree.New(plenty)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := bucket.TryAcquire(1); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

// BenchmarkTryAcquireShared has all cores on the same bucket.
func BenchmarkTryAcquireShared(b *testing.B) {
	bucket, err := lockfree.New(plenty)
	if err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if ok, err := bucket.TryAcquire(1); !ok || err != nil {
				b.Error(ok, err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

// BenchmarkKeyed is with metrics, whose clock costs more than the decision.
func BenchmarkKeyed(b *testing.B) {
	for _, key := range []string{"configured", "any other"} {
		b.Run(key, func(b *testing.B) {
			k, err := lockfree.NewKeyed(lockfree.KeyedOptions{
				Configured: map[string]lockfree.Config{"configured": plenty}, Implicit: plenty, Registry: prometheus.NewRegistry(),
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := k.TryAcquire(key, 1); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func TestDecisionsDoNotAllocate(t *testing.T) {
	bucket := newDesk(t, plenty)
	keyed := newKeyedDesk(t, lockfree.KeyedOptions{Configured: map[string]lockfree.Config{"a": plenty}, Implicit: plenty})
	for name, f := range map[string]func(){
		"bucket":     func() { bucket.passes(1) },
		"configured": func() { keyed.takes("a", 1, true) },
		"other":      func() { keyed.takes("b", 1, true) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
