package limiter_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestWindowSettlement(t *testing.T) {
	story(t, "in place", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 8)
		time.Sleep(30 * time.Second)
		d.counts(b, 0, 8)
		d.settle(r, 3)
		d.counts(b, 3, 0)
		d.passes(b, 7)
		d.waits(b, 1, 30*time.Second)
	})
	story(t, "after the entry has left, nothing comes back", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 10)
		time.Sleep(time.Minute)
		d.passes(b, 10)
		d.settle(r, 0)
		d.counts(b, 10, 0)
		d.refused(b, 1)
	})
	story(t, "settled just before it leaves, it never makes room twice", func(d *desk) {
		b := d.Budget("b", window(10_000, time.Minute, 0))
		r := d.reserve(b, 10_000)
		time.Sleep(59 * time.Second)
		d.settle(r, 500)
		d.passes(b, 9_500)
		time.Sleep(time.Second)
		d.passes(b, 500)
		d.refused(b, 1)
	})
	story(t, "an overrun that outlived the window counts from now", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 4)
		time.Sleep(90 * time.Second)
		d.settle(r, 10)
		d.counts(b, 6, 0)
		d.passes(b, 4)
		d.waits(b, 1, time.Minute)
	})
	story(t, "a cancelled entry leaves a fresh window", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, time.Second))
		fresh := d.state(b)
		first, second := d.reserve(b, 4), d.reserve(b, 6)
		time.Sleep(10 * time.Second)
		d.cancel(first)
		d.cancel(second)
		if diff := cmp.Diff(fresh, d.state(b)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBucketSettlement(t *testing.T) {
	story(t, "a late refund does not hand out what refill has replaced", func(d *desk) {
		b := d.Budget("b", bucket(1000, 10, time.Second))
		first := d.reserve(b, 1000)
		time.Sleep(100 * time.Second)
		second := d.reserve(b, 1000)
		d.settle(first, 0)
		d.counts(b, 0, 1000)
		d.refused(b, 1)
		d.settle(second, 400)
		d.counts(b, 400, 0)
	})
	story(t, "part of the refund is still missing", func(d *desk) {
		b := d.Budget("b", bucket(1000, 10, time.Second))
		r := d.reserve(b, 600)
		time.Sleep(40 * time.Second) // 400 are back; without r it would have been full all along
		d.passes(b, 100)
		d.settle(r, 0)
		d.counts(b, 100, 0)
	})
	story(t, "an overrun is debt from now", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		r := d.reserve(b, 10)
		time.Sleep(10 * time.Second)
		d.settle(r, 25)
		d.counts(b, 15, 0)
		d.waits(b, 1, 6*time.Second)
	})
	story(t, "holds are told apart from what is used", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 4)
		r := d.reserve(b, 5)
		want := limiter.State{Limit: 10, Used: 4, Held: 5, Remaining: 1, Open: 1, ResetAfter: 9 * time.Second, LeftAfterWaiting: 9}
		if diff := cmp.Diff(want, d.state(b)); diff != "" {
			t.Fatal(diff)
		}
		if got := d.refused(b, 6); !got.HeldOnly || got.RetryAfter != 5*time.Second {
			t.Fatalf("only held: %+v", got)
		}
		if got := d.refused(b, 7); got.HeldOnly {
			t.Fatalf("used as well: %+v", got)
		}
		d.settle(r, 0)
		d.passes(b, 6)
	})
}

func TestCalendarSettlement(t *testing.T) {
	story(t, "rotation between reserve and settle", func(d *desk) {
		b := d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		r, over := d.reserve(b, 60), d.reserve(b, 40)
		time.Sleep(24 * time.Hour)
		d.counts(b, 0, 0)
		d.passes(b, 50)
		d.settle(r, 10)
		d.counts(b, 50, 0)
		d.settle(over, 45) // five more than reserved, and used today
		d.counts(b, 55, 0)
		if s := d.state(b); s.Open != 0 || d.OpenCount() != 0 {
			t.Fatalf("still open: %+v", s)
		}
	})
	story(t, "within the period", func(d *desk) {
		b := d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		r := d.reserve(b, 60)
		time.Sleep(23 * time.Hour)
		if got := d.refused(b, 50); !got.HeldOnly || got.RetryAfter != time.Hour {
			t.Fatalf("only held: %+v", got)
		}
		d.settle(r, 10)
		d.passes(b, 90)
		d.waits(b, 1, time.Hour)
	})
}

func TestSettleOnce(t *testing.T) {
	story(t, "the first call wins", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		r := d.reserve(b, 60)
		d.settle(r, 10)
		d.settle(r, 60)
		d.cancel(r)
		d.counts(b, 10, 0)
		r = d.reserve(b, 60)
		d.cancel(r)
		d.settle(r, 60)
		d.counts(b, 10, 0)
	})
	story(t, "from many goroutines", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		for range 100 {
			r := d.reserve(b, 50)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { _ = r.Settle(context.Background(), []int64{0}) })
				wg.Go(func() { _ = r.Cancel(context.Background()) })
			}
			wg.Wait()
		}
		d.counts(b, 0, 0)
		if d.OpenCount() != 0 {
			t.Fatalf("%d open", d.OpenCount())
		}
	})
	story(t, "misuse leaves it open", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		r := d.reserve(b, 50)
		for _, actual := range [][]int64{nil, {1, 2}, {-1}} {
			if err := r.Settle(context.Background(), actual); err == nil {
				t.Fatalf("settled with %v", actual)
			}
		}
		d.counts(b, 0, 50)
		d.settle(r, 20)
		d.counts(b, 20, 0)
	})
	story(t, "a refused reservation is nil and ends without harm", func(d *desk) {
		r, got, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: d.Budget("b", limiter.Total{Limit: 1}), N: 2}})
		if r != nil || got.OK || err != nil {
			t.Fatal(r, got, err)
		}
		d.cancel(r)
		d.settle(r)
	})
	story(t, "a charge of nothing can be settled at something", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.settle(d.reserve(b, 0), 12)
		d.counts(b, 12, 0)
	})
	story(t, "an enormous overrun is cut off, not wrapped", func(d *desk) {
		for name, rule := range map[string]limiter.Rule{
			"bucket": bucket(10, 1, time.Second), "window": window(10, time.Second, 0), "total": limiter.Total{Limit: 10},
			"calendar": limiter.CalendarQuota{Limit: 10, Period: limiter.Day},
		} {
			b := d.Budget(name, rule)
			d.settle(d.reserve(b, 4), math.MaxInt64)
			d.settle(d.reserve(b, 0), math.MaxInt64)
			d.counts(b, math.MaxInt64-1, 0)
			d.refused(b, 1)
		}
	})
}
