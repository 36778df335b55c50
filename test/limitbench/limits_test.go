package limitbench

import (
	"sync"
	"testing"
	"time"
)

// TestEveryContenderLimits makes sure that like is compared with like: each
// contender lets its limit pass and not one call more, name by name.
func TestEveryContenderLimits(t *testing.T) {
	const limit = 5
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			c := fresh(t, l, limit, period)
			want(t, "the limit, by the fastest way", c.one(limit), limit)
			want(t, "one more", c.one(1), 0)
			want(t, "and another", c.one(1), 0)

			c = fresh(t, l, limit, period)
			a, b := "user-1", "user-2"
			want(t, "calls on two names", c.named([]string{a, b, a, b, a}), 5)
			want(t, "up to the limit of each", c.named([]string{a, a, b, b, b}), 5)
			want(t, "one more on each", c.named([]string{a, b}), 0)
			want(t, "another name", c.named([]string{"user-3"}), 1)
		})
	}
}

// TestEveryContenderLimitsManyGoroutines is the same while they race.
func TestEveryContenderLimitsManyGoroutines(t *testing.T) {
	const limit, goroutines = 1000, 8
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			c := fresh(t, l, limit, period)
			passed := make([]int, goroutines)
			var wg sync.WaitGroup
			for g := range passed {
				wg.Go(func() { passed[g] = c.one(limit) })
			}
			wg.Wait()
			sum := 0
			for _, n := range passed {
				sum += n
			}
			want(t, "calls of all goroutines", sum, limit)
		})
	}
}

func fresh(t testing.TB, l library, limit int64, each time.Duration) contender {
	t.Helper()
	c := l.make(limit, each)
	t.Cleanup(func() { discard(c) })
	return c
}

// discard ends what goroutines the contenders have.
func discard(contenders ...contender) {
	for _, c := range contenders {
		if c, ok := c.(interface{ close() }); ok {
			c.close()
		}
	}
}

func want(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d passed, want %d", what, got, want)
	}
}
