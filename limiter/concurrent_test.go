package limiter_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestTwentyAtOnce(t *testing.T) {
	story(t, "five pass, fifteen do not", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		var passed atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if got, err := limiter.TryAcquire(context.Background(), d, []limiter.Charge{{Budget: b, N: 1}}); err == nil && got.OK {
					passed.Add(1)
				}
			})
		}
		wg.Wait()
		if passed.Load() != 5 {
			t.Fatalf("%d passed", passed.Load())
		}
	})
}

// TestHundredCallers has goroutines use every verb on the same budgets, named
// in any order, while others change rules, and wants the books exact: what was
// consumed is what the callers say they consumed, and nothing is left open.
func TestHundredCallers(t *testing.T) {
	const callers, calls, tight = 100, 400, 100_000
	m := limiter.NewMemory()
	rules := []limiter.Rule{
		limiter.Total{Limit: 1 << 40},
		limiter.Total{Limit: tight},
		window(1<<40, time.Hour, time.Minute),
		bucket(1<<26, 1, 1<<36), // one a minute or so
		limiter.CalendarQuota{Limit: 1 << 40, Period: limiter.Quarter},
	}
	names := []string{"wide", "tight", "window", "bucket", "quarter"}
	budgets := make([]*limiter.Budget, len(rules))
	for i, rule := range rules {
		budgets[i] = m.Budget(names[i], rule)
	}
	consumed := make([]atomic.Int64, len(rules))
	var refused, tightOver atomic.Int64
	ctx := context.Background()
	call := func(charges []limiter.Charge, which []int, actual []int64) {
		for i := range charges {
			which[i] = i
		}
		rand.Shuffle(len(which), func(i, j int) { which[i], which[j] = which[j], which[i] })
		for i, b := range which {
			charges[i] = limiter.Charge{Budget: budgets[b], N: rand.Int64N(20)}
			actual[i] = charges[i].N
		}
		verb := rand.IntN(4)
		switch verb {
		case 0:
			if d, err := limiter.TryAcquire(ctx, m, charges); err != nil || !d.OK {
				refused.Add(1)
				return
			}
		case 1:
			if _, err := m.Peek(ctx, charges); err != nil {
				t.Error(err)
			}
			return
		default:
			r, d, err := m.Reserve(ctx, charges)
			if err != nil || !d.OK {
				refused.Add(1)
				return
			}
			for i := range actual {
				actual[i] = rand.Int64N(charges[i].N + 3)
			}
			var wg sync.WaitGroup
			for range verb { // once, or twice at the same time
				wg.Go(func() {
					if err := r.Settle(ctx, actual); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		for i, b := range which {
			consumed[b].Add(actual[i])
			if names[b] == "tight" {
				tightOver.Add(max(0, actual[i]-charges[i].N))
			}
		}
	}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			n := len(budgets)
			charges, which, actual := make([]limiter.Charge, n), make([]int, n), make([]int64, n)
			for i := range calls {
				call(charges, which, actual)
				if i%100 == 0 {
					b, rule := rand.IntN(n), limiter.Rule(limiter.Total{Limit: 1<<40 + rand.Int64N(3)})
					if names[b] != "wide" {
						rule = rules[b]
					}
					if m.Budget(names[b], rule) != budgets[b] {
						t.Error("another handle for the same name")
					}
				}
			}
		})
	}
	wg.Wait()
	if m.OpenCount() != 0 {
		t.Errorf("%d open", m.OpenCount())
	}
	for i, b := range budgets {
		charges := []limiter.Charge{{Budget: b}}
		if _, err := m.Peek(ctx, charges); err != nil {
			t.Fatal(err)
		}
		s, want := charges[0].State, consumed[i].Load()
		if names[i] == "bucket" {
			want = min(want, s.Used) // a unit may have come back on the real clock
			if consumed[i].Load()-want > 1 {
				t.Errorf("bucket lost %d", consumed[i].Load()-want)
			}
		}
		if s.Used != want || s.Held != 0 || s.Open != 0 {
			t.Errorf("%s: %+v, want %d used", names[i], s, want)
		}
	}
	if got := consumed[1].Load() - tightOver.Load(); got > tight || refused.Load() == 0 {
		t.Errorf("%d admitted to a budget of %d, %d calls refused", got, tight, refused.Load())
	}
}

// TestBusyBucket has a hundred callers drain one bucket far faster than it
// refills, on a clock that moves: they get all it gives and no unit more.
func TestBusyBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limiter.NewMemory()
		b := m.Budget("b", bucket(100, 1000, time.Second))
		start := time.Now()
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				charges := []limiter.Charge{{Budget: b, N: 1}}
				for range 1000 {
					time.Sleep(time.Duration(10+i%7) * time.Millisecond)
					if d, err := limiter.TryAcquire(context.Background(), m, charges); err == nil && d.OK {
						admitted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		theory := 100 + time.Since(start).Milliseconds()
		if got := admitted.Load(); got > theory || got < theory*99/100 {
			t.Fatalf("admitted %d, theory %d", got, theory)
		}
	})
}

// TestMillionCalls has a hundred goroutines make ten thousand calls each on
// one budget, in every way there is to take for good: what passes is all the
// budget had, and not one more.
func TestMillionCalls(t *testing.T) {
	const callers, calls, size = 100, 10_000, 600_000
	m := limiter.NewMemory()
	start := time.Now()
	b := m.Budget("b", bucket(size, 1000, time.Second))
	var passed atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			ctx := context.Background()
			mine := int64(0)
			for range calls {
				ok, err := b.TryAcquire(ctx, 1)
				if caller%10 == 0 {
					var d limiter.Decision
					d, err = limiter.TryAcquire(ctx, m, []limiter.Charge{{Budget: b, N: 1}})
					if d.OK {
						mine++
					}
				}
				if err != nil {
					t.Error(err)
				}
				if ok {
					mine++
				}
			}
			passed.Add(mine)
		})
	}
	wg.Wait()
	theory := size + int64(time.Since(start)/time.Millisecond) + 1
	if got := passed.Load(); got < size || got > theory {
		t.Errorf("%d passed, want from %d to %d", got, size, theory)
	}
}
