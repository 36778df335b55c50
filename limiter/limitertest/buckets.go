package limitertest

import (
	"fmt"
	"time"
)

var bucketStories = []story{
	{"five pass, the sixth does not", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		for range 5 {
			d.passes(b, 1)
		}
		d.waits(b, 1, time.Second)
	}},
	{"drained, one passes 1.1 s later", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		d.passes(b, 5)
		d.advance(1100 * time.Millisecond)
		d.passes(b, 1)
		d.waits(b, 1, 900*time.Millisecond)
	}},
	{"ten, three taken, one back, nine arrive", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 3)
		d.remains(b, 7)
		d.advance(time.Second)
		d.remains(b, 8)
		for range 8 {
			d.passes(b, 1)
		}
		d.waits(b, 1, time.Second)
		d.passes(b, 1)
		d.refused(b, 1)
	}},
	{"a fraction is never spendable as a whole unit, and never lost", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, 3*time.Second))
		d.passes(b, 10)
		for range 5 { // looking, and being refused, every second
			d.advance(time.Second)
			d.remains(b, 0)
			d.told(b, 1, 2*time.Second)
			d.advance(time.Second)
			d.told(b, 1, time.Second)
			d.advance(time.Second)
			d.passes(b, 1)
		}
	}},
	{"a whole burst at every rate, on a clock that stands still", func(d *desk) { // P9
		for rate := int64(1); rate <= 60; rate++ {
			b := d.Budget(fmt.Sprint("burst ", rate), bucket(rate, rate, time.Second))
			for range rate {
				d.passes(b, 1)
			}
			d.refused(b, 1)
		}
	}},
	{"drained, exactly n come back in n / rate", func(d *desk) {
		for rate := int64(1); rate <= 60; rate++ {
			b := d.Budget(fmt.Sprint("drain ", rate), bucket(2*rate, rate, time.Second))
			d.passes(b, 2*rate)
			n := rate/2 + 1
			d.waits(b, n, time.Duration((n*int64(time.Second)+rate-1)/rate))
			d.passes(b, n)
			d.refused(b, 1)
		}
	}},
	{"slow rates refill", func(d *desk) {
		minute := d.Budget("minute", bucket(1, 1, time.Minute))
		d.passes(minute, 1)
		d.waits(minute, 1, time.Minute)
		d.passes(minute, 1)
		month := d.Budget("month", bucket(1, 1, 30*24*time.Hour))
		d.passes(month, 1)
		d.waits(month, 1, 30*24*time.Hour)
		d.passes(month, 1)
	}},
	{"long idle times are counted in full", func(d *desk) {
		wrap := time.Duration(1<<32) / 1000 * 1000 * time.Microsecond // what 32 bits of microseconds hold: 71.58 minutes
		for i, idle := range []time.Duration{wrap - time.Millisecond, wrap, wrap + time.Millisecond, 2 * wrap, 7 * wrap, 24 * time.Hour, 365 * 24 * time.Hour} {
			b := d.Budget(fmt.Sprint("idle ", i), bucket(1000, 1, time.Second))
			d.passes(b, 1000)
			d.advance(idle)
			d.passes(b, 1000)
			d.refused(b, 1)
		}
	}},
	{"never more than full", func(d *desk) { // B2
		b := d.Budget("b", bucket(10, 10, time.Second))
		d.passes(b, 1)
		d.advance(time.Hour)
		d.remains(b, 10)
		d.passes(b, 10)
		d.waits(b, 1, 100*time.Millisecond)
	}},
	{"debt is paid back first", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.inc(b, 25)
		if s := d.state(b); s.Used != 25 || s.Remaining != 0 || d.h.ticks(s.ResetAfter) != 25*time.Second {
			d.Fatalf("in debt: %+v", s)
		}
		d.waits(b, 1, 16*time.Second)
		d.passes(b, 1)
		d.waits(b, 10, 10*time.Second)
	}},
	{"a bucket that starts empty", func(d *desk) {
		rule := bucket(10, 1, time.Second)
		rule.StartEmpty = true
		d.advance(time.Hour) // before it is there: does not count
		b := d.Budget("b", rule)
		if s := d.state(b); s.Remaining != 0 || s.Limit != 10 || d.h.ticks(s.ResetAfter) != 10*time.Second {
			d.Fatalf("at the start: %+v", s)
		}
		d.waits(b, 3, 3*time.Second)
		d.passes(b, 3)
		d.refused(b, 1)
		d.advance(time.Hour)
		d.passes(b, 10)
		d.refused(b, 1)
	}},
	{"twice the rate: half is refused", func(d *desk) {
		b := d.Budget("b", bucket(10, 100, time.Second))
		refused := 0
		for range 600 {
			if got, _ := d.take(b, 1); !got.OK {
				refused++
			}
			d.advance(5 * time.Millisecond)
		}
		if refused < 285 || refused > 295 { // the burst makes up for ten
			d.Fatalf("%d of 600 refused at twice the rate", refused)
		}
	}},
}
