package limiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func (d *desk) correct(b *limiter.Budget, age time.Duration, delta int64) {
	d.Helper()
	if err := d.Correct(b, time.Now().Round(0).Add(-age), delta); err != nil {
		d.Fatal(err)
	}
}

func TestCorrect(t *testing.T) {
	const most = math.MaxInt64 - 1
	story(t, "a calendar quota in its period", func(d *desk) { // it is midnight
		b := d.Budget("b", limiter.CalendarQuota{Limit: 10, Period: limiter.Day})
		d.passes(b, 6)
		time.Sleep(time.Hour)
		d.correct(b, time.Hour, -2)
		d.counts(b, 4, 0)
		d.correct(b, time.Hour+1, -2) // the day before
		d.correct(b, 1<<62, 5)
		d.counts(b, 4, 0)
		d.correct(b, -time.Hour, 7) // yet to come
		d.counts(b, 11, 0)
		d.waits(b, 1, 23*time.Hour)
		d.correct(b, 0, 5) // the day is over, though nobody has asked for the new one
		d.correct(b, 1, 7)
		d.counts(b, 5, 0)
	})
	story(t, "a total at any time", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		d.passes(b, 6)
		d.correct(b, 1<<62, -2)
		d.correct(b, -time.Hour, 3)
		d.counts(b, 7, 0)
	})
	story(t, "a window, at the grain of the time", func(d *desk) {
		b := d.Budget("b", window(100, time.Minute, 10*time.Second))
		d.passes(b, 6)
		time.Sleep(15 * time.Second)
		r := d.reserve(b, 5)
		d.passes(b, 7)
		time.Sleep(15 * time.Second) // 30 s
		d.correct(b, 30*time.Second, -4)
		d.correct(b, 15*time.Second, -3)
		d.counts(b, 6, 5)
		time.Sleep(40 * time.Second) // 70 s: the first has left
		d.counts(b, 4, 5)
		d.correct(b, 70*time.Second, -2)
		d.correct(b, 70*time.Second, 2)
		d.counts(b, 4, 5)
		d.settle(r, 1)
		d.counts(b, 5, 0)
		d.correct(b, 20*time.Second, 8) // where nothing was
		d.correct(b, 21*time.Second, 1)
		d.correct(b, 35*time.Second, 1)
		d.counts(b, 15, 0)
		time.Sleep(10 * time.Second) // 80 s
		d.counts(b, 10, 0)
		time.Sleep(20 * time.Second) // 100 s
		d.counts(b, 9, 0)
		time.Sleep(10*time.Second - 1)
		d.counts(b, 9, 0)
		time.Sleep(10*time.Second + 1)
		d.counts(b, 0, 0)
	})
	story(t, "a window never below what is held, nor by what another time was charged if it can be told", func(d *desk) {
		b := d.Budget("b", window(100, time.Minute, time.Second))
		d.passes(b, 3)
		time.Sleep(10 * time.Second)
		r := d.reserve(b, 9)
		d.correct(b, 0, -5) // more than there is of that time: off the oldest
		d.counts(b, 0, 9)
		d.correct(b, 0, math.MinInt64)
		d.counts(b, 0, 9)
		d.settle(r, 9)
		d.counts(b, 9, 0)
	})
	story(t, "to no less than nothing, no more than 64 bits, and not what is held", func(d *desk) {
		for name, rule := range map[string]limiter.Rule{
			"quarter": limiter.CalendarQuota{Limit: 10, Period: limiter.Quarter}, "total": limiter.Total{Limit: 10},
			"window": window(10, time.Hour, time.Second),
		} {
			b := d.Budget(name, rule)
			d.passes(b, 4)
			r := d.reserve(b, 5)
			d.correct(b, 0, math.MinInt64)
			d.counts(b, 0, 5)
			d.passes(b, 1)
			d.correct(b, 0, math.MaxInt64)
			d.counts(b, most-5, 5)
			d.correct(b, 0, math.MaxInt64)
			d.counts(b, most-5, 5)
			d.settle(r, 2)
			d.counts(b, most-3, 0)
			d.correct(b, 0, -(most - 3))
			d.restore(b, ago(0, 3)) // nothing counts any more
		}
	})
	story(t, "and nothing else", func(d *desk) {
		for name, rule := range map[string]limiter.Rule{
			"bucket": bucket(10, 1, time.Second), "calls": limiter.AtOnce{Limit: 10},
		} {
			b := d.Budget(name, rule)
			d.passes(b, 6)
			r := d.reserve(b, 1)
			before := d.state(b)
			d.correct(b, 0, -2)
			d.correct(b, 0, 5)
			if s := d.state(b); s != before {
				d.Fatalf("%s: %+v became %+v", name, before, s)
			}
			d.cancel(r)
		}
	})
	story(t, "a name that was dropped", func(d *desk) {
		f := d.family(limiter.Total{Limit: 10}, 0)
		b := f.Budget("ann")
		f.Sweep()
		d.correct(b, 0, 4)
		d.counts(f.Budget("ann"), 4, 0)
	})
}
