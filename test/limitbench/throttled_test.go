package limitbench

import (
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
)

// throttledStore is github.com/throttled/throttled with its store in memory,
// which keeps every name for ever, the fastest way it can be set up.
type throttledStore struct{ l *throttled.GCRARateLimiterCtx }

func newThrottled(limit int64, each time.Duration) contender {
	store, err := memstore.NewCtx(0)
	if err != nil {
		panic(err)
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate:  throttled.PerDuration(1, each),
		MaxBurst: int(limit) - 1,
	})
	if err != nil {
		panic(err)
	}
	l.SetMaxCASAttemptsLimit(1 << 30) // the usual 10 are too few for many goroutines on one name
	return throttledStore{l}
}

func (t throttledStore) one(n int) (passed int) {
	for range n {
		if limited, _, err := t.l.RateLimitCtx(ctx, theName, 1); err == nil && !limited {
			passed++
		}
	}
	return passed
}

func (t throttledStore) named(names []string) (passed int) {
	for _, name := range names {
		if limited, _, err := t.l.RateLimitCtx(ctx, name, 1); err == nil && !limited {
			passed++
		}
	}
	return passed
}
