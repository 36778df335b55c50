package limitertest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var settlementStories = []story{
	{"in a window, in place", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 8)
		d.advance(30 * time.Second)
		d.counts(b, 0, 8)
		d.settle(r, 3)
		d.counts(b, 3, 0)
		d.passes(b, 7)
		d.waits(b, 1, 30*time.Second)
		d.passes(b, 3)
		d.refused(b, 1)
	}},
	{"after the entry has left the window nothing comes back", func(d *desk) { // E1
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 10)
		d.advance(time.Minute)
		d.passes(b, 10)
		d.settle(r, 0)
		d.counts(b, 10, 0)
		d.refused(b, 1)
	}},
	{"settled just before it leaves, it never makes room twice", func(d *desk) { // E2
		b := d.Budget("b", window(10_000, time.Minute, 0))
		r := d.reserve(b, 10_000)
		d.advance(59 * time.Second)
		d.settle(r, 500)
		d.passes(b, 9_500)
		d.advance(time.Second)
		d.passes(b, 500)
		d.refused(b, 1)
	}},
	{"an overrun that outlived the window counts from now", func(d *desk) { // E4
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 4)
		d.advance(90 * time.Second)
		d.settle(r, 10)
		d.counts(b, 6, 0)
		d.passes(b, 4)
		d.waits(b, 1, time.Minute)
	}},
	{"an overrun in time counts from now, the rest from when it was reserved", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 4)
		d.advance(20 * time.Second)
		d.settle(r, 10)
		d.waits(b, 1, 40*time.Second)
		d.counts(b, 6, 0)
		d.waits(b, 5, 20*time.Second)
	}},
	{"a cancelled entry leaves a fresh window", func(d *desk) { // S3
		b := d.Budget("b", window(10, time.Minute, time.Second))
		fresh := d.state(b)
		first, second := d.reserve(b, 4), d.reserve(b, 6)
		d.advance(10 * time.Second)
		d.cancel(first)
		d.cancel(second)
		d.same("all cancelled", fresh, d.state(b))
	}},
	{"a late refund does not hand out what refill has replaced", func(d *desk) { // E3
		b := d.Budget("b", bucket(1000, 10, time.Second))
		first := d.reserve(b, 1000)
		d.advance(100 * time.Second)
		second := d.reserve(b, 1000)
		d.settle(first, 0)
		d.counts(b, 0, 1000)
		d.refused(b, 1)
		d.settle(second, 400)
		d.counts(b, 400, 0)
	}},
	{"part of the refund is still missing", func(d *desk) {
		b := d.Budget("b", bucket(1000, 10, time.Second))
		r := d.reserve(b, 600)
		d.advance(40 * time.Second) // 400 are back; without r it would have been full all along
		d.passes(b, 100)
		d.settle(r, 0)
		d.counts(b, 100, 0)
	}},
	{"refunds in another order than they were taken", func(d *desk) {
		b := d.Budget("b", bucket(100, 1, time.Second))
		first := d.reserve(b, 60)
		d.advance(50 * time.Second) // 10 are missing, of the first
		second := d.reserve(b, 80)
		d.settle(second, 30) // 50 come back
		d.counts(b, 0, 40)
		d.settle(first, 0)
		d.counts(b, 30, 0)
	}},
	{"an overrun is debt from now", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		r := d.reserve(b, 10)
		d.advance(10 * time.Second)
		d.settle(r, 25)
		d.counts(b, 15, 0)
		d.waits(b, 1, 6*time.Second)
	}},
	{"held is not spent", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 4)
		r := d.reserve(b, 5)
		if got := d.refused(b, 6); !got.HeldOnly || got.RetryAfter != 5*time.Second {
			d.Fatalf("only held: %+v", got)
		}
		if got := d.refused(b, 7); got.HeldOnly {
			d.Fatalf("used as well: %+v", got)
		}
		d.settle(r, 0)
		d.passes(b, 6)
	}},
	{"rotation between reserve and settle", func(d *desk) { // E7
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)))
		b := d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		r, over := d.reserve(b, 60), d.reserve(b, 40)
		d.advance(24 * time.Hour)
		d.counts(b, 0, 0)
		d.passes(b, 50)
		d.settle(r, 10)
		d.counts(b, 50, 0)
		d.settle(over, 45) // five more than reserved, and used today
		d.counts(b, 55, 0)
		if s := d.state(b); s.Open != 0 {
			d.Fatalf("still open: %+v", s)
		}
	}},
	{"within the calendar period", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)))
		b := d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		r := d.reserve(b, 60)
		d.advance(23 * time.Hour)
		if got := d.refused(b, 50); !got.HeldOnly || got.RetryAfter != time.Hour {
			d.Fatalf("only held: %+v", got)
		}
		d.settle(r, 10)
		d.passes(b, 90)
		d.waits(b, 1, time.Hour)
	}},
	{"in a total, both ways", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		d.settle(d.reserve(b, 60), 10)
		d.counts(b, 10, 0)
		d.settle(d.reserve(b, 60), 95)
		d.counts(b, 105, 0)
		if got := d.refused(b, 1); got.HeldOnly || got.RetryAfter != limiter.Never {
			d.Fatalf("overrun: %+v", got)
		}
	}},
	{"the first end wins", func(d *desk) { // S1, E5
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			r := d.reserve(b, 6)
			d.settle(r, 1)
			before := d.state(b)
			d.settle(r, 6)
			d.cancel(r)
			d.settle(r, 1)
			d.same(name+" settled", before, d.state(b))
			r = d.reserve(b, 6)
			d.cancel(r)
			d.settle(r, 6)
			d.cancel(r)
			d.same(name+" cancelled", before, d.state(b))
		}
	}},
	{"from many goroutines, once", func(d *desk) { // S1, E5
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			other := d.Budget("other "+name, rule)
			d.inc(other, 3)
			for range 20 {
				r := d.reserveAll(limiter.Charge{Budget: b, N: 10}, limiter.Charge{Budget: other, N: 2})
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(func() { _ = r.Settle(context.Background(), []int64{0, 0}) })
					wg.Go(func() { _ = r.Cancel(context.Background()) })
				}
				wg.Wait()
			}
			d.counts(b, 0, 0)
			if s := d.state(other); s.Held != 0 || s.Open != 0 || s.Used > 3 {
				d.Fatalf("%s: %+v", name, s)
			}
		}
	}},
	{"misuse leaves it open", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 100})
		r := d.reserve(b, 50)
		for _, actual := range [][]int64{nil, {1, 2}, {-1}} {
			d.misuse(fmt.Sprint("settle at ", actual), r.Settle(context.Background(), actual))
		}
		d.counts(b, 0, 50)
		d.settle(r, 20)
		d.counts(b, 20, 0)
	}},
	{"a refused reservation is nil and ends without harm", func(d *desk) {
		r, got, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: d.Budget("b", limiter.Total{Limit: 1}), N: 2}})
		if r != nil || got.OK || err != nil {
			d.Fatal(r, got, err)
		}
		d.cancel(r)
		d.settle(r)
	}},
	{"a charge of nothing can be settled at something", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.settle(d.reserve(b, 0), 12)
		d.counts(b, 12, 0)
	}},
	{"every charge of a call, each as it is", func(d *desk) {
		total, slots, tokens := d.Budget("total", limiter.Total{Limit: 100}), d.Budget("slots", limiter.AtOnce{Limit: 1}), d.Budget("tokens", bucket(100, 1, time.Hour))
		r := d.reserveAll(limiter.Charge{Budget: tokens, N: 50}, limiter.Charge{Budget: slots, N: 1}, limiter.Charge{Budget: total, N: 60})
		d.settle(r, 70, 1, 20)
		d.counts(tokens, 70, 0)
		d.counts(slots, 0, 0)
		d.counts(total, 20, 0)
	}},
}
