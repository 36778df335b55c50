package limitbench

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// ours is this repository's limiter.
type ours struct {
	m *limiter.Memory
	b *limiter.Budget
	f *limiter.Family
}

func bucket(limit int64, each time.Duration) limiter.Rule {
	return limiter.TokenBucket{Size: limit, Refill: 1, Every: each}
}

func newOurs(limit int64, each time.Duration) contender {
	m := limiter.NewMemory()
	return ours{
		m: m,
		b: m.Budget(theName, bucket(limit, each)),
		f: m.Family(limiter.FamilyOptions{Rule: bucket(limit, each)}),
	}
}

func (o ours) one(n int) (passed int) {
	for range n {
		if ok, err := o.b.TryAcquire(ctx, 1); err == nil && ok {
			passed++
		}
	}
	return passed
}

func (o ours) named(names []string) (passed int) {
	for _, name := range names {
		if ok, err := o.f.Budget(name).TryAcquire(ctx, 1); err == nil && ok {
			passed++
		}
	}
	return passed
}
