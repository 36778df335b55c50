package limiter_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestSeveralBudgets(t *testing.T) {
	story(t, "all or none", func(d *desk) {
		minute, day, total := d.Budget("minute", bucket(10, 1, time.Second)), d.Budget("day", limiter.CalendarQuota{Limit: 100, Period: limiter.Day}), d.Budget("total", limiter.Total{Limit: 5})
		charges := []limiter.Charge{{Budget: total, N: 3}, {Budget: minute, N: 10}, {Budget: day, N: 10}}
		for i, want := range []bool{true, false} {
			got, err := limiter.TryAcquire(context.Background(), d, charges)
			if err != nil || got.OK != want {
				t.Fatalf("call %d: %+v, %v", i, got, err)
			}
			d.counts(minute, 10, 0)
			d.counts(day, 10, 0)
			d.counts(total, 3, 0)
		}
	})
	story(t, "a batch of five", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		d.passes(b, 1)
		d.waits(b, 5, time.Second)
		d.passes(b, 5)
	})
	story(t, "the longest wait decides", func(d *desk) {
		short, long, free := d.Budget("short", bucket(5, 1, time.Second)), d.Budget("long", window(5, time.Minute, 0)), d.Budget("free", limiter.Total{Limit: 100})
		charges := []limiter.Charge{{Budget: short, N: 5}, {Budget: free, N: 1}, {Budget: long, N: 5}}
		r, _, _ := d.Reserve(context.Background(), charges)
		got, err := d.Peek(context.Background(), charges)
		want := limiter.Decision{RetryAfter: time.Minute, Refused: 2, HeldOnly: true}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
		d.settle(r, 1, 1, 0)
		got, err = d.Peek(context.Background(), charges)
		want = limiter.Decision{RetryAfter: time.Second, Refused: 0}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	})
	story(t, "what can never pass goes before what is used up", func(d *desk) {
		used, small := d.Budget("used", limiter.Total{Limit: 5}), d.Budget("small", bucket(5, 1, time.Second))
		d.reserve(used, 5)
		got, err := d.Peek(context.Background(), []limiter.Charge{{Budget: used, N: 1}, {Budget: small, N: 6}})
		want := limiter.Decision{RetryAfter: limiter.Never, Refused: 1, TooBig: true}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	})
	story(t, "more than are kept inline", func(d *desk) {
		var charges []limiter.Charge
		var actual []int64
		for i := range int64(12) {
			charges = append(charges, limiter.Charge{Budget: d.Budget(strings.Repeat("b", int(i)), limiter.Total{Limit: 100}), N: 50 + i})
			actual = append(actual, 20+i)
		}
		for i, j := 0, len(charges)-1; i < j; i, j = i+2, j-2 {
			charges[i], charges[j] = charges[j], charges[i]
		}
		r, got, err := d.Reserve(context.Background(), charges)
		if err != nil || !got.OK {
			t.Fatal(got, err)
		}
		d.settle(r, actual...)
		for i, c := range charges {
			d.counts(c.Budget, actual[i], 0)
		}
	})
	story(t, "no charges at all", func(d *desk) {
		d.settle(func() *limiter.Reservation {
			r, got, err := d.Reserve(context.Background(), nil)
			if err != nil || !got.OK {
				t.Fatal(got, err)
			}
			return r
		}())
	})
}

// TestTryAcquireOverAnyLimiter takes the way round for limiters that have only
// the interface's verbs.
func TestTryAcquireOverAnyLimiter(t *testing.T) {
	d := newDesk(t)
	b := d.Budget("b", limiter.Total{Limit: 10})
	plain := struct{ limiter.Limiter }{d.Memory}
	for _, want := range []bool{true, true, false} {
		got, err := limiter.TryAcquire(context.Background(), plain, []limiter.Charge{{Budget: b, N: 4}})
		if err != nil || got.OK != want || got.Source.String() != "local" {
			t.Fatalf("%+v, %v, want %v", got, err, want)
		}
	}
	d.counts(b, 8, 0)
	if d.OpenCount() != 0 {
		t.Fatalf("%d open", d.OpenCount())
	}
}

func TestManyEntries(t *testing.T) {
	story(t, "a window forgets them all, and starts over", func(d *desk) {
		b := d.Budget("b", window(1000, time.Second, 0))
		for range 3 {
			for range 1000 {
				d.passes(b, 1)
				time.Sleep(time.Microsecond)
			}
			d.waits(b, 1000, time.Second-time.Microsecond)
		}
	})
}

func TestNewestRuleWins(t *testing.T) {
	story(t, "under a finer grain nothing leaves before what came earlier", func(d *desk) {
		b := d.Budget("b", window(2, time.Second, 500*time.Millisecond))
		time.Sleep(100 * time.Millisecond)
		d.passes(b, 1)
		d.Budget("b", window(2, time.Second, 0))
		time.Sleep(100 * time.Millisecond)
		d.passes(b, 1)
		d.waits(b, 2, 1300*time.Millisecond)
		d.passes(b, 2)
	})
	story(t, "what was consumed stays consumed", func(d *desk) {
		for name, rules := range map[string][3]limiter.Rule{
			"bucket":   {bucket(100, 10, time.Hour), bucket(40, 10, time.Minute), bucket(200, 1, time.Hour)},
			"window":   {window(100, time.Hour, 0), window(40, 2*time.Hour, time.Minute), window(200, time.Hour, time.Second)},
			"calendar": {limiter.CalendarQuota{Limit: 100, Period: limiter.Day}, limiter.CalendarQuota{Limit: 40, Period: limiter.Day}, limiter.CalendarQuota{Limit: 200, Period: limiter.Month}},
			"total":    {limiter.Total{Limit: 100}, limiter.Total{Limit: 40}, limiter.Total{Limit: 200}},
		} {
			b := d.Budget(name, rules[0])
			d.passes(b, 50)
			r := d.reserve(b, 20)
			if again := d.Budget(name, rules[1]); again != b || b.Rule() != rules[1] || b.Name() != name {
				t.Fatalf("%s: another handle, or an old rule", name)
			}
			d.counts(b, 50, 20)
			d.refused(b, 1)
			d.Budget(name, rules[2])
			d.passes(b, 130)
			d.settle(r, 5)
			d.counts(b, 185, 0)
		}
	})
	story(t, "another refill keeps the fraction of a unit", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, 3*time.Second))
		d.passes(b, 10)
		time.Sleep(time.Second) // a third of a unit
		d.Budget("b", bucket(10, 1, 7*time.Second))
		d.waits(b, 1, 4_666_666_667) // two thirds of 7 s
	})
	story(t, "and rounds it so as not to make any", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, 3))
		d.passes(b, 10)
		time.Sleep(time.Nanosecond)
		d.Budget("b", bucket(10, 1, 7))
		d.waits(b, 1, 5) // two thirds of 7 ns is 4.67
	})
	story(t, "another kind begins with what counted", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		d.passes(b, 30)
		kept, over := d.reserve(b, 20), d.reserve(b, 10)
		if d.Budget("b", bucket(100, 1, time.Second)) != b {
			t.Fatal("another handle")
		}
		d.counts(b, 60, 0)
		d.settle(kept, 0)
		d.settle(over, 15)
		d.counts(b, 65, 0)
		d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		d.counts(b, 65, 0)
		d.passes(b, 35)
		d.waits(b, 1, 24*time.Hour)
	})
}

func TestInvalidRules(t *testing.T) {
	for name, rule := range map[string]limiter.Rule{
		"no size":            bucket(0, 1, 1),
		"no refill":          bucket(1, 0, 1),
		"negative refill":    bucket(1, -1, 1),
		"no period":          bucket(1, 1, 0),
		"never full":         bucket(math.MaxInt64-1, 1, 2),
		"too large":          bucket(math.MaxInt64, math.MaxInt64, 1),
		"no window limit":    window(0, 1, 0),
		"no window":          window(1, 0, 0),
		"negative grain":     window(1, 1, -1),
		"grain over window":  window(1, 1, 2),
		"window of 100 y":    window(1, 100*365*24*time.Hour, 0),
		"no quota":           limiter.CalendarQuota{Period: limiter.Day},
		"no calendar period": limiter.CalendarQuota{Limit: 1},
		"unknown period":     limiter.CalendarQuota{Limit: 1, Period: limiter.Quarter + 1},
		"negative total":     limiter.Total{Limit: -1},
		"nil":                nil,
		"pointer":            &limiter.Total{Limit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "BUG: ") {
					t.Errorf("did not panic as a bug, but with %q", s)
				}
			}()
			limiter.NewMemory().Budget("b", rule)
		})
	}
}

func TestExtremeRules(t *testing.T) {
	const most = math.MaxInt64 - 1
	story(t, "the largest amounts", func(d *desk) {
		for name, rule := range map[string]limiter.Rule{
			"fast":     bucket(most, math.MaxInt64, 1),
			"slow":     bucket(most, 1, 1),
			"window":   window(most, 1<<61, 1<<61),
			"calendar": limiter.CalendarQuota{Limit: most, Period: limiter.Quarter},
			"total":    limiter.Total{Limit: most},
		} {
			if err := rule.Validate(); err != nil {
				t.Fatal(name, err)
			}
			b := d.Budget(name, rule)
			r := d.reserve(b, most)
			if got := d.refused(b, 1); got.RetryAfter <= 0 {
				t.Fatalf("%s: %+v", name, got)
			}
			if got := d.refused(b, most); got.RetryAfter <= 0 {
				t.Fatalf("%s: %+v", name, got)
			}
			d.settle(r, 1)
			d.passes(b, most-1)
		}
	})
	story(t, "holds that refill has replaced do not add up beyond 64 bits", func(d *desk) {
		b := d.Budget("b", bucket(most, math.MaxInt64, 1))
		r := d.reserve(b, most)
		time.Sleep(time.Nanosecond)
		if _, _, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: b, N: 1}}); err == nil {
			t.Fatal("no error")
		}
		d.cancel(r)
		d.passes(b, most)
	})
}
