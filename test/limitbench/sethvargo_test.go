package limitbench

import (
	"time"

	limiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
)

// sethvargo is github.com/sethvargo/go-limiter with its store in memory: so
// many units a period, which begins with the first call on a name.
type sethvargo struct{ store limiter.Store }

func newSethvargo(limit int64, _ time.Duration) contender {
	return sethvargo{sethvargoStore(limit, 0, 0)}
}

// sethvargoStore sweeps that often and drops what has been idle for so long;
// zeros stand for the library's own choice, which is hours.
func sethvargoStore(limit int64, sweep, idle time.Duration) limiter.Store {
	store, err := memorystore.New(&memorystore.Config{
		Tokens:        uint64(limit),
		Interval:      period,
		SweepInterval: sweep,
		SweepMinTTL:   idle,
	})
	if err != nil {
		panic(err)
	}
	return store
}

func (s sethvargo) one(n int) (passed int) {
	for range n {
		if _, _, _, ok, err := s.store.Take(ctx, theName); err == nil && ok {
			passed++
		}
	}
	return passed
}

func (s sethvargo) named(names []string) (passed int) {
	for _, name := range names {
		if _, _, _, ok, err := s.store.Take(ctx, name); err == nil && ok {
			passed++
		}
	}
	return passed
}

func (s sethvargo) close() { s.store.Close(ctx) }
