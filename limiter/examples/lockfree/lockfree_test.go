package lockfree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
	year  = 365 * day
)

func TestBucket(t *testing.T) {
	story(t, "T11: at twice the rate half is refused", perSecond(10, 100), func(d *desk) {
		passed := 0
		for range 20_000 {
			if d.take(1) {
				passed++
			}
			time.Sleep(time.Second / 200)
		}
		if passed < 9_900 || passed > 10_100 {
			d.Fatalf("%d of 20000 passed", passed)
		}
	})
	for _, c := range []lockfree.Config{perSecond(100, 7), {Capacity: 1000, Refill: 1000, Every: 7 * time.Nanosecond}, {Capacity: 50, Refill: 3, Every: month}} {
		story(t, fmt.Sprint("T13: drained, after ceil(N/rate) there are exactly N: ", c), c, func(d *desk) {
			for n := int64(1); n < 50; n++ {
				d.passes(d.Tokens())
				time.Sleep(d.RetryAfter(c.Capacity)) // some fraction may be left of before; be full, and drain
				d.passes(c.Capacity)
				wait := (n*int64(c.Every) + c.Refill - 1) / c.Refill
				if got := d.RetryAfter(n); got != time.Duration(wait) {
					d.Fatalf("%d after %v, want %v", n, got, time.Duration(wait))
				}
				time.Sleep(time.Duration(wait) - 1)
				d.refused(n)
				time.Sleep(1 * time.Nanosecond)
				whole := wait * c.Refill / int64(c.Every) // n, or more if a nanosecond brings more than one
				d.has(whole)
				if c.Refill < int64(c.Every) && whole != n {
					d.Fatalf("%d tokens for a wait for %d", whole, n)
				}
			}
		})
	}
	story(t, "T17: one token a minute", lockfree.Config{Capacity: 3, Refill: 1, Every: time.Minute}, func(d *desk) {
		d.passes(3)
		for range 100 { // asking in between, forty thousand times in all, costs nothing
			for range 400 {
				time.Sleep(150*time.Millisecond - 1)
				d.refused(1)
			}
			time.Sleep(400 * time.Nanosecond)
			d.has(1)
		}
	})
	story(t, "T17: one token a month", lockfree.Config{Capacity: 3, Refill: 1, Every: month}, func(d *desk) {
		d.passes(3)
		for range 12 {
			for range 30 {
				time.Sleep(day - 1)
				d.refused(1)
			}
			time.Sleep(30 * time.Nanosecond)
			d.has(1)
		}
	})
	story(t, "T18: a bucket that starts empty", lockfree.Config{Capacity: 10, Refill: 10, Every: time.Second, StartEmpty: true}, func(d *desk) {
		d.refused(1)
		time.Sleep(100*time.Millisecond - 1)
		d.refused(1)
		time.Sleep(1 * time.Nanosecond)
		d.has(1)
		time.Sleep(time.Hour)
		d.has(10)
	})
	story(t, "T18: it does not by default", perSecond(10, 10), func(d *desk) { d.has(10) })
	story(t, "misuse", perSecond(10, 1), func(d *desk) {
		for _, n := range []int64{-1, math.MinInt64} {
			if ok, err := d.TryAcquire(n); ok || err == nil {
				d.Errorf("took %d: %v, %v", n, ok, err)
			}
		}
		d.refused(11)
		if got := d.RetryAfter(11); got != limiter.Never {
			d.Errorf("11 of 10 in %v", got)
		}
		d.has(10)
		for _, c := range []lockfree.Config{{}, perSecond(0, 1), perSecond(1, 0), perSecond(1, -1), {Capacity: 1, Refill: 1}} {
			if _, err := lockfree.New(c); err == nil {
				d.Errorf("%+v was accepted", c)
			}
		}
	})
}

// T12: on a clock that stands still a bucket holds its burst and not one more,
// whatever the rate.
func TestT12Burst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for rate := int64(1); rate <= 1000; rate++ {
			time.Sleep(time.Duration(rate)) // an odd instant
			d := newDesk(t, perSecond(rate, rate))
			for range rate {
				d.passes(1)
			}
			d.refused(1)
		}
	})
}

// T14: a hundred callers of ten thousand calls each get what the bucket gives,
// within a hundredth, and never a token more.
func TestT14HundredCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, perSecond(100, 10_000))
		start := time.Now()
		var passed atomic.Int64
		var all sync.WaitGroup
		for caller := range 100 {
			all.Go(func() {
				for call := range 10_000 {
					if d.take(1) {
						passed.Add(1)
					}
					if call%20 == 0 { // or the bubble would spend its time on timers
						time.Sleep(time.Duration(1000+caller) * time.Microsecond)
					}
				}
			})
		}
		all.Wait()
		theory := 100 + 10_000*int64(time.Since(start))/int64(time.Second)
		if got := passed.Load(); got > theory || got < theory*99/100 {
			t.Fatalf("%d passed, theory %d", got, theory)
		}
	})
}

// T15: the instants at which 32 bits of microseconds begin anew, and long idle.
func TestT15LongIdle(t *testing.T) {
	const wrap = (1 << 32) * time.Microsecond // 71.58 min
	idle := []time.Duration{4295 * time.Second, day, year, 100 * year}
	for n := time.Duration(1); n < 40; n += n {
		idle = append(idle, n*wrap-1, n*wrap, n*wrap+1, n*wrap+30*time.Millisecond)
	}
	for _, idle := range idle {
		story(t, idle.String(), perSecond(1000, 1000), func(d *desk) {
			d.passes(1000)
			time.Sleep(idle)
			d.has(1000)
			slow := newDesk(d.T, lockfree.Config{Capacity: 1 << 35, Refill: 7, Every: time.Second, StartEmpty: true})
			time.Sleep(idle)
			slow.has(int64(idle/time.Second)*7 + int64(idle%time.Second)*7/int64(time.Second))
		})
	}
	story(t, "on the same bucket, again and again", perSecond(1000, 1), func(d *desk) {
		d.passes(1000)
		for range 300 {
			time.Sleep(wrap/300 + 17*time.Second)
			d.refused(1000)
			d.passes(d.Tokens())
		}
	})
}

// The one test on the real clock: who waits as told passes.
func TestRealTime(t *testing.T) {
	d := newDesk(t, lockfree.Config{Capacity: 100, Refill: 1, Every: time.Millisecond})
	for range 5 {
		n := 50 + rand.Int64N(50)
		if !d.take(n) {
			wait := d.RetryAfter(n)
			if wait > 100*time.Millisecond {
				t.Fatal(wait)
			}
			time.Sleep(wait)
			d.passes(n)
		}
	}
}
