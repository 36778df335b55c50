package limitertest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// takesItself reports whether TryAcquire is the limiter's own. If it is made of
// Reserve and Settle, it describes its charges as they were in between.
func takesItself(l limiter.Limiter) bool {
	_, ok := l.(interface {
		TryAcquire(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error)
	})
	return ok
}

// misuse wants an error that says the caller is at fault, not a store.
func (d *desk) misuse(what string, err error) {
	d.Helper()
	if !errors.Is(err, limiter.ErrMisuse) {
		d.Errorf("%s: %v, want an error that is limiter.ErrMisuse", what, err)
	}
}

// errs wants such an error of every verb that takes charges.
func (d *desk) errs(what string, charges ...limiter.Charge) {
	d.Helper()
	ctx := context.Background()
	r, _, errReserve := d.Reserve(ctx, charges)
	_, errPeek := d.Peek(ctx, charges)
	_, errTry := limiter.TryAcquire(ctx, d.Limiter, charges)
	for verb, err := range map[string]error{"reserve": errReserve, "peek": errPeek, "try": errTry, "inc": d.Inc(ctx, charges)} {
		d.misuse(verb+" of "+what, err)
	}
	if r != nil {
		d.Errorf("%s: a reservation with an error", what)
	}
}

var verbStories = []story{
	{"zero always passes and changes nothing", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			d.reserve(b, 10)
			d.inc(b, 5)
			before := d.state(b)
			d.passes(b, 0)
			d.inc(b, 0)
			d.cancel(d.reserve(b, 0))
			if ok, err := b.TryAcquire(context.Background(), 0); !ok || err != nil {
				d.Fatal(ok, err)
			}
			d.same(name, before, d.state(b))
		}
	}},
	{"negative is an error and changes nothing", func(d *desk) {
		for name, rule := range oneOfEach() {
			b, other := d.Budget(name, rule), d.Budget("other "+name, rule)
			d.errs("negative", limiter.Charge{Budget: other, N: 1}, limiter.Charge{Budget: b, N: -1})
			ok, err := b.TryAcquire(context.Background(), -1)
			d.misuse("negative, fast, in a "+name, err)
			if ok {
				d.Fatalf("%s: passed", name)
			}
			d.counts(b, 0, 0)
			d.counts(other, 0, 0)
		}
	}},
	{"the same budget twice is an error", func(d *desk) {
		b, other := d.Budget("b", limiter.Total{Limit: 10}), d.Budget("other", limiter.Total{Limit: 10})
		d.errs("twice", limiter.Charge{Budget: b, N: 1}, limiter.Charge{Budget: other, N: 1}, limiter.Charge{Budget: b, N: 1})
		d.errs("twice, for nothing", limiter.Charge{Budget: b}, limiter.Charge{Budget: b})
		d.counts(b, 0, 0)
		d.counts(other, 0, 0)
	}},
	{"a handle of another limiter is an error, and none, too", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		foreign := d.h.New(d).Budget("b", limiter.Total{Limit: 10})
		d.errs("foreign", limiter.Charge{Budget: b, N: 1}, limiter.Charge{Budget: foreign, N: 1})
		d.errs("no budget", limiter.Charge{Budget: b, N: 1}, limiter.Charge{N: 1})
		d.counts(b, 0, 0)
	}},
	{"more than the capacity is refused for ever", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			d.reserve(b, 10)
			if got := d.refused(b, 11); got.RetryAfter != limiter.Never || !got.TooBig || got.HeldOnly || got.AtOnce || got.Refused != 0 {
				d.Fatalf("%s: %+v", name, got)
			}
			d.counts(b, 0, 10)
		}
	}},
	{"the whole capacity is not too much", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			d.cancel(d.reserve(b, 10))
			d.passes(b, 10)
		}
	}},
	{"a refusal changes nothing", func(d *desk) { // B5
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			d.reserve(b, 4)
			before := d.state(b)
			for _, n := range []int64{7, 10, 11} {
				d.refused(b, n)
				if got := d.peek(limiter.Charge{Budget: b, N: n}); got.OK || got.TooBig != (n > 10) {
					d.Fatalf("%s: %+v", name, got)
				}
				if ok, err := b.TryAcquire(context.Background(), n); ok || err != nil {
					d.Fatal(ok, err)
				}
			}
			d.same(name, before, d.state(b))
			d.passes(b, 6)
		}
	}},
	{"peek answers as reserve would and changes nothing", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			for n := int64(0); n <= 11; n++ {
				asked := d.peek(limiter.Charge{Budget: b, N: n})
				d.counts(b, 0, 0)
				r, got, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: b, N: n}})
				if err != nil || got != asked {
					d.Fatalf("%s, %d: %+v, peek said %+v", name, n, got, asked)
				}
				d.cancel(r)
			}
		}
	}},
	{"inc is never refused, and debt is repaid before anything is admitted", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			d.inc(b, 9)
			d.inc(b, 5)
			if name == "at once" {
				d.counts(b, 0, 0)
				continue
			}
			d.counts(b, 14, 0)
			d.remains(b, 0)
			if got := d.refused(b, 1); got.HeldOnly {
				d.Fatalf("%s: %+v", name, got)
			}
		}
	}},
	{"the state after a charge", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		want := limiter.State{Limit: 10, Used: 4, Remaining: 6, ResetAfter: 4 * time.Second, LeftAfterWaiting: 4}
		if got, s := d.take(b, 4); !got.OK || s != want && takesItself(d.Limiter) {
			d.Fatalf("%+v, %+v", got, s)
		}
		d.same("after it", want, d.state(b))
		held := []limiter.Charge{{Budget: b, N: 5}}
		if _, got, err := d.Reserve(context.Background(), held); !got.OK || err != nil {
			d.Fatalf("%+v, %v", got, err)
		}
		if s := held[0].State; s != (limiter.State{Limit: 10, Used: 4, Held: 5, Remaining: 1, Open: 1, ResetAfter: 9 * time.Second, LeftAfterWaiting: 9}) {
			d.Fatalf("%+v", s)
		}
		if got, s := d.take(b, 6); got.OK || s != (limiter.State{Limit: 10, Used: 4, Held: 5, Remaining: 1, Open: 1, ResetAfter: 9 * time.Second, LeftAfterWaiting: 4}) {
			d.Fatalf("%+v, %+v", got, s)
		}
	}},
	{"what time gives back is taken off what is used first", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 3)
		d.reserve(b, 4)
		d.advance(2 * time.Second)
		d.counts(b, 1, 4)
		d.advance(2 * time.Second)
		d.counts(b, 0, 3)
	}},
	{"the fast way takes as the others do", func(d *desk) {
		for name, rule := range oneOfEach() {
			if name == "at once" {
				continue
			}
			b := d.Budget(name, rule)
			for i := range 4 {
				if ok, err := b.TryAcquire(context.Background(), 3); ok != (i < 3) || err != nil {
					d.Fatalf("%s, call %d: %v, %v", name, i, ok, err)
				}
			}
			d.counts(b, 9, 0)
			r := d.reserve(b, 1)
			if ok, err := b.TryAcquire(context.Background(), 1); ok || err != nil {
				d.Fatalf("%s, held: %v, %v", name, ok, err)
			}
			d.cancel(r)
			if ok, err := b.TryAcquire(context.Background(), 1); !ok || err != nil {
				d.Fatalf("%s, cancelled: %v, %v", name, ok, err)
			}
			d.counts(b, 10, 0)
		}
	}},
	{"the fast way in turns with the slow one", func(d *desk) {
		b := d.Budget("b", bucket(10, 3, 7*time.Second))
		for range 20 {
			for {
				ok, err := b.TryAcquire(context.Background(), 1)
				if err != nil {
					d.Fatal(err)
				}
				if got := d.peek(limiter.Charge{Budget: b, N: 1}); ok && got.OK != (d.state(b).Remaining > 0) || !ok && got.OK {
					d.Fatalf("%v, then %+v", ok, got)
				}
				if !ok {
					break
				}
			}
			d.waits(b, 2, d.refused(b, 2).RetryAfter)
			d.passes(b, 1)
			d.settle(d.reserve(b, 1), 0)
			d.remains(b, 1)
		}
	}},
	{"what is done to idle budgets is not seen", func(d *desk) { // P5
		if d.h.Disturb == nil {
			return
		}
		for name, rule := range oneOfEach() {
			fresh, held, used, debt := d.Budget("fresh "+name, rule), d.Budget("held "+name, rule), d.Budget("used "+name, rule), d.Budget("debt "+name, rule)
			r := d.reserve(held, 4)
			zero := d.reserve(fresh, 0)
			d.inc(used, 1)
			d.inc(debt, 25)
			for range 3 {
				for _, b := range []*limiter.Budget{fresh, held, used, debt} {
					before := d.state(b)
					d.h.Disturb(d.Limiter)
					d.same(b.Name(), before, d.state(b))
					if d.Budget(b.Name(), rule) != b {
						d.Fatalf("%s: another handle", b.Name())
					}
				}
				d.advance(time.Minute)
			}
			d.h.Disturb(d.Limiter)
			d.draws(r, held, 3)
			d.draws(zero, fresh, 3)
			d.h.Disturb(d.Limiter)
			d.settle(r, 5)
			d.settle(zero, 2)
			want := map[string]int64{"bucket": 2, "at once": 0} // three of the first four have come back
			if n, ok := want[name]; ok {
				d.counts(held, n, 0)
			} else {
				d.counts(held, 5, 0)
				d.counts(fresh, 2, 0)
			}
		}
	}},
	{"same name, same handle", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			if d.Budget(name, rule) != b || b.Name() != name || b.Rule() != rule || b.Generation() != 1 {
				d.Fatalf("%s: %q, %+v, %d", name, b.Name(), b.Rule(), b.Generation())
			}
		}
	}},
	{"names are any text", func(d *desk) {
		odd := []string{"", " ", "a:b", "a{b}c", "a\x00b", "\xff", "日本", strings.Repeat("long ", 1000), "*", "a\nb", "'\"\\"}
		for i, name := range odd {
			d.passes(d.Budget(name, limiter.Total{Limit: 100}), int64(i+1))
		}
		for i, name := range odd {
			d.counts(d.Budget(name, limiter.Total{Limit: 100}), int64(i+1), 0)
		}
	}},
}
