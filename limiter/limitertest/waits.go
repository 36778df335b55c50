package limitertest

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var waitStories = []story{
	{"waiting exactly so long is enough, a tick less is not", func(d *desk) { // R1
		for name, rule := range map[string]limiter.Rule{
			"bucket":        bucket(10, 7, time.Second),
			"slow bucket":   bucket(10, 1, time.Minute),
			"window":        window(10, time.Second, 0),
			"coarse window": window(10, time.Second, 70*time.Millisecond),
			"calendar":      limiter.CalendarQuota{Limit: 10, Period: limiter.Hour},
		} {
			b := d.Budget(name, rule)
			for n := int64(1); n <= 10; n += 3 {
				d.inc(b, 4)
				d.advance(130 * time.Millisecond)
				d.inc(b, 9)
				got := d.refused(b, n)
				if got.RetryAfter <= 0 || got.RetryAfter == limiter.Never { // R2
					d.Fatalf("%s: %+v", name, got)
				}
				d.waits(b, n, got.RetryAfter)
				d.passes(b, n)
			}
		}
	}},
	{"other traffic moves the instant later, never earlier", func(d *desk) { // R3
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 10)
		d.told(b, 2, 2*time.Second)
		d.advance(time.Second)
		d.passes(b, 1)
		d.told(b, 2, 2*time.Second)
		d.inc(b, 1)
		d.told(b, 2, 3*time.Second)
	}},
	{"settling moves it earlier, never later", func(d *desk) { // R3
		b := d.Budget("b", window(10, time.Minute, 0))
		r := d.reserve(b, 4)
		d.advance(time.Second)
		late := d.reserve(b, 6)
		d.told(b, 5, time.Minute)
		d.settle(late, 5)
		d.told(b, 5, 59*time.Second)
		d.settle(r, 0)
		d.passes(b, 5)
	}},
}
