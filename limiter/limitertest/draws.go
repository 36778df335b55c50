package limitertest

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var drawStories = []story{
	{"more for a running call, held like the rest", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			r := d.reserve(b, 4)
			d.draws(r, b, 3)
			d.draws(r, b, 2)
			if s := d.state(b); s.Held != 9 || s.Used != 0 || s.Remaining != 1 || s.Open != 1 {
				d.Fatalf("%s: %+v", name, s)
			}
			if got := d.draw(r, limiter.Charge{Budget: b, N: 2}); got.OK || got.Refused != 0 || !got.HeldOnly {
				d.Fatalf("%s: %+v", name, got)
			}
			d.draw(r, limiter.Charge{Budget: b}) // it need not wait
			d.draws(r, b, 1)
			d.cancel(r)
			if s := d.state(b); s.Held != 0 || s.Used != 0 || s.Remaining != 10 || s.Open != 0 {
				d.Fatalf("%s cancelled: %+v", name, s)
			}
		}
	}},
	{"the state after a draw", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 2)
		r := d.reserve(b, 3)
		more := []limiter.Charge{{Budget: b, N: 4}}
		if got, err := r.Draw(context.Background(), more); !got.OK || err != nil {
			d.Fatal(got, err)
		}
		if s := more[0].State; s != (limiter.State{Limit: 10, Used: 2, Held: 7, Remaining: 1, Open: 1, ResetAfter: 9 * time.Second, LeftAfterWaiting: 9}) {
			d.Fatalf("%+v", s)
		}
	}},
	{"settled together: first what was reserved, then the draws in order", func(d *desk) {
		b := d.Budget("b", window(100, time.Minute, 0))
		start := func() *limiter.Reservation {
			r := d.reserve(b, 5)
			d.advance(10 * time.Second)
			d.draws(r, b, 3)
			d.advance(10 * time.Second)
			d.draws(r, b, 4)
			d.advance(10 * time.Second)
			return r
		}
		for _, c := range []struct{ actual, now, at60, at70, at80, at90 int64 }{
			{0, 0, 0, 0, 0, 0},
			{2, 2, 0, 0, 0, 0},
			{5, 5, 0, 0, 0, 0},
			{6, 6, 1, 0, 0, 0},
			{10, 10, 5, 2, 0, 0},
			{12, 12, 7, 4, 0, 0},
			{15, 15, 10, 7, 3, 0},
		} {
			d.settle(start(), c.actual)
			d.counts(b, c.now, 0)
			d.advance(30 * time.Second)
			d.counts(b, c.at60, 0)
			d.advance(10 * time.Second)
			d.counts(b, c.at70, 0)
			d.advance(10 * time.Second)
			d.counts(b, c.at80, 0)
			d.advance(10 * time.Second)
			d.counts(b, c.at90, 0)
		}
	}},
	{"a draw that was not used comes back only as far as refill has not replaced it", func(d *desk) {
		b := d.Budget("b", bucket(100, 1, time.Second))
		r := d.reserve(b, 50)
		d.advance(30 * time.Second)
		d.draws(r, b, 60) // 80 are missing, 20 of the reservation and all of the draw
		d.advance(40 * time.Second)
		d.passes(b, 10) // 50 are missing
		d.settle(r, 50)
		d.counts(b, 10, 0)
	}},
	{"a draw of another day", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)))
		b := d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		r := d.reserve(b, 60)
		d.advance(24 * time.Hour)
		d.draws(r, b, 30)
		d.counts(b, 0, 30)
		d.settle(r, 70) // all of yesterday's, and ten of today's
		d.counts(b, 10, 0)
	}},
	{"a draw may be larger than what is left of the capacity", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		r := d.reserve(b, 10)
		d.advance(10 * time.Second)
		d.draws(r, b, 10)
		d.settle(r, 20)
		d.counts(b, 10, 0)
	}},
	{"all or none", func(d *desk) { // M1
		wide, tight := d.Budget("wide", limiter.Total{Limit: 100}), d.Budget("tight", window(10, time.Minute, 0))
		r := d.reserveAll(limiter.Charge{Budget: wide, N: 10}, limiter.Charge{Budget: tight, N: 8})
		if got := d.draw(r, limiter.Charge{Budget: wide, N: 5}, limiter.Charge{Budget: tight, N: 3}); got.OK || got.Refused != 1 || got.RetryAfter != time.Minute {
			d.Fatalf("%+v", got)
		}
		d.counts(wide, 0, 10)
		d.counts(tight, 0, 8)
		if got := d.draw(r, limiter.Charge{Budget: tight, N: 2}, limiter.Charge{Budget: wide, N: 5}); !got.OK {
			d.Fatalf("%+v", got)
		}
		d.counts(wide, 0, 15)
		d.counts(tight, 0, 10)
		d.settle(r, 15, 10)
		d.counts(wide, 15, 0)
		d.counts(tight, 10, 0)
	}},
	{"slots are drawn, too", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 3})
		r := d.reserve(b, 1)
		d.draws(r, b, 2)
		d.full(d.refused(b, 1), 0)
		d.full(d.draw(r, limiter.Charge{Budget: b, N: 1}), 0)
		d.settle(r, 7)
		d.counts(b, 0, 0)
	}},
	{"on a budget that was charged nothing", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		r := d.reserve(b, 0)
		d.draws(r, b, 4)
		d.counts(b, 0, 4)
		d.settle(r, 1)
		d.counts(b, 1, 0)
	}},
	{"more than the capacity is refused for ever", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		r := d.reserve(b, 1)
		d.drawWaits(r, b, 11, limiter.Never)
		if got := d.draw(r, limiter.Charge{Budget: b, N: 11}); !got.TooBig {
			d.Fatalf("%+v", got)
		}
		d.passes(b, 9) // and keeps no turn
	}},
	{"misuse is an error and changes nothing", func(d *desk) {
		b, other := d.Budget("b", limiter.Total{Limit: 10}), d.Budget("other", limiter.Total{Limit: 10})
		foreign := d.h.New(d).Budget("b", limiter.Total{Limit: 10})
		r := d.reserve(b, 1)
		for what, more := range map[string][]limiter.Charge{
			"negative":     {{Budget: b, N: -1}},
			"twice":        {{Budget: b, N: 1}, {Budget: b, N: 1}},
			"not reserved": {{Budget: b, N: 1}, {Budget: other, N: 1}},
			"foreign":      {{Budget: foreign, N: 1}},
			"no budget":    {{N: 1}},
		} {
			_, err := r.Draw(context.Background(), more)
			d.misuse(what, err)
		}
		d.counts(b, 0, 1)
		d.counts(other, 0, 0)
	}},
	{"after the end it is an error", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		settled, cancelled := d.reserve(b, 1), d.reserve(b, 1)
		d.settle(settled, 1)
		d.cancel(cancelled)
		for what, r := range map[string]*limiter.Reservation{"settled": settled, "cancelled": cancelled, "refused": nil} {
			for _, n := range []int64{0, 1} {
				_, err := r.Draw(context.Background(), []limiter.Charge{{Budget: b, N: n}})
				d.misuse("draw on a reservation that was "+what, err)
			}
		}
		d.counts(b, 1, 0)
	}},
}
