package limiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// desk is a limiter with verbs that fail the test. Inside a synctest bubble,
// time.Sleep moves its clock.
type desk struct {
	*testing.T
	*limiter.Memory
}

func newDesk(t *testing.T) *desk { return &desk{t, limiter.NewMemory()} }

// take charges one budget and returns the decision and the state after it.
func (d *desk) take(b *limiter.Budget, n int64) (limiter.Decision, limiter.State) {
	d.Helper()
	charges := []limiter.Charge{{Budget: b, N: n}}
	got, err := limiter.TryAcquire(context.Background(), d, charges)
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

// refused returns how long it takes until the charge passes.
func (d *desk) refused(b *limiter.Budget, n int64) limiter.Decision {
	d.Helper()
	got, s := d.take(b, n)
	if got.OK {
		d.Fatalf("charge of %d passed: %+v", n, s)
	}
	return got
}

// waits wants a charge refused with that exact wait, and sleeps it through.
func (d *desk) waits(b *limiter.Budget, n int64, want time.Duration) {
	d.Helper()
	if got := d.refused(b, n); got.RetryAfter != want {
		d.Fatalf("charge of %d waits %v, want %v", n, got.RetryAfter, want)
	}
	time.Sleep(want - 1)
	if got := d.refused(b, n); got.RetryAfter != 1 {
		d.Fatalf("charge of %d waits %v a nanosecond before its time", n, got.RetryAfter)
	}
	time.Sleep(time.Nanosecond)
}

func (d *desk) inc(b *limiter.Budget, n int64) {
	d.Helper()
	if err := d.Inc(context.Background(), []limiter.Charge{{Budget: b, N: n}}); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) reserve(b *limiter.Budget, n int64) *limiter.Reservation {
	d.Helper()
	r, got, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: b, N: n}})
	if err != nil || !got.OK {
		d.Fatalf("reserve %d: %+v, %v", n, got, err)
	}
	return r
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
	if _, err := d.Peek(context.Background(), charges); err != nil {
		d.Fatal(err)
	}
	return charges[0].State
}

// counts wants that much used and held.
func (d *desk) counts(b *limiter.Budget, used, held int64) {
	d.Helper()
	if s := d.state(b); s.Used != used || s.Held != held {
		d.Fatalf("used %d and held %d, want %d and %d", s.Used, s.Held, used, held)
	}
}
