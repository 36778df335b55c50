package limiter_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func (d *desk) family(rule limiter.Rule, most int) *limiter.Family {
	if most == 0 {
		most = 5000 // fewer parts to sweep than by default
	}
	return d.Family(limiter.FamilyOptions{Rule: rule, Most: most})
}

func TestFamily(t *testing.T) {
	story(t, "every name has its own budget", func(d *desk) {
		f := d.family(bucket(5, 1, time.Second), 0)
		d.passes(f.Budget("ann"), 5)
		d.waits(f.Budget("ann"), 1, time.Second)
		d.passes(f.Budget("bob"), 5)
		if f.Len() != 2 {
			t.Fatalf("%d names", f.Len())
		}
	})
	story(t, "a name is made once, however many see it first", func(d *desk) {
		f := d.family(bucket(50, 1, time.Hour), 0)
		var passed atomic.Int64
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				if ok, err := f.Budget("new").TryAcquire(context.Background(), 1); ok && err == nil {
					passed.Add(1)
				}
			})
		}
		wg.Wait()
		if passed.Load() != 50 {
			t.Fatalf("%d passed, want 50", passed.Load())
		}
	})
	story(t, "idle names are dropped, drained and held ones are not", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		d.passes(f.Budget("drained"), 10)
		d.passes(f.Budget("idle"), 1)
		r := d.reserve(f.Budget("held"), 1)
		unspent := d.reserve(f.Budget("unspent"), 0)
		time.Sleep(5 * time.Second)
		if n := f.Sweep(); n != 1 || f.Len() != 3 || f.Dropped() != 1 {
			t.Fatalf("%d dropped, %d left, %d dropped ever", n, f.Len(), f.Dropped())
		}
		if got := d.refused(f.Budget("drained"), 6); got.RetryAfter != time.Second {
			t.Fatalf("a drained name got credit: %+v", got)
		}
		d.settle(unspent, 7)
		d.settle(r, 1)
		d.counts(f.Budget("unspent"), 7, 0)
		time.Sleep(20 * time.Second)
		if f.Sweep() != 3 || f.Len() != 0 {
			t.Fatalf("%d left of those that were in use", f.Len())
		}
	})
	story(t, "a handle goes on when its state was dropped", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		kept := f.Budget("ann")
		d.passes(kept, 1)
		time.Sleep(time.Minute)
		if f.Sweep() != 1 {
			t.Fatal("not dropped")
		}
		if ok, err := kept.TryAcquire(context.Background(), 4); !ok || err != nil {
			t.Fatal(ok, err)
		}
		d.counts(f.Budget("ann"), 4, 0)
		d.counts(kept, 4, 0)
		d.passes(kept, 6)
		d.waits(f.Budget("ann"), 1, time.Second)
	})
	story(t, "buckets that start empty are not dropped: a new one would be poorer", func(d *desk) {
		f := d.family(limiter.TokenBucket{Size: 10, Refill: 1, Every: time.Second, StartEmpty: true}, 0)
		d.waits(f.Budget("ann"), 1, time.Second)
		time.Sleep(time.Hour)
		if f.Sweep() != 0 {
			t.Fatal("dropped")
		}
		d.passes(f.Budget("ann"), 10)
	})
	for name, rule := range map[string]limiter.Rule{
		"window":   window(3, time.Minute, time.Second),
		"calendar": limiter.CalendarQuota{Limit: 3, Period: limiter.Hour},
		"total":    limiter.Total{Limit: 3},
		"at once":  limiter.AtOnce{Limit: 3},
	} {
		story(t, "names of other rules are dropped when whole: "+name, func(d *desk) {
			f := d.family(rule, 0)
			r := d.reserve(f.Budget("ann"), 2)
			if f.Sweep() != 0 {
				t.Fatal("dropped while held")
			}
			d.settle(r, 2)
			if _, ok := rule.(limiter.AtOnce); !ok && f.Sweep() != 0 {
				t.Fatal("dropped while it counts")
			}
			time.Sleep(2 * time.Hour)
			want := 1
			if _, ok := rule.(limiter.Total); ok {
				want = 0
			}
			if got := f.Sweep(); got != want {
				t.Fatalf("%d dropped, want %d", got, want)
			}
		})
	}
}

func TestFamilyRules(t *testing.T) {
	story(t, "the first rule of a new name wins", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		d.passes(f.BudgetUnder("ann", bucket(3, 1, time.Second)), 3)
		d.waits(f.BudgetUnder("ann", bucket(100, 1, time.Second)), 1, time.Second)
		d.waits(f.Budget("ann"), 2, time.Second)
	})
	story(t, "a rule that is set keeps what was consumed, and the name", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		d.passes(f.Budget("ann"), 4)
		d.counts(f.Set("ann", bucket(100, 1, time.Second)), 4, 0)
		time.Sleep(time.Hour)
		if f.Sweep() != 0 {
			t.Fatal("dropped with its own rule")
		}
		d.passes(f.Budget("ann"), 100)
		f.Set("ann", bucket(10, 1, time.Second))
		time.Sleep(time.Hour)
		if f.Sweep() != 0 {
			t.Fatal("dropped with a rule of its own, though it is the family's")
		}
		if got := d.refused(f.BudgetUnder("ann", bucket(50, 1, time.Second)), 11); got.RetryAfter != limiter.Never {
			t.Fatalf("%+v: the rule that was set is gone", got)
		}
		f.Unset("ann")
		if f.Sweep() != 1 || f.Find("ann") != nil {
			t.Fatal("not dropped under the family's rule")
		}
		f.Unset("ann")
	})
	story(t, "unset keeps what was consumed", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		d.passes(f.Set("ann", bucket(100, 1, time.Second)), 30)
		f.Unset("ann")
		d.waits(f.Budget("ann"), 1, 21*time.Second)
	})
	story(t, "a name that is looked for is not made", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 1)
		if f.Find("ann") != nil || f.Len() != 0 {
			t.Fatal("made")
		}
		d.passes(f.Budget("ann"), 1)
		d.passes(f.Budget("newcomer"), 1)
		if f.Find("ann") != f.Budget("ann") || f.Find("newcomer") != f.Budget("newcomer") {
			t.Fatal("found another one")
		}
	})
	story(t, "set makes a name, even in a full family", func(d *desk) {
		f := d.family(bucket(10, 1, time.Hour), 1)
		d.passes(f.Budget("ann"), 1)
		d.passes(f.Set("bob", bucket(50, 1, time.Hour)), 50)
		if f.Len() != 2 || f.Budget("bob").Name() != "bob" {
			t.Fatalf("%d names", f.Len())
		}
	})
}

// TestSweepingIsInvisible plays one history on two families, one of which is
// swept all the time: every answer must be the same.
func TestSweepingIsInvisible(t *testing.T) {
	rules := []limiter.Rule{
		bucket(20, 7, time.Second), bucket(3, 1, 300*time.Millisecond),
		window(10, time.Second, 0), window(10, 2*time.Second, 300*time.Millisecond),
		limiter.CalendarQuota{Limit: 30, Period: limiter.Hour},
		limiter.AtOnce{Limit: 3},
	}
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			rule := rules[int(seed)%len(rules)]
			swept, kept := newDesk(t), newDesk(t)
			sweptNames, keptNames := swept.family(rule, 0), kept.family(rule, 0)
			type pair struct{ swept, kept *limiter.Reservation }
			var open []pair
			ctx := context.Background()
			dropped := 0
			for step := range 1500 {
				name := strconv.Itoa(random.IntN(5))
				n := random.Int64N(rule.Capacity() + 1)
				a := []limiter.Charge{{Budget: sweptNames.Budget(name), N: n}}
				b := []limiter.Charge{{Budget: keptNames.Budget(name), N: n}}
				if random.IntN(2) == 0 {
					dropped += sweptNames.Sweep()
				}
				var got, want limiter.Decision
				switch random.IntN(6) {
				case 0:
					_ = swept.Inc(ctx, a)
					_ = kept.Inc(ctx, b)
				case 1:
					var p pair
					p.swept, got, _ = swept.Reserve(ctx, a)
					p.kept, want, _ = kept.Reserve(ctx, b)
					open = append(open, p)
				case 2:
					if len(open) > 0 {
						p := open[0]
						open = open[1:]
						swept.settle(p.swept, n)
						kept.settle(p.kept, n)
					}
				case 3:
					got.OK, _ = a[0].Budget.TryAcquire(ctx, n)
					want.OK, _ = b[0].Budget.TryAcquire(ctx, n)
				case 4:
					time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
				default:
					got, _ = limiter.TryAcquire(ctx, swept, a)
					want, _ = limiter.TryAcquire(ctx, kept, b)
				}
				if got != want {
					t.Fatalf("seed %d, step %d, %+v: %+v with sweeps, %+v without", seed, step, rule, got, want)
				}
				if s, k := swept.state(sweptNames.Budget(name)), kept.state(keptNames.Budget(name)); s != k {
					t.Fatalf("seed %d, step %d, %+v: %+v with sweeps, %+v without", seed, step, rule, s, k)
				}
			}
			if dropped == 0 && rule != rules[4] {
				t.Errorf("seed %d: nothing was ever dropped", seed)
			}
		})
	}
}

// TestSweepsRaceCalls has callers and sweeps at the same names: the books stay
// exact, and nobody is refused for being swept.
func TestSweepsRaceCalls(t *testing.T) {
	const callers, calls, names = 16, 3000, 8
	m := limiter.NewMemory()
	f := m.Family(limiter.FamilyOptions{Rule: bucket(1<<40, 1<<40, time.Nanosecond)}) // whole again at once
	tight := m.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: callers * calls / 2}})
	done := make(chan struct{})
	var sweeps sync.WaitGroup
	sweeps.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				f.Sweep()
				tight.Sweep()
			}
		}
	})
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			ctx := context.Background()
			for i := range calls {
				name := strconv.Itoa(i % names)
				charges := []limiter.Charge{{Budget: f.Budget(name), N: 1}, {Budget: tight.Budget("all"), N: 1}}
				if ok, err := charges[0].Budget.TryAcquire(ctx, 1); !ok || err != nil {
					t.Error("refused by a budget that is whole", err)
				}
				r, d, err := m.Reserve(ctx, charges)
				if err != nil {
					t.Error(err)
				}
				if d.OK {
					passed.Add(1)
				}
				if err := r.Settle(ctx, []int64{1, 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	sweeps.Wait()
	if passed.Load() != callers*calls/2 || m.OpenCount() != 0 {
		t.Errorf("%d passed, want %d; %d open", passed.Load(), callers*calls/2, m.OpenCount())
	}
}

func TestFamilyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDesk(t).family(bucket(1, 1, time.Second), 0)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := f.Budget("ann").TryAcquire(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if err := f.Run(ctx, 3*time.Second); !errors.Is(err, context.DeadlineExceeded) || f.Len() != 0 {
			t.Fatalf("%v, %d names left", err, f.Len())
		}
	})
}
