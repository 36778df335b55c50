package limitbench

import (
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// ulule is github.com/ulule/limiter with its store in memory: so many calls a
// period, which begins with the first call on a name. Refused calls count, too.
type ulule struct{ l *limiter.Limiter }

func newUlule(limit int64, _ time.Duration) contender {
	return ulule{ululeLimiter(limit, period, period)}
}

func ululeLimiter(limit int64, period, sweep time.Duration) *limiter.Limiter {
	store := memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: limiter.DefaultPrefix, CleanUpInterval: sweep})
	return limiter.New(store, limiter.Rate{Period: period, Limit: limit})
}

func (u ulule) one(n int) (passed int) {
	for range n {
		if c, err := u.l.Get(ctx, theName); err == nil && !c.Reached {
			passed++
		}
	}
	return passed
}

func (u ulule) named(names []string) (passed int) {
	for _, name := range names {
		if c, err := u.l.Get(ctx, name); err == nil && !c.Reached {
			passed++
		}
	}
	return passed
}
