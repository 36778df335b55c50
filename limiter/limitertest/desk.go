package limitertest

import (
	"context"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// desk is a limiter with verbs that fail the test: what a story is told in.
type desk struct {
	*testing.T
	limiter.Limiter
	h Harness
}

// story is one test of one behaviour.
type story struct {
	name string
	tell func(d *desk)
}

func (h Harness) tell(t *testing.T, stories []story) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			h.within(t, func(t *testing.T) {
				d := &desk{t, h.New(t), h}
				d.until(nextDay(h.now(t), time.UTC, atEase).Add(time.Hour))
				s.tell(d)
			})
		})
	}
}

// atEase keeps stories away from the end of a month, unless they go there.
func atEase(day time.Time) bool { return day.AddDate(0, 0, 7).Month() == day.Month() }

// stories are told chapter by chapter.
func (h Harness) stories(t *testing.T) {
	for _, c := range []struct {
		name    string
		stories []story
	}{
		{"buckets", bucketStories},
		{"windows", windowStories},
		{"calendars", calendarStories},
		{"totals", totalStories},
		{"at once", atOnceStories},
		{"several budgets", severalStories},
		{"verbs", verbStories},
		{"waits", waitStories},
		{"settlement", settlementStories},
		{"draws", drawStories},
		{"turns", turnStories},
		{"rules", ruleStories},
	} {
		t.Run(c.name, func(t *testing.T) { h.tell(t, c.stories) })
	}
}

func (d *desk) advance(by time.Duration) {
	d.Helper()
	d.h.Advance(d, by)
}

// take charges one budget for good.
func (d *desk) take(b *limiter.Budget, n int64) (limiter.Decision, limiter.State) {
	d.Helper()
	charges := []limiter.Charge{{Budget: b, N: n}}
	got, err := limiter.TryAcquire(context.Background(), d.Limiter, charges)
	if err != nil {
		d.Fatal(err)
	}
	return got, charges[0].State
}

func (d *desk) passes(b *limiter.Budget, n int64) {
	d.Helper()
	if got, s := d.take(b, n); !got.OK {
		d.Fatalf("charge of %d refused: %+v, %+v", n, got, s)
	}
}

func (d *desk) refused(b *limiter.Budget, n int64) limiter.Decision {
	d.Helper()
	got, s := d.take(b, n)
	if got.OK {
		d.Fatalf("charge of %d passed: %+v", n, s)
	}
	return got
}

// told wants a charge refused with that wait, or the next the clock can tell.
func (d *desk) told(b *limiter.Budget, n int64, want time.Duration) {
	d.Helper()
	if got := d.refused(b, n); d.h.ticks(got.RetryAfter) != d.h.ticks(want) {
		d.Fatalf("charge of %d waits %v, want %v", n, got.RetryAfter, want)
	}
}

// waits wants a charge refused with that wait, and waits: a tick before it is
// over the charge is still refused. (R1)
func (d *desk) waits(b *limiter.Budget, n int64, want time.Duration) {
	d.Helper()
	d.told(b, n, want)
	if want := d.h.ticks(want); want > d.h.Tick {
		d.advance(want - d.h.Tick)
		d.told(b, n, d.h.Tick)
	}
	d.advance(d.h.Tick)
	if got := d.peek(limiter.Charge{Budget: b, N: n}); !got.OK {
		d.Fatalf("charge of %d refused after the promised %v: %+v", n, want, got)
	}
}

func (d *desk) inc(b *limiter.Budget, n int64) {
	d.Helper()
	if err := d.Inc(context.Background(), []limiter.Charge{{Budget: b, N: n}}); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) peek(charges ...limiter.Charge) limiter.Decision {
	d.Helper()
	got, err := d.Peek(context.Background(), charges)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

func (d *desk) reserve(b *limiter.Budget, n int64) *limiter.Reservation {
	d.Helper()
	return d.reserveAll(limiter.Charge{Budget: b, N: n})
}

func (d *desk) reserveAll(charges ...limiter.Charge) *limiter.Reservation {
	d.Helper()
	r, got, err := d.Reserve(context.Background(), charges)
	if err != nil || !got.OK || r == nil {
		d.Fatalf("reserve: %+v, %v", got, err)
	}
	return r
}

// draw asks for more for a running call.
func (d *desk) draw(r *limiter.Reservation, more ...limiter.Charge) limiter.Decision {
	d.Helper()
	got, err := r.Draw(context.Background(), more)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

func (d *desk) draws(r *limiter.Reservation, b *limiter.Budget, n int64) {
	d.Helper()
	if got := d.draw(r, limiter.Charge{Budget: b, N: n}); !got.OK || got.RetryAfter != 0 || got.Refused != -1 {
		d.Fatalf("draw of %d: %+v", n, got)
	}
}

// drawWaits wants a draw refused with that wait.
func (d *desk) drawWaits(r *limiter.Reservation, b *limiter.Budget, n int64, want time.Duration) {
	d.Helper()
	if got := d.draw(r, limiter.Charge{Budget: b, N: n}); got.OK || got.Refused != 0 || d.h.ticks(got.RetryAfter) != d.h.ticks(want) {
		d.Fatalf("draw of %d: %+v, want a wait of %v", n, got, want)
	}
}

func (d *desk) settle(r *limiter.Reservation, actual ...int64) {
	d.Helper()
	if err := r.Settle(context.Background(), actual); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) cancel(r *limiter.Reservation) {
	d.Helper()
	if err := r.Cancel(context.Background()); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) state(b *limiter.Budget) limiter.State {
	d.Helper()
	charges := []limiter.Charge{{Budget: b}}
	if got, err := d.Peek(context.Background(), charges); err != nil || !got.OK {
		d.Fatalf("peek at nothing: %+v, %v", got, err)
	}
	return charges[0].State
}

// counts wants that much used and held.
func (d *desk) counts(b *limiter.Budget, used, held int64) {
	d.Helper()
	if s := d.state(b); s.Used != used || s.Held != held {
		d.Fatalf("%q: used %d and held %d, want %d and %d", b.Name(), s.Used, s.Held, used, held)
	}
}

// remains wants that much to be there for the taking.
func (d *desk) remains(b *limiter.Budget, want int64) {
	d.Helper()
	if s := d.state(b); s.Remaining != want {
		d.Fatalf("%q: %d remain, want %d: %+v", b.Name(), s.Remaining, want, s)
	}
}

// same wants the states of two instants to be alike.
func (d *desk) same(what string, before, now limiter.State) {
	d.Helper()
	if before != now {
		d.Fatalf("%s: %+v, before %+v", what, now, before)
	}
}

func window(limit int64, w, grain time.Duration) limiter.SlidingWindow {
	return limiter.SlidingWindow{Limit: limit, Window: w, Grain: grain}
}

func bucket(size, refill int64, every time.Duration) limiter.TokenBucket {
	return limiter.TokenBucket{Size: size, Refill: refill, Every: every}
}

// oneOfEach is a rule of each kind that refuses what goes beyond ten, under
// names. Only the bucket gives back before an hour is over, one a minute.
func oneOfEach() map[string]limiter.Rule {
	return map[string]limiter.Rule{
		"bucket":   bucket(10, 1, time.Minute),
		"window":   window(10, time.Hour, 0),
		"calendar": limiter.CalendarQuota{Limit: 10, Period: limiter.Quarter},
		"total":    limiter.Total{Limit: 10},
		"at once":  limiter.AtOnce{Limit: 10},
	}
}
