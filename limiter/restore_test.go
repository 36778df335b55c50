package limiter_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/limiter"
)

// ago is a spend of the past.
func ago(d time.Duration, n int64) limiter.Spend {
	return limiter.Spend{At: time.Now().Round(0).Add(-d), N: n}
}

func (d *desk) restore(b *limiter.Budget, spends ...limiter.Spend) {
	d.Helper()
	if err := d.Restore(b, spends); err != nil {
		d.Fatal(err)
	}
}

func TestRestore(t *testing.T) {
	story(t, "a bucket, as far as refill has not replaced it", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.restore(b, ago(20*time.Second, 10), ago(3*time.Second, 9))
		d.counts(b, 6, 0)
		d.waits(b, 10, 6*time.Second)
		d.passes(b, 10)
	})
	story(t, "a bucket in debt", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.restore(b, ago(4*time.Second, 30), ago(time.Second, 5))
		d.counts(b, 31, 0)
		d.waits(b, 1, 22*time.Second)
	})
	story(t, "a bucket that begins empty did so at the first spend", func(d *desk) {
		rule := bucket(10, 1, time.Second)
		rule.StartEmpty = true
		b, unspent := d.Budget("b", rule), d.Budget("unspent", rule)
		d.restore(b, ago(5*time.Second, 0), ago(4*time.Second, 1), ago(2*time.Second, 2))
		d.restore(unspent)
		d.waits(b, 2, time.Second)
		d.counts(unspent, 9, 0)
	})
	story(t, "a bucket that begins empty no more", func(d *desk) {
		rule := bucket(10, 1, time.Second)
		rule.StartEmpty = true
		b := d.Budget("b", rule)
		d.Budget("b", bucket(10, 1, time.Second))
		d.counts(b, 10, 0) // for want of spends
		d.restore(b, ago(4*time.Second, 8))
		d.counts(b, 4, 0)
	})
	story(t, "a bucket whose fast lane was open", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 4)
		time.Sleep(4 * time.Second)
		d.restore(b, ago(time.Second, 8))
		for want := range int64(4) {
			if s := d.state(b); s.Used != 7+want {
				d.Fatalf("%+v, want %d used", s, 7+want)
			}
			if ok, err := b.TryAcquire(d.Context(), 1); ok != (want < 3) || err != nil {
				d.Fatal(ok, err)
			}
		}
	})
	story(t, "a window, as far as it has not left", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		d.restore(b, ago(time.Minute, 5), ago(50*time.Second, 4), ago(10*time.Second, 3))
		d.waits(b, 7, 10*time.Second)
		d.counts(b, 3, 0)
		d.waits(b, 10, 40*time.Second)
	})
	story(t, "a calendar quota, of this period", func(d *desk) { // it is midnight
		time.Sleep(time.Hour)
		b := d.Budget("b", limiter.CalendarQuota{Limit: 10, Period: limiter.Day})
		d.restore(b, ago(time.Hour+1, 5), ago(time.Hour, 4), ago(1, 3))
		d.counts(b, 7, 0)
		d.waits(b, 4, 23*time.Hour)
	})
	story(t, "a total, of any time", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 10})
		d.restore(b, limiter.Spend{N: 4}, ago(100*365*24*time.Hour, 3))
		d.counts(b, 7, 0)
	})
	story(t, "calls at once, none", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 1})
		d.restore(b, ago(0, 1))
		d.reserve(b, 1)
		d.inUse(b)
	})
	story(t, "a name that was dropped and is made again", func(d *desk) {
		f := d.family(limiter.Total{Limit: 10}, 0)
		b := f.Budget("ann")
		f.Sweep()
		d.restore(b, ago(time.Hour, 4))
		d.counts(f.Budget("ann"), 4, 0)
	})
	story(t, "what is to come counts now", func(d *desk) {
		future := limiter.Spend{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), N: 4}
		for name, rule := range map[string]limiter.Rule{
			"bucket": bucket(10, 1, time.Second), "window": window(10, 4*time.Second, 0),
			"hour": limiter.CalendarQuota{Limit: 10, Period: limiter.Hour}, "total": limiter.Total{Limit: 10},
		} {
			b := d.Budget(name, rule)
			d.restore(b, future, ago(-time.Hour, 3), ago(0, 3))
			s := d.state(b)
			if s.Used != 10 || name == "bucket" && s.ResetAfter != 10*time.Second || name == "window" && s.ResetAfter != 4*time.Second {
				d.Fatalf("%s: %+v", name, s)
			}
		}
	})
	story(t, "what is longest ago", func(d *desk) {
		first := limiter.Spend{N: math.MaxInt64}
		for name, rule := range map[string]limiter.Rule{
			"fast": bucket(10, 1, time.Second), "window": window(10, 1<<61, 1<<61),
			"quarter": limiter.CalendarQuota{Limit: 10, Period: limiter.Quarter},
		} {
			b := d.Budget(name, rule)
			d.restore(b, limiter.Spend{N: 100}, ago(1<<62, 100))
			d.counts(b, 0, 0)
		}
		slow := d.Budget("slow", bucket(math.MaxInt64-1, 1, 1)) // full after 292 years
		d.restore(slow, first)
		d.counts(slow, math.MaxInt64-1-1<<62, 0) // counted as of 146 years ago
	})
	story(t, "more than 64 bits hold", func(d *desk) {
		const most = math.MaxInt64 - 1
		for name, rule := range map[string]limiter.Rule{
			"bucket": bucket(10, 1, time.Second), "largest": bucket(most, math.MaxInt64, 1), "window": window(10, time.Hour, time.Second),
			"quarter": limiter.CalendarQuota{Limit: 10, Period: limiter.Quarter}, "total": limiter.Total{Limit: 10},
		} {
			b := d.Budget(name, rule)
			d.restore(b, ago(0, math.MaxInt64), ago(0, math.MaxInt64), ago(0, 1))
			d.counts(b, most, 0)
		}
	})
}

// TestRestoredGrainsAreNeverEarly restores windows whose grains are not those
// the spends were counted by: nothing leaves early, or late by more than one.
func TestRestoredGrainsAreNeverEarly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := rapid.Int64Range(1, 1000).Draw(rt, "window")
		g := rapid.Int64Range(1, w).Draw(rt, "grain")
		ages := rapid.SliceOfN(rapid.Int64Range(0, 3*w), 1, 20).Draw(rt, "ages")
		life := rapid.Int64Range(0, 3*w).Draw(rt, "life")
		inBubble(t, func(t *testing.T) {
			d := newDesk(t)
			time.Sleep(time.Duration(life))
			b := d.Budget("b", window(1000, time.Duration(w), time.Duration(g)))
			spends := make([]limiter.Spend, len(ages))
			for i, age := range ages {
				spends[i] = ago(time.Duration(age), 1)
			}
			d.restore(b, spends...)
			for range w + g {
				least, most := int64(0), int64(0)
				for _, s := range spends {
					if left := int64(time.Since(s.At)) - w; left < 0 {
						least++
						most++
					} else if left < g {
						most++
					}
				}
				if used := d.state(b).Used; used < least || used > most {
					rt.Fatalf("%d used, want from %d to %d", used, least, most)
				}
				time.Sleep(time.Nanosecond)
			}
			d.counts(b, 0, 0)
		})
	})
}
