package limitertest

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// drained returns a bucket of a hundred, ten a second, that is drained, and a
// call that holds forty of it.
func (d *desk) drained(name string) (*limiter.Budget, *limiter.Reservation) {
	d.Helper()
	b := d.Budget(name, bucket(100, 10, time.Second))
	r := d.reserve(b, 40)
	d.passes(b, 60)
	return b, r
}

var turnStories = []story{
	{"a refused draw goes before calls that have not begun", func(d *desk) {
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.advance(4 * time.Second) // 40 are there, and spoken for
		d.remains(b, 0)
		d.told(b, 1, 1100*time.Millisecond)
		d.drawWaits(r, b, 50, time.Second)
		d.advance(time.Second)
		d.told(b, 1, 100*time.Millisecond)
		d.draws(r, b, 50)
		d.waits(b, 1, 100*time.Millisecond) // as it was told
		d.passes(b, 1)
	}},
	{"what it leaves can be taken", func(d *desk) {
		full, other := d.Budget("full", window(100, time.Minute, 0)), d.Budget("other", window(100, time.Minute, 0))
		r := d.reserveAll(limiter.Charge{Budget: full, N: 60}, limiter.Charge{Budget: other, N: 60})
		if got := d.draw(r, limiter.Charge{Budget: other, N: 30}, limiter.Charge{Budget: full, N: 50}); got.OK || got.Refused != 1 || got.RetryAfter != time.Minute {
			d.Fatalf("%+v", got)
		}
		d.remains(full, 0)
		d.refused(full, 1)
		d.remains(other, 10) // kept free there, too
		d.refused(other, 11)
		d.passes(other, 10)
		d.refused(other, 1)
	}},
	{"what new callers are told", func(d *desk) {
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.told(b, 5, 5500*time.Millisecond) // beside it
		d.told(b, 10, 6*time.Second)
		d.told(b, 30, 6*time.Second) // after it has lapsed
		d.told(b, 60, 6*time.Second)
		d.told(b, 70, 7*time.Second)
		if got := d.refused(b, 40); !got.HeldOnly { // 60 are used
			d.Fatalf("the call may give it all back, and its turn: %+v", got)
		}
		if got := d.refused(b, 41); got.HeldOnly {
			d.Fatalf("not that much: %+v", got)
		}
	}},
	{"it lapses a second after the instant it was told", func(d *desk) {
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.advance(6*time.Second - d.h.Tick)
		d.refused(b, 10)
		d.remains(b, max(0, 60-50-1))
		d.advance(d.h.Tick)
		d.remains(b, 60)
		d.passes(b, 60)
		d.drawWaits(r, b, 50, 5*time.Second) // at the end of the line
	}},
	{"later draws wait behind it", func(d *desk) {
		b, older := d.drained("b")
		younger := d.reserve(b, 0)
		d.drawWaits(older, b, 50, 5*time.Second)
		d.drawWaits(younger, b, 5, 5500*time.Millisecond)
		d.advance(time.Second) // 10 are there
		d.drawWaits(younger, b, 5, 4500*time.Millisecond)
		d.drawWaits(older, b, 50, 4*time.Second) // does not wait for the younger
		d.advance(4 * time.Second)
		d.drawWaits(younger, b, 5, 500*time.Millisecond)
		d.draws(older, b, 50)
		d.drawWaits(younger, b, 5, 500*time.Millisecond)
		d.told(b, 1, 600*time.Millisecond) // a new call goes last
		d.advance(500 * time.Millisecond)
		d.draws(younger, b, 5)
		d.waits(b, 1, 100*time.Millisecond)
	}},
	{"drawing again keeps the place with the new amount", func(d *desk) {
		b, older := d.drained("b")
		younger := d.reserve(b, 0)
		d.drawWaits(older, b, 10, time.Second)
		d.drawWaits(younger, b, 10, 2*time.Second)
		d.drawWaits(older, b, 30, 3*time.Second)
		d.drawWaits(younger, b, 10, 4*time.Second)
		d.drawWaits(older, b, 10, time.Second)
		d.drawWaits(younger, b, 10, 2*time.Second)
		d.advance(time.Second)
		d.draws(older, b, 10)
		d.advance(time.Second)
		d.draws(younger, b, 10)
	}},
	{"a draw of zeros gives the turn up", func(d *desk) {
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.advance(time.Second)
		d.refused(b, 10)
		d.draws(r, b, 0)
		d.remains(b, 10)
		d.passes(b, 10)
	}},
	{"the end of the call gives it up", func(d *desk) {
		for name, end := range map[string]func(*limiter.Reservation){
			"settled":   func(r *limiter.Reservation) { d.settle(r, 40) },
			"overrun":   func(r *limiter.Reservation) { d.settle(r, 45) },
			"cancelled": d.cancel,
		} {
			b, r := d.drained(name)
			d.drawWaits(r, b, 50, 5*time.Second)
			d.advance(time.Second)
			end(r)
			s := d.state(b)
			if want := s.Limit - s.Used; s.Remaining != want || want == 0 {
				d.Fatalf("%s: %+v", name, s)
			}
			d.passes(b, s.Remaining)
		}
	}},
	{"drawing on another budget gives it up, whether it passes or not", func(d *desk) {
		for name, n := range map[string]int64{"passes": 10, "is refused": 101, "waits": 100} {
			b, _ := d.drained("b, other " + name)
			other := d.Budget("other "+name, bucket(100, 1, time.Second))
			r := d.reserveAll(limiter.Charge{Budget: b}, limiter.Charge{Budget: other, N: 1})
			d.drawWaits(r, b, 50, 5*time.Second)
			d.advance(500 * time.Millisecond)
			d.refused(b, 5)
			d.draw(r, limiter.Charge{Budget: other, N: n})
			d.passes(b, 5)
		}
	}},
	{"the place is that of the call, whatever it draws on", func(d *desk) {
		a, _ := d.drained("a")
		b, _ := d.drained("b")
		both := []limiter.Charge{{Budget: a}, {Budget: b}}
		older, younger := d.reserveAll(both...), d.reserveAll(both...)
		d.drawWaits(older, a, 10, time.Second)
		d.drawWaits(younger, b, 10, time.Second)
		both[0].N, both[1].N = 10, 10
		if got := d.draw(older, both...); got.OK || got.RetryAfter != time.Second {
			d.Fatalf("older: %+v", got)
		}
		if got := d.draw(younger, both...); got.OK || got.RetryAfter != 2*time.Second {
			d.Fatalf("younger: %+v", got)
		}
		d.advance(time.Second)
		if got := d.draw(older, both...); !got.OK {
			d.Fatalf("older: %+v", got)
		}
	}},
	{"what time will not let pass has no turn", func(d *desk) {
		b := d.Budget("total", limiter.Total{Limit: 10})
		r := d.reserve(b, 4)
		d.drawWaits(r, b, 7, limiter.Never)
		d.remains(b, 6)
		d.passes(b, 6)
		slots, tokens := d.Budget("slots", limiter.AtOnce{Limit: 1}), d.Budget("tokens", bucket(10, 1, time.Second))
		r = d.reserveAll(limiter.Charge{Budget: slots, N: 1}, limiter.Charge{Budget: tokens, N: 5})
		if got := d.draw(r, limiter.Charge{Budget: slots, N: 1}, limiter.Charge{Budget: tokens, N: 6}); got.OK || !got.AtOnce || got.RetryAfter != time.Second || got.Refused != 1 {
			d.Fatalf("%+v", got)
		}
		d.remains(tokens, 5)
		d.passes(tokens, 5)
	}},
	{"a newer rule that can never hold it takes the turn", func(d *desk) {
		for name, newer := range map[string]limiter.Rule{
			"smaller":      bucket(45, 10, time.Second),
			"another kind": window(45, time.Second, 0),
		} {
			b, r := d.drained(name)
			d.drawWaits(r, b, 50, 5*time.Second)
			d.Budget(name, newer)
			d.advance(5600 * time.Millisecond) // before it lapses
			d.passes(b, 1)
		}
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.Budget("b", bucket(45, 10, time.Second))
		d.Budget("b", bucket(100, 10, time.Second))
		d.advance(time.Second)
		d.passes(b, 10)
	}},
	{"what is counted without asking is counted, and the draw waits longer", func(d *desk) {
		b, r := d.drained("b")
		d.drawWaits(r, b, 50, 5*time.Second)
		d.inc(b, 10)
		d.counts(b, 70, 40)
		d.drawWaits(r, b, 50, 6*time.Second)
		d.told(b, 60, 7*time.Second)
	}},
	{"a refused call that has not begun has none", func(d *desk) {
		b, _ := d.drained("b")
		d.refused(b, 50)
		d.advance(time.Second)
		d.remains(b, 10)
		d.passes(b, 10)
	}},
}
