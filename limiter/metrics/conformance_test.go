package metrics_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/limitertest"
	"github.com/tokenfare/tokenfare/limiter/metrics"
)

// TestConformance: a limiter with metrics decides as it does without, also while it is scraped.
func TestConformance(t *testing.T) {
	var registries sync.Map // by limiter
	limitertest.Run(t, limitertest.Harness{
		New: func(t testing.TB) limiter.Limiter {
			registry := prometheus.NewPedanticRegistry()
			l, err := metrics.Wrap(limiter.NewMemory(), metrics.Options{Registry: registry, Most: 3})
			if err != nil {
				t.Fatal(err)
			}
			registries.Store(limiter.Limiter(l), registry)
			return l
		},
		Advance: func(_ testing.TB, d time.Duration) { time.Sleep(d) },
		Tick:    time.Nanosecond,
		Within:  synctest.Test,
		Disturb: func(l limiter.Limiter) {
			registry, _ := registries.Load(l)
			if _, err := registry.(*prometheus.Registry).Gather(); err != nil {
				panic(err)
			}
		},
	})
}
