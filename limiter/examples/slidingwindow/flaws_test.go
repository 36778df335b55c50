package slidingwindow_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/slidingwindow"
)

// TestFlaws has one test for each flaw of the article this is after, in its
// words.
func TestFlaws(t *testing.T) {
	story(t, "leaves the window one second late (told 59 999 ms, admitted after 61 000 ms, and told 0 ms in between)", slidingwindow.Options{Window: time.Minute}, func(d *desk) {
		d.inc("a", 1, 60)
		time.Sleep(time.Millisecond)
		start := time.Now()
		for wait := d.IsAllowed("a").RetryAfter; ; wait = d.IsAllowed("a").RetryAfter {
			if wait != 59_999*time.Millisecond-time.Since(start) {
				d.Fatalf("told %v after %v", wait, time.Since(start))
			}
			if wait == 0 {
				break
			}
			time.Sleep(max(1, wait/3)) // asks again and again, up to the last nanosecond
		}
		d.allowed("a")
	})

	for _, window := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second} {
		story(t, fmt.Sprint("greedy caller gets W/(W+1) of the rate (50 % at W = 1 s), W = ", window), slidingwindow.Options{Window: window}, func(d *desk) {
			start, admitted := time.Now(), int64(0)
			for time.Since(start) < 100*window {
				got := d.acquire("a", 10, 1)
				if got.Allowed {
					admitted++
				}
				time.Sleep(got.RetryAfter)
			}
			if want := 10 * int64(100*window/time.Second); admitted != want {
				d.Fatalf("%d admitted in %v, want %d", admitted, 100*window, want)
			}
		})
	}

	t.Run("check and charge are separate calls (348 % of the limit with 100 callers)", func(t *testing.T) {
		d := newDesk(t, slidingwindow.Options{Window: time.Hour})
		var admitted atomic.Int64
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				for range 100 {
					if d.acquire("a", 1, 1).Allowed {
						admitted.Add(1)
					}
					runtime.Gosched()
				}
			})
		}
		all.Wait()
		if admitted.Load() != 3600 {
			t.Fatalf("%d of 3600 admitted", admitted.Load())
		}
	})

	story(t, "retry time covers only the oldest group", slidingwindow.Options{Window: time.Second}, func(d *desk) {
		for range 5 {
			d.inc("a", 4, 2)
			time.Sleep(100 * time.Millisecond)
		}
		// Ten of four. One more fits when three are left: after the fourth group has gone, too.
		d.rejected("a", 800*time.Millisecond, 2)
		d.waitsOut("a", 800*time.Millisecond)
		if got := d.acquire("a", 4, 3); got.RetryAfter != 100*time.Millisecond || got.RemainingAfterWaiting != 0 {
			d.Fatalf("%+v", got)
		}
	})

	story(t, "later members of a group leave early", slidingwindow.Options{Window: time.Second, Grain: 200 * time.Millisecond}, func(d *desk) {
		d.inc("a", 2, 1)
		time.Sleep(199 * time.Millisecond)
		d.inc("a", 2, 1)
		for at := 199; at < 1200; at++ { // the second is a second old at 1199 ms
			d.rejected("a", time.Duration(1200-at)*time.Millisecond, 0)
			time.Sleep(time.Millisecond)
		}
		d.allowed("a")
	})

	story(t, "inc alone never evicts", slidingwindow.Options{Window: time.Second}, func(d *desk) {
		record := func() {
			for range 20_000 { // nobody asks
				d.inc("a", 10, 1)
				time.Sleep(10 * time.Millisecond)
			}
		}
		record()
		before := heap()
		record()
		if grown := heap() - before; grown > 100_000 {
			d.Fatalf("%d bytes for what has left the window", grown)
		}
		d.rejected("a", 900*time.Millisecond, 9) // of 99 that count, the oldest 90 must go; the newest is 10 ms old
		runtime.KeepAlive(d)
	})

	story(t, "keys never freed", slidingwindow.Options{Window: time.Second}, func(d *desk) {
		names := func(from, n int) {
			for i := range n {
				d.inc(fmt.Sprint("key ", from+i), 1, 1)
			}
		}
		names(0, 10_000)
		if left := d.Sweep(); left != 10_000 {
			d.Fatalf("%d keys left, all have usage", left)
		}
		time.Sleep(time.Second)
		names(10_000, 10)
		if left := d.Sweep(); left != 10 {
			d.Fatalf("%d keys left", left)
		}
	})

	story(t, "keys never freed, unless somebody sweeps", slidingwindow.Options{Window: time.Second, MostKeys: 1000}, func(d *desk) {
		before := heap()
		for i := range 20_000 {
			d.inc(fmt.Sprint("key ", i), 1, 1)
			time.Sleep(10 * time.Millisecond)
		}
		if grown := heap() - before; grown > 2_000_000 {
			d.Fatalf("%d bytes for keys that are gone", grown)
		}
		runtime.KeepAlive(d)
	})

	story(t, "unchecked multiplication", slidingwindow.Options{Window: time.Minute}, func(d *desk) {
		for _, limit := range []int64{math.MaxInt64, math.MaxInt64 / 60, math.MaxInt64/60 + 1, math.MaxInt64/2 + 1, 1 << 60, 1 << 62} {
			err := d.SetLimit("a", limit)
			if fits := limit <= (math.MaxInt64-1)/60; (err == nil) != fits {
				d.Errorf("%d per second: %v", limit, err)
			}
		}
		if err := d.Inc("b", math.MaxInt64, 1); err == nil {
			d.Error("an overflow was accepted")
		}
		d.allowed("b")
		d.inc("c", 1, math.MaxInt64-1) // usage is added up with the same care
		if err := d.Inc("c", 1, 1); err == nil {
			d.Error("a sum that does not fit was accepted")
		}
		d.rejected("c", time.Minute, 0)
	})
}
