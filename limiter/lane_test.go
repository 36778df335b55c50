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

// TestLaneDecidesAlike plays one history twice: once with calls that charge one
// budget, once with calls that charge another besides, so that there is never
// a lane. It must not change an answer, nor must it that a lane ends at some
// instant, where its word has no room for what comes after.
func TestLaneDecidesAlike(t *testing.T) {
	rules := []limiter.TokenBucket{
		bucket(20, 7, time.Second), bucket(1000, 3, 7*time.Nanosecond), bucket(200_000, 200_000, time.Minute),
		bucket(5, 1, 30*24*time.Hour),
		{Size: 100, Refill: 9, Every: time.Second, StartEmpty: true},
		bucket(1_000_000, 191, time.Second), // a lane for little more than a year
		bucket(1<<60, 1<<40, time.Second),   // too big for a lane
	}
	ended := 0
	for seed := range uint64(140) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			rule := rules[int(seed)%len(rules)]
			fast, slow := newDesk(t), newDesk(t)
			a, b := fast.Budget("b", rule), slow.Budget("b", rule)
			besides := slow.Budget("besides", limiter.Total{Limit: 1 << 60})
			whole := time.Duration(float64(rule.Size) / float64(rule.Refill) * float64(rule.Every))
			type pair struct{ fast, slow *limiter.Reservation }
			var open []pair
			ctx := context.Background()
			end, start := limiter.LaneEnds(rule), time.Now()
			late := int(seed)/len(rules)%2 == 1 && end > 0 && end < 100*365*24*time.Hour
			if late {
				time.Sleep(end - 5*whole)
			}
			defer func() {
				if late && time.Since(start) > end+5*whole {
					ended++
				}
			}()
			for step := range 1000 {
				n := random.Int64N(rule.Size/3 + 2)
				switch random.IntN(16) {
				case 0:
					fast.inc(a, n)
					slow.inc(b, n)
				case 1:
					r, _, _ := fast.Reserve(ctx, []limiter.Charge{{Budget: a, N: n}})
					s, _, _ := slow.Reserve(ctx, []limiter.Charge{{Budget: b, N: n}})
					open = append(open, pair{r, s})
				case 2:
					if len(open) > 0 {
						fast.settle(open[0].fast, n)
						slow.settle(open[0].slow, n)
						open = open[1:]
					}
				case 3, 4, 5:
					time.Sleep(time.Duration(random.Int64N(int64(whole)/3 + 2)))
				case 6:
					if step > 900 { // the lane is gone after that
						rule.Size++
						fast.Budget("b", rule)
						slow.Budget("b", rule)
					}
				default:
					want := []limiter.Charge{{Budget: b, N: n}, {Budget: besides, N: 1}}
					decision, err := limiter.TryAcquire(ctx, slow, want)
					if err != nil {
						t.Fatal(err)
					}
					if random.IntN(2) == 0 {
						if ok, err := a.TryAcquire(ctx, n); err != nil || ok != decision.OK {
							t.Fatalf("seed %d, step %d, %+v: %d passes: %v, %v; want %+v", seed, step, rule, n, ok, err, decision)
						}
						break
					}
					if got, s := fast.take(a, n); got != decision || s != want[0].State {
						t.Fatalf("seed %d, step %d, %+v, %d:\n%+v, %+v, want\n%+v, %+v", seed, step, rule, n, got, s, decision, want[0].State)
					}
				}
				if random.IntN(8) == 0 {
					if got, want := fast.state(a), slow.state(b); got != want {
						t.Fatalf("seed %d, step %d, %+v: %+v, want %+v", seed, step, rule, got, want)
					}
				}
			}
		})
	}
	if ended < 20 {
		t.Errorf("only %d histories went on long after the end of their lane", ended)
	}
}

func TestLaneEnds(t *testing.T) {
	const whole = 5000 * time.Second
	rule := bucket(5000*191, 191, time.Second)
	end := limiter.LaneEnds(rule)
	story(t, "what was charged before comes back after", func(d *desk) {
		b := d.Budget("b", rule)
		time.Sleep(end - whole/2)
		for range 4 {
			d.passes(b, rule.Size/4)
		}
		d.waits(b, 191, time.Second)
		d.passes(b, 191)
		d.waits(b, rule.Size, whole)
	})
	story(t, "calls go on as ever", func(d *desk) {
		b := d.Budget("b", rule)
		time.Sleep(end - whole)
		d.passes(b, rule.Size)
		for range 30 {
			d.waits(b, rule.Size/5, whole/5)
			d.passes(b, rule.Size/5)
		}
	})
	story(t, "a bucket that nobody has asked since", func(d *desk) {
		long, longer := d.Budget("long", rule), d.Budget("longer", rule)
		d.passes(long, rule.Size)
		d.passes(longer, rule.Size)
		time.Sleep(end / 2)
		for _, b := range []*limiter.Budget{long, longer} {
			time.Sleep(end) // then twice, when a word has come round
			d.passes(b, rule.Size)
			d.waits(b, rule.Size, whole)
		}
	})
	story(t, "a name charged before is dropped after", func(d *desk) {
		f := d.family(rule, 0)
		time.Sleep(end - 1)
		for range 2 {
			d.passes(f.Budget("ann"), rule.Size/2)
		}
		time.Sleep(whole / 2)
		if f.Sweep() != 0 {
			t.Fatal("dropped while half of it is missing")
		}
		time.Sleep(2 * whole)
		if f.Sweep() != 1 {
			t.Fatal("not dropped when whole")
		}
		d.passes(f.Budget("ann"), rule.Size)
	})
}

// TestLaneRacesTheLock has callers in the lane while others hold, settle,
// count and change the rule: what passed is what the budget gave, exactly.
func TestLaneRacesTheLock(t *testing.T) {
	const callers, calls, size = 12, 4000, 30_000
	m := limiter.NewMemory()
	rule := bucket(size, 1, 1<<40)
	b := m.Budget("b", rule)
	ctx := context.Background()
	var taken atomic.Int64
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range calls {
				switch {
				case caller == 0 && i%10 == 0:
					r, d, err := m.Reserve(ctx, []limiter.Charge{{Budget: b, N: 5}})
					if err != nil || r.Settle(ctx, []int64{2}) != nil {
						t.Error(err)
					}
					if d.OK {
						taken.Add(2)
					}
				case caller == 1 && i%100 == 0:
					if err := m.Inc(ctx, []limiter.Charge{{Budget: b, N: 1}}); err != nil {
						t.Error(err)
					}
					taken.Add(1)
				case caller == 2 && i == calls/2:
					m.Budget("b", bucket(size+7, 1, 1<<40))
				default:
					if ok, err := b.TryAcquire(ctx, 1); err != nil {
						t.Error(err)
					} else if ok {
						taken.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	charges := []limiter.Charge{{Budget: b}}
	if _, err := m.Peek(ctx, charges); err != nil {
		t.Fatal(err)
	}
	if s := charges[0].State; s.Used != taken.Load() || s.Limit != size+7 {
		t.Errorf("%d taken, but %d used: %+v", taken.Load(), s.Used, s)
	}
}

func TestHandleTryAcquire(t *testing.T) {
	story(t, "zero passes and changes nothing", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		d.passes(b, 5)
		if ok, err := b.TryAcquire(t.Context(), 0); !ok || err != nil {
			t.Fatal(ok, err)
		}
		d.counts(b, 5, 0)
	})
	story(t, "a negative amount is an error, in the lane, too", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		for range 3 {
			if ok, err := b.TryAcquire(t.Context(), -1); ok || err == nil {
				t.Fatal("took less than nothing")
			}
			if ok, err := b.TryAcquire(t.Context(), 1); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	})
	story(t, "more than the capacity never passes", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		for range 2 {
			if ok, err := b.TryAcquire(t.Context(), 6); ok || err != nil {
				t.Fatal(ok, err)
			}
			if ok, _ := b.TryAcquire(t.Context(), 1); !ok {
				t.Fatal("refused")
			}
		}
	})
	for name, rule := range map[string]limiter.Rule{
		"window": window(5, time.Second, 0), "calendar": limiter.CalendarQuota{Limit: 5, Period: limiter.Hour},
		"total": limiter.Total{Limit: 5},
	} {
		story(t, name, func(d *desk) {
			b := d.Budget("b", rule)
			for i := range 7 {
				if ok, err := b.TryAcquire(t.Context(), 1); ok != (i < 5) || err != nil {
					t.Fatalf("call %d passes: %v, %v", i, ok, err)
				}
			}
		})
	}
	story(t, "at once only asks", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 1})
		for range 2 {
			if ok, err := b.TryAcquire(t.Context(), 1); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		d.reserve(b, 1)
		if ok, _ := b.TryAcquire(t.Context(), 1); ok {
			t.Fatal("passed a full limit")
		}
	})
}
