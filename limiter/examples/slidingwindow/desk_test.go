package slidingwindow_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/slidingwindow"
)

// desk is a limiter with verbs that fail the test.
type desk struct {
	*testing.T
	*slidingwindow.Limiter
}

// story tells a test in a bubble, where time.Sleep moves the clock.
func story(t *testing.T, name string, o slidingwindow.Options, tell func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { tell(newDesk(t, o)) })
	})
}

func newDesk(t *testing.T, o slidingwindow.Options) *desk {
	t.Helper()
	l, err := slidingwindow.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, l}
}

func (d *desk) inc(key string, perSecond, count int64) {
	d.Helper()
	if err := d.Inc(key, perSecond, count); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) setLimit(key string, perSecond int64) {
	d.Helper()
	if err := d.SetLimit(key, perSecond); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) acquire(key string, perSecond, count int64) slidingwindow.Answer {
	d.Helper()
	answer, err := d.Acquire(key, perSecond, count)
	if err != nil {
		d.Fatal(err)
	}
	return answer
}

func (d *desk) allowed(key string) {
	d.Helper()
	if got := d.IsAllowed(key); got != (slidingwindow.Answer{Allowed: true}) {
		d.Fatalf("%s: %+v", key, got)
	}
}

func (d *desk) rejected(key string, wait time.Duration, remaining int64) {
	d.Helper()
	if got := d.IsAllowed(key); got.Allowed || got.RetryAfter != wait || got.RemainingAfterWaiting != remaining || got.Window <= 0 {
		d.Fatalf("%s: %+v, want a wait of %v, %d remaining", key, got, wait, remaining)
	}
}

// waitsOut wants a key rejected until exactly then.
func (d *desk) waitsOut(key string, wait time.Duration) {
	d.Helper()
	if got := d.IsAllowed(key); got.Allowed || got.RetryAfter != wait {
		d.Fatalf("%s: %+v, want a wait of %v", key, got, wait)
	}
	time.Sleep(wait - 1)
	if got := d.IsAllowed(key); got.Allowed || got.RetryAfter != 1 {
		d.Fatalf("%s, a nanosecond early: %+v", key, got)
	}
	time.Sleep(time.Nanosecond)
	d.allowed(key)
}
