package limitbench

import (
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
)

// failsafe is the rate limiter of github.com/failsafe-go/failsafe-go in the
// mode that allows bursts: so many units a period. By name it needs a map.
type failsafe struct {
	limit uint
	l     ratelimiter.RateLimiter[any]

	mu       sync.RWMutex
	limiters map[string]ratelimiter.RateLimiter[any]
}

func newFailsafe(limit int64, _ time.Duration) contender {
	f := &failsafe{limit: uint(limit), limiters: make(map[string]ratelimiter.RateLimiter[any])}
	f.l = f.fresh()
	return f
}

func (f *failsafe) fresh() ratelimiter.RateLimiter[any] {
	return ratelimiter.NewBursty[any](f.limit, period)
}

func (f *failsafe) one(n int) (passed int) {
	for range n {
		if f.l.TryAcquirePermit() {
			passed++
		}
	}
	return passed
}

func (f *failsafe) named(names []string) (passed int) {
	for _, name := range names {
		if lookUp(&f.mu, f.limiters, name, f.fresh).TryAcquirePermit() {
			passed++
		}
	}
	return passed
}
