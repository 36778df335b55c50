package limiter_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// story runs a test on a virtual clock.
func story(t *testing.T, name string, f func(*desk)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(newDesk(t)) })
	})
}

func window(limit int64, w, grain time.Duration) limiter.SlidingWindow {
	return limiter.SlidingWindow{Limit: limit, Window: w, Grain: grain}
}

func bucket(size, refill int64, every time.Duration) limiter.TokenBucket {
	return limiter.TokenBucket{Size: size, Refill: refill, Every: every}
}

func TestWindowAdmission(t *testing.T) {
	story(t, "exact boundary, two of two", func(d *desk) {
		b := d.Budget("b", window(2, time.Second, 0))
		d.passes(b, 1)
		d.passes(b, 1)
		d.waits(b, 1, time.Second)
		d.passes(b, 2)
	})
	story(t, "what comes within a grain leaves together, a window after the grain", func(d *desk) {
		b := d.Budget("b", window(6, time.Second, 100*time.Millisecond))
		d.passes(b, 3)
		time.Sleep(50 * time.Millisecond)
		d.passes(b, 3)
		d.waits(b, 1, 1050*time.Millisecond)
		d.passes(b, 6)
	})
	story(t, "the wait covers as many entries as it takes", func(d *desk) {
		b := d.Budget("b", window(5, time.Second, 0))
		for range 5 {
			d.passes(b, 1)
			time.Sleep(100 * time.Millisecond)
		}
		if got := d.refused(b, 3).RetryAfter; got != 700*time.Millisecond {
			t.Fatalf("waits %v for three entries to leave, want 700ms", got)
		}
	})
	story(t, "what was given back in the middle takes no room", func(d *desk) {
		b := d.Budget("b", window(3, 24*time.Hour, 0))
		d.passes(b, 1)
		last := d.reserve(b, 1)
		before := liveHeap()
		for range 100_000 {
			time.Sleep(time.Microsecond)
			next := d.reserve(b, 1)
			d.cancel(last)
			last = next
		}
		if grown := liveHeap() - before; grown > 200_000 {
			t.Fatalf("%d bytes for two entries", grown)
		}
		d.settle(last, 1)
		d.counts(b, 2, 0)
	})
	story(t, "a refusal says what will be left after waiting", func(d *desk) {
		b := d.Budget("b", window(5, time.Second, 0))
		d.inc(b, 3)
		time.Sleep(500 * time.Millisecond)
		d.inc(b, 4)
		got, s := d.take(b, 1)
		if got.OK || got.RetryAfter != 500*time.Millisecond || s.LeftAfterWaiting != 4 {
			t.Fatalf("%+v, %+v: want a wait of 500ms and 4 left after it", got, s)
		}
	})
	story(t, "a greedy caller gets the whole rate", func(d *desk) {
		b := d.Budget("b", window(10, time.Second, 0))
		admitted := 0
		for range 10_000 {
			if got, _ := d.take(b, 1); got.OK {
				admitted++
			}
			time.Sleep(time.Millisecond)
		}
		if admitted != 100 {
			t.Fatalf("%d admitted in 10 s at 10 a second", admitted)
		}
	})
}

func TestBucketAdmission(t *testing.T) {
	story(t, "five pass, the sixth does not", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		for range 5 {
			d.passes(b, 1)
		}
		d.waits(b, 1, time.Second)
	})
	story(t, "drained, one passes 1.1 s later", func(d *desk) {
		b := d.Budget("b", bucket(5, 1, time.Second))
		d.passes(b, 5)
		time.Sleep(1100 * time.Millisecond)
		d.passes(b, 1)
		d.waits(b, 1, 900*time.Millisecond)
	})
	story(t, "eleven at a capacity of ten", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		for range 10 {
			d.passes(b, 1)
		}
		d.refused(b, 1)
	})
	story(t, "ten, three taken, one back, nine arrive", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 3)
		time.Sleep(time.Second)
		for range 8 {
			d.passes(b, 1)
		}
		d.waits(b, 1, time.Second)
		d.passes(b, 1)
		d.refused(b, 1)
	})
	story(t, "twice the rate: half is refused", func(d *desk) {
		b := d.Budget("b", bucket(10, 100, time.Second))
		refused := 0
		for range 20_000 {
			if got, _ := d.take(b, 1); !got.OK {
				refused++
			}
			time.Sleep(5 * time.Millisecond)
		}
		if refused < 9_900 || refused > 10_100 {
			t.Fatalf("%d of 20000 refused at twice the rate", refused)
		}
	})
	story(t, "a whole burst at every rate, on a clock that stands still", func(d *desk) {
		for rate := int64(1); rate <= 1000; rate++ {
			b := d.Budget(fmt.Sprint("burst ", rate), bucket(rate, rate, time.Second))
			for range rate {
				d.passes(b, 1)
			}
			d.refused(b, 1)
		}
	})
	story(t, "drained, exactly n come back in n / rate", func(d *desk) {
		for rate := int64(1); rate <= 300; rate++ {
			b := d.Budget(fmt.Sprint("drain ", rate), bucket(2*rate, rate, time.Second))
			d.passes(b, 2*rate)
			n := rate/2 + 1
			d.waits(b, n, time.Duration((n*int64(time.Second)+rate-1)/rate))
			d.passes(b, n)
			d.refused(b, 1)
		}
	})
	story(t, "slow rates refill", func(d *desk) {
		minute := d.Budget("minute", bucket(1, 1, time.Minute))
		d.passes(minute, 1)
		d.waits(minute, 1, time.Minute)
		d.passes(minute, 1)
		month := d.Budget("month", bucket(1, 1, 30*24*time.Hour))
		d.passes(month, 1)
		d.waits(month, 1, 30*24*time.Hour)
		d.passes(month, 1)
	})
	story(t, "long idle times are counted in full", func(d *desk) {
		wrap := time.Duration(1<<32) * time.Microsecond // 71.58 minutes
		for i, idle := range []time.Duration{wrap - 1, wrap, wrap + 1, 2 * wrap, 7 * wrap, 24 * time.Hour, 365 * 24 * time.Hour} {
			b := d.Budget(fmt.Sprint("idle ", i), bucket(1000, 1, time.Second))
			d.passes(b, 1000)
			time.Sleep(idle)
			d.passes(b, 1000)
			d.refused(b, 1)
		}
	})
	story(t, "debt is paid back first", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.inc(b, 25)
		if s := d.state(b); s.Used != 25 || s.Remaining != 0 || s.ResetAfter != 25*time.Second {
			t.Fatalf("in debt: %+v", s)
		}
		d.waits(b, 1, 16*time.Second)
		d.passes(b, 1)
	})
}

func TestBudgetsAreIndependent(t *testing.T) {
	story(t, "two callers", func(d *desk) {
		alice, bob := d.Budget("alice", bucket(1, 1, time.Second)), d.Budget("bob", bucket(1, 1, time.Second))
		d.passes(alice, 1)
		d.refused(alice, 1)
		d.passes(bob, 1)
	})
}

func TestNeverAdmissible(t *testing.T) {
	rules := map[string]limiter.Rule{
		"bucket":   bucket(10, 1, time.Second),
		"window":   window(10, time.Second, 0),
		"calendar": limiter.CalendarQuota{Limit: 10, Period: limiter.Day},
		"total":    limiter.Total{Limit: 10},
	}
	for name, rule := range rules {
		story(t, name, func(d *desk) {
			b := d.Budget("b", rule)
			d.reserve(b, 10)
			got := d.refused(b, 11)
			if got.RetryAfter != limiter.Never || !got.TooBig || got.HeldOnly || got.Refused != 0 {
				t.Fatalf("more than the capacity: %+v", got)
			}
			d.counts(b, 0, 10)
			d.passes(b, 0)
		})
	}
}

func TestTotalIsSpentOnce(t *testing.T) {
	story(t, "used up and held up", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		r := d.reserve(b, 8)
		if got := d.refused(b, 3); got.RetryAfter != limiter.Never || !got.HeldOnly || got.TooBig {
			t.Fatalf("held, not spent: %+v", got)
		}
		d.settle(r, 8)
		time.Sleep(1000 * time.Hour)
		if got := d.refused(b, 3); got.RetryAfter != limiter.Never || got.HeldOnly || got.TooBig {
			t.Fatalf("spent: %+v", got)
		}
		d.passes(b, 2)
	})
}
