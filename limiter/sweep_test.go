package limiter_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestSweep(t *testing.T) {
	story(t, "a bucket that starts empty stays, though it was charged the fast way", func(d *desk) {
		f := d.family(limiter.TokenBucket{Size: 10, Refill: 1, Every: time.Second, StartEmpty: true}, 0)
		kept := f.Budget("ann")
		time.Sleep(10 * time.Second)
		d.passes(kept, 1)
		d.passes(kept, 1)
		time.Sleep(time.Hour)
		if f.Sweep() != 0 || f.Budget("ann") != kept {
			t.Fatal("dropped")
		}
		d.passes(kept, 10)
	})
}

// TestSweepLosesNoSpend has names spent on the fast way while they are swept,
// each of them whole until then: a name may be dropped or charged, or dropped
// and then charged anew, but a charge that passed always counts.
func TestSweepLosesNoSpend(t *testing.T) {
	const names, rounds = 64, 300
	m := limiter.NewMemory()
	f := m.Family(limiter.FamilyOptions{Rule: bucket(2, 1, time.Hour), Most: 256})
	ctx := context.Background()
	take := func(b *limiter.Budget) {
		if ok, err := b.TryAcquire(ctx, 1); !ok || err != nil {
			t.Error("refused by a budget that is whole", err)
		}
	}
	for i := range names {
		take(f.Budget(strconv.Itoa(i)))
	}
	for round := range rounds {
		m.Skip(2 * time.Hour) // all are whole again, with open lanes
		budgets := make([]*limiter.Budget, names)
		for i := range budgets {
			budgets[i] = f.Budget(strconv.Itoa(i))
		}
		rand.Shuffle(names, func(i, j int) { budgets[i], budgets[j] = budgets[j], budgets[i] })
		var ready atomic.Int32
		atOnce := func() { // goroutines alone do not start at the same time
			ready.Add(1)
			for ready.Load() < 2 {
				runtime.Gosched()
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			atOnce()
			f.Sweep()
		})
		wg.Go(func() {
			atOnce()
			for _, b := range budgets {
				take(b)
			}
		})
		wg.Wait()
		for i := range names {
			charges := []limiter.Charge{{Budget: f.Budget(strconv.Itoa(i))}}
			if _, err := m.Peek(ctx, charges); err != nil || charges[0].State.Used != 1 {
				t.Fatalf("round %d: %d used, want 1; %v", round, charges[0].State.Used, err)
			}
			// Peeking has closed the lane. A charge opens it again.
			take(charges[0].Budget)
		}
	}
}
