package limitbench

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// xRate is golang.org/x/time/rate; by name, behind the map people put it in.
type xRate struct {
	limit int
	every rate.Limit
	l     *rate.Limiter

	mu       sync.RWMutex
	limiters map[string]*rate.Limiter
}

func newXRate(limit int64, each time.Duration) contender {
	x := &xRate{limit: int(limit), every: rate.Every(each), limiters: make(map[string]*rate.Limiter)}
	x.l = x.fresh()
	return x
}

func (x *xRate) fresh() *rate.Limiter { return rate.NewLimiter(x.every, x.limit) }

func (x *xRate) one(n int) (passed int) {
	for range n {
		if x.l.Allow() {
			passed++
		}
	}
	return passed
}

func (x *xRate) named(names []string) (passed int) {
	for _, name := range names {
		if lookUp(&x.mu, x.limiters, name, x.fresh).Allow() {
			passed++
		}
	}
	return passed
}
