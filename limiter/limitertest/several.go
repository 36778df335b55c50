package limitertest

import (
	"context"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var severalStories = []story{
	{"all or none, whichever of them refuses", func(d *desk) { // M1, B5
		for refuses := range oneOfEach() {
			var charges []limiter.Charge
			var before []limiter.State
			for name, rule := range oneOfEach() {
				b := d.Budget(refuses+" refuses: "+name, rule)
				if name == refuses {
					d.reserve(b, 8)
				} else {
					d.inc(b, 3)
				}
				charges = append(charges, limiter.Charge{Budget: b, N: 4})
				before = append(before, d.state(b))
			}
			ctx := context.Background()
			r, got, err := d.Reserve(ctx, charges)
			if r != nil || got.OK || err != nil || charges[max(0, got.Refused)].Budget.Name() != refuses+" refuses: "+refuses {
				d.Fatalf("%s: %+v, %v, %v", refuses, got, r, err)
			}
			if got, err := limiter.TryAcquire(ctx, d.Limiter, charges); got.OK || err != nil {
				d.Fatalf("%s: %+v, %v", refuses, got, err)
			}
			for i, c := range charges {
				d.same(refuses+" refuses", before[i], d.state(c.Budget))
			}
		}
	}},
	{"all are taken, in any order", func(d *desk) {
		minute, day, total := d.Budget("minute", bucket(10, 1, time.Second)), d.Budget("day", window(100, 24*time.Hour, 0)), d.Budget("total", limiter.Total{Limit: 5})
		charges := []limiter.Charge{{Budget: total, N: 3}, {Budget: minute, N: 10}, {Budget: day, N: 10}}
		for i, want := range []bool{true, false} {
			got, err := limiter.TryAcquire(context.Background(), d.Limiter, charges)
			if err != nil || got.OK != want {
				d.Fatalf("call %d: %+v, %v", i, got, err)
			}
			d.counts(minute, 10, 0)
			d.counts(day, 10, 0)
			d.counts(total, 3, 0)
		}
	}},
	{"budgets are independent", func(d *desk) {
		for kind, rule := range oneOfEach() {
			alice, bob := d.Budget("alice "+kind, rule), d.Budget("bob "+kind, rule)
			d.reserve(alice, 10)
			d.refused(alice, 1)
			d.counts(bob, 0, 0)
			d.reserve(bob, 10)
		}
	}},
	{"the longest wait decides", func(d *desk) {
		short, long, free := d.Budget("short", bucket(5, 1, time.Second)), d.Budget("long", window(5, time.Minute, 0)), d.Budget("free", limiter.Total{Limit: 100})
		charges := []limiter.Charge{{Budget: short, N: 5}, {Budget: free, N: 1}, {Budget: long, N: 5}}
		r := d.reserveAll(charges...)
		if got := d.peek(charges...); got.OK || got.RetryAfter != time.Minute || got.Refused != 2 || !got.HeldOnly || got.AtOnce {
			d.Fatalf("held up: %+v", got)
		}
		d.settle(r, 1, 1, 0)
		if got := d.peek(charges...); got.OK || got.RetryAfter != time.Second || got.Refused != 0 || got.HeldOnly {
			d.Fatalf("one used: %+v", got)
		}
		d.advance(time.Second)
		if got := d.peek(charges...); !got.OK || got.Refused != -1 || got.RetryAfter != 0 {
			d.Fatalf("a second later: %+v", got)
		}
	}},
	{"each refused charge says what will be left when it has waited", func(d *desk) {
		fast, slow := d.Budget("fast", bucket(10, 1, time.Second)), d.Budget("slow", window(10, time.Minute, 0))
		d.passes(fast, 10)
		d.passes(slow, 6)
		d.advance(2 * time.Second)
		d.passes(slow, 4)
		charges := []limiter.Charge{{Budget: fast, N: 5}, {Budget: slow, N: 6}}
		if _, err := d.Peek(context.Background(), charges); err != nil {
			d.Fatal(err)
		}
		if f, s := charges[0].State, charges[1].State; f.LeftAfterWaiting != 5 || f.Used != 8 || s.LeftAfterWaiting != 4 || s.Used != 10 {
			d.Fatalf("fast %+v, slow %+v", f, s)
		}
	}},
	{"what can never pass goes before what is used up", func(d *desk) {
		used, small := d.Budget("used", limiter.Total{Limit: 5}), d.Budget("small", bucket(5, 1, time.Second))
		r := d.reserve(used, 5)
		want := func(charges ...limiter.Charge) {
			d.Helper()
			got := d.peek(charges...)
			if got.OK || got.RetryAfter != limiter.Never || !got.TooBig || got.HeldOnly || charges[got.Refused].Budget != small {
				d.Fatalf("%+v", got)
			}
		}
		want(limiter.Charge{Budget: used, N: 1}, limiter.Charge{Budget: small, N: 6})
		d.settle(r, 5)
		want(limiter.Charge{Budget: small, N: 6}, limiter.Charge{Budget: used, N: 1})
	}},
	{"held only if nothing else is in the way of any charge", func(d *desk) {
		held, spent := d.Budget("held", limiter.Total{Limit: 5}), d.Budget("spent", bucket(5, 1, time.Hour))
		d.reserve(held, 5)
		d.passes(spent, 5)
		if got := d.peek(limiter.Charge{Budget: held, N: 1}, limiter.Charge{Budget: spent, N: 1}); got.HeldOnly || got.RetryAfter != limiter.Never {
			d.Fatalf("held and spent: %+v", got)
		}
		if got := d.peek(limiter.Charge{Budget: held, N: 1}); !got.HeldOnly {
			d.Fatalf("held: %+v", got)
		}
	}},
	{"a dozen in one call", func(d *desk) {
		var charges []limiter.Charge
		var actual []int64
		for i := range int64(12) {
			charges = append(charges, limiter.Charge{Budget: d.Budget(strings.Repeat("b", int(i+1)), limiter.Total{Limit: 100}), N: 50 + i})
			actual = append(actual, 20+i)
		}
		for i, j := 0, len(charges)-1; i < j; i, j = i+2, j-2 {
			charges[i], charges[j] = charges[j], charges[i]
		}
		d.settle(d.reserveAll(charges...), actual...)
		for i, c := range charges {
			d.counts(c.Budget, actual[i], 0)
		}
	}},
	{"no charges at all", func(d *desk) {
		d.settle(d.reserveAll())
		if got := d.peek(); !got.OK || got.Refused != -1 {
			d.Fatalf("%+v", got)
		}
	}},
}
