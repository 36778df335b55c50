package limitertest

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// full wants a call refused because others are under way and for no other
// reason: the wait is a guess.
func (d *desk) full(got limiter.Decision, refused int) {
	d.Helper()
	if got.OK || !got.AtOnce || !got.HeldOnly || got.Refused != refused || got.RetryAfter < time.Second || got.RetryAfter > 15*time.Second {
		d.Fatalf("too many at once: %+v", got)
	}
}

var atOnceStories = []story{
	{"two slots, freed by the end of a call", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 2})
		first := d.reserve(b, 1)
		second := d.reserve(b, 1)
		d.full(d.refused(b, 1), 0)
		d.counts(b, 0, 2)
		d.advance(time.Hour) // frees nothing
		d.full(d.refused(b, 1), 0)
		d.settle(first, 1)
		d.counts(b, 0, 1)
		third := d.reserve(b, 1)
		d.full(d.refused(b, 1), 0)
		d.cancel(second)
		d.settle(third, 0)
		if s := d.state(b); s != (limiter.State{Limit: 2, Remaining: 2}) {
			d.Fatalf("nobody there: %+v", s)
		}
	}},
	{"nothing stays, whatever the actual amount", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 3})
		for _, actual := range []int64{0, 1, 2, 3, 1000} {
			d.settle(d.reserve(b, 2), actual)
			d.counts(b, 0, 0)
		}
		d.reserve(b, 3)
	}},
	{"held is told apart, and nothing is used", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 5})
		d.reserve(b, 2)
		d.reserve(b, 1)
		if s := d.state(b); s != (limiter.State{Limit: 5, Held: 3, Remaining: 2, Open: 2, LeftAfterWaiting: 3}) {
			d.Fatalf("two calls: %+v", s)
		}
	}},
	{"an exact charge only asks", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 2})
		for range 5 {
			d.passes(b, 2)
			if ok, err := b.TryAcquire(context.Background(), 2); !ok || err != nil {
				d.Fatal(ok, err)
			}
		}
		d.reserve(b, 1)
		d.passes(b, 1)
		d.full(d.refused(b, 2), 0)
		if ok, err := b.TryAcquire(context.Background(), 2); ok || err != nil {
			d.Fatal(ok, err)
		}
	}},
	{"inc counts nothing", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 2})
		d.inc(b, 100)
		d.counts(b, 0, 0)
		d.passes(b, 2)
	}},
	{"more than there ever is", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 2})
		d.reserve(b, 1)
		if got := d.refused(b, 3); got.AtOnce || got.HeldOnly || !got.TooBig || got.RetryAfter != limiter.Never {
			d.Fatalf("never: %+v", got)
		}
	}},
	{"left out of the wait when something else refuses", func(d *desk) {
		slots, tokens := d.Budget("slots", limiter.AtOnce{Limit: 1}), d.Budget("tokens", bucket(10, 1, 100*time.Millisecond))
		r := d.reserveAll(limiter.Charge{Budget: slots, N: 1}, limiter.Charge{Budget: tokens, N: 10})
		call := []limiter.Charge{{Budget: slots, N: 1}, {Budget: tokens, N: 2}}
		if got := d.peek(call...); got.OK || !got.AtOnce || got.Refused != 1 || got.RetryAfter != 200*time.Millisecond || !got.HeldOnly {
			d.Fatalf("both: %+v", got)
		}
		d.advance(200 * time.Millisecond)
		d.full(d.peek(call...), 0)
		d.settle(r, 1, 10)
		if got := d.peek(call...); !got.OK {
			d.Fatalf("free: %+v", got)
		}
	}},
	{"what is spent for ever goes before it", func(d *desk) {
		slots, total := d.Budget("slots", limiter.AtOnce{Limit: 1}), d.Budget("total", limiter.Total{Limit: 5})
		d.reserve(slots, 1)
		d.passes(total, 5)
		if got := d.peek(limiter.Charge{Budget: slots, N: 1}, limiter.Charge{Budget: total, N: 1}); !got.AtOnce || got.Refused != 1 || got.RetryAfter != limiter.Never || got.HeldOnly || got.TooBig {
			d.Fatalf("spent and full: %+v", got)
		}
	}},
	{"a smaller limit frees nothing, a larger one at once", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 3})
		first, _, _ := d.reserve(b, 1), d.reserve(b, 1), d.reserve(b, 1)
		d.Budget("b", limiter.AtOnce{Limit: 2})
		d.counts(b, 0, 3)
		d.settle(first, 1)
		d.full(d.refused(b, 1), 0)
		d.Budget("b", limiter.AtOnce{Limit: 4})
		d.remains(b, 2)
	}},
}
