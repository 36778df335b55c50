package limitertest

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var windowStories = []story{
	{"exact boundary, two of two", func(d *desk) {
		b := d.Budget("b", window(2, time.Second, 0))
		d.passes(b, 1)
		d.passes(b, 1)
		d.waits(b, 1, time.Second)
		d.passes(b, 2)
		d.refused(b, 1)
	}},
	{"what comes within a grain leaves together, a window after the grain", func(d *desk) {
		b := d.Budget("b", window(6, time.Second, 100*time.Millisecond))
		d.passes(b, 3)
		got := d.state(b).ResetAfter // late by at most a grain, never early
		if got <= time.Second-d.h.Tick || got > 1100*time.Millisecond {
			d.Fatalf("counts for %v", got)
		}
		d.waits(b, 6, got)
		d.passes(b, 6)
	}},
	{"the wait covers as many entries as it takes", func(d *desk) {
		b := d.Budget("b", window(5, time.Second, 0))
		for range 5 {
			d.passes(b, 1)
			d.advance(100 * time.Millisecond)
		}
		d.told(b, 1, 500*time.Millisecond)
		d.told(b, 5, 900*time.Millisecond)
		d.waits(b, 3, 700*time.Millisecond)
	}},
	{"a refusal says what will be left after waiting", func(d *desk) {
		b := d.Budget("b", window(5, time.Second, 0))
		d.inc(b, 3)
		d.advance(500 * time.Millisecond)
		d.inc(b, 4)
		got, s := d.take(b, 1)
		if got.OK || got.RetryAfter != 500*time.Millisecond || s.LeftAfterWaiting != 4 || s.Used != 7 || s.Remaining != 0 {
			d.Fatalf("%+v, %+v: want a wait of 500ms and 4 left after it", got, s)
		}
	}},
	{"a greedy caller gets the whole rate and no more", func(d *desk) {
		b := d.Budget("b", window(10, time.Second, 0))
		admitted := 0
		for range 2000 {
			if got, _ := d.take(b, 1); got.OK {
				admitted++
			}
			d.advance(time.Millisecond)
		}
		if admitted != 20 {
			d.Fatalf("%d admitted in 2 s at 10 a second", admitted)
		}
	}},
	{"as new after a window without traffic", func(d *desk) { // W4
		for name, grain := range map[string]time.Duration{"fine": 0, "coarse": 300 * time.Millisecond} {
			b := d.Budget(name, window(10, time.Second, grain))
			fresh := d.state(b)
			for range 7 {
				d.passes(b, 1)
				d.advance(90 * time.Millisecond)
			}
			d.advance(time.Second + grain)
			d.same("an idle window", fresh, d.state(b))
		}
	}},
}

var totalStories = []story{
	{"is spent once", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		r := d.reserve(b, 8)
		if got := d.refused(b, 3); got.RetryAfter != limiter.Never || !got.HeldOnly || got.TooBig {
			d.Fatalf("held, not spent: %+v", got)
		}
		d.settle(r, 8)
		d.advance(1000 * time.Hour)
		if got := d.refused(b, 3); got.RetryAfter != limiter.Never || got.HeldOnly || got.TooBig {
			d.Fatalf("spent: %+v", got)
		}
		d.passes(b, 2)
		if s := d.state(b); s != (limiter.State{Limit: 10, Used: 10, LeftAfterWaiting: 10}) {
			d.Fatalf("used up: %+v", s)
		}
	}},
}
