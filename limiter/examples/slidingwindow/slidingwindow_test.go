package slidingwindow_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/slidingwindow"
)

var second = slidingwindow.Options{Window: time.Second}

func TestWindow(t *testing.T) {
	story(t, "T1: the exact boundary, 2 of 2", second, func(d *desk) {
		d.allowed("a")
		d.inc("a", 2, 1)
		d.allowed("a")
		d.inc("a", 2, 1)
		d.waitsOut("a", time.Second)
	})
	story(t, "T2: what falls in one group is merged, and free after the window", slidingwindow.Options{Window: time.Second, Grain: 100 * time.Millisecond}, func(d *desk) {
		d.inc("a", 5, 3)
		time.Sleep(50 * time.Millisecond)
		d.inc("a", 5, 3)
		d.rejected("a", 1050*time.Millisecond, 0) // both leave with the group's end
		d.waitsOut("a", 1050*time.Millisecond)
		d.inc("a", 5, 4)
		d.allowed("a")
	})
	story(t, "T3: what a rejection says", second, func(d *desk) {
		d.inc("a", 5, 3)
		time.Sleep(300 * time.Millisecond)
		d.inc("a", 5, 4)
		want := slidingwindow.Answer{Window: time.Second, RetryAfter: 700 * time.Millisecond, RemainingAfterWaiting: 4}
		if got := d.IsAllowed("a"); got != want {
			d.Fatalf("%+v", got)
		}
		d.waitsOut("a", 700*time.Millisecond)
		d.inc("a", 5, 1)
		d.waitsOut("a", 300*time.Millisecond)
	})
	story(t, "T4: five pass, the sixth does not", second, func(d *desk) {
		for range 5 {
			d.allowed("a")
			d.inc("a", 5, 1)
		}
		d.rejected("a", time.Second, 0)
	})
	story(t, "T23: the first limit wins, SetLimit changes it", second, func(d *desk) {
		d.allowed("a") // asking about a key gives it no limit
		d.inc("a", 2, 1)
		d.inc("a", 100, 1)
		d.rejected("a", time.Second, 0)
		if got := d.acquire("a", 100, 1); got.Allowed {
			d.Fatalf("%+v", got)
		}
		d.setLimit("a", 3)
		d.allowed("a") // two of three: usage stays
		d.inc("a", 2, 1)
		d.rejected("a", time.Second, 0)
		d.setLimit("a", 1)
		d.rejected("a", time.Second, 0)
		time.Sleep(time.Hour)
		d.Sweep()
		d.inc("a", 100, 1) // and it is kept
		d.rejected("a", time.Second, 0)
		d.setLimit("b", 1) // also for a key that nobody has seen yet
		d.inc("b", 100, 1)
		d.rejected("b", time.Second, 0)
	})
	story(t, "a limit that was set can be taken back", slidingwindow.Options{Window: time.Second, MostKeys: 2, Common: 3}, func(d *desk) {
		for _, key := range []string{"a", "b", "c", "d"} { // more than MostKeys: each counts for itself all the same
			d.setLimit(key, 5)
			d.inc(key, 1, 4)
		}
		for _, key := range []string{"a", "b", "c", "d"} {
			d.allowed(key)
		}
		d.Unset("a")
		d.rejected("a", time.Second, 0) // its usage stays, and three are common
		d.allowed("b")
		time.Sleep(time.Second)
		if left := d.Sweep(); left != 3 {
			d.Fatalf("%d keys are left, want those that are set", left)
		}
		for _, key := range []string{"b", "c", "d", "nobody"} {
			d.Unset(key)
		}
		if left := d.Sweep(); left != 0 {
			d.Fatalf("%d keys are left", left)
		}
		d.inc("a", 2, 1) // the first limit wins again
		d.allowed("a")
		d.inc("a", 100, 1)
		d.rejected("a", time.Second, 0)
		d.Unset("a") // which is not one that was set
		d.rejected("a", time.Second, 0)
	})
	story(t, "T23: until the key is forgotten", second, func(d *desk) {
		d.inc("a", 2, 2)
		time.Sleep(time.Second)
		if left := d.Sweep(); left != 0 {
			d.Fatal(left)
		}
		d.inc("a", 3, 2)
		d.allowed("a")
	})
	story(t, "budget = window × limit", slidingwindow.Options{Window: time.Minute}, func(d *desk) {
		d.inc("a", 5, 299)
		d.allowed("a")
		d.inc("a", 5, 1)
		d.rejected("a", time.Minute, 0)
		half := newDesk(d.T, slidingwindow.Options{Window: 1500 * time.Millisecond})
		half.inc("a", 3, 3)
		half.allowed("a")
		half.inc("a", 3, 1) // four and a half
		half.rejected("a", 1500*time.Millisecond, 0)
	})
	story(t, "a key nobody has seen", second, func(d *desk) {
		d.allowed("a")
		if left := d.Sweep(); left != 0 {
			d.Fatalf("asking made %d keys", left)
		}
	})
	story(t, "usage is recorded, allowed or not", second, func(d *desk) {
		for range 4 {
			d.inc("a", 2, 5)
			time.Sleep(100 * time.Millisecond)
		}
		d.waitsOut("a", 900*time.Millisecond)
	})
	story(t, "keys do not feel each other", second, func(d *desk) {
		d.inc("a", 1, 1000)
		d.rejected("a", time.Second, 0)
		d.allowed("b")
		d.inc("b", 2, 1)
		d.allowed("b")
	})
	story(t, "asking and recording in one", second, func(d *desk) {
		if got := d.acquire("a", 5, 3); !got.Allowed {
			d.Fatalf("%+v", got)
		}
		time.Sleep(400 * time.Millisecond)
		want := slidingwindow.Answer{Window: time.Second, RetryAfter: 600 * time.Millisecond}
		if got := d.acquire("a", 5, 3); got != want {
			d.Fatalf("%+v", got)
		}
		if got := d.acquire("a", 5, 2); !got.Allowed {
			d.Fatalf("%+v", got)
		}
		if got := d.acquire("a", 5, 6); got.Allowed || got.RetryAfter != limiter.Never {
			d.Fatalf("%+v", got)
		}
	})
	story(t, "more keys than are told apart", slidingwindow.Options{Window: time.Second, MostKeys: 100, Common: 3}, func(d *desk) {
		for i := range 100 {
			d.inc(fmt.Sprint(i), 50, 50)
		}
		d.allowed("new")
		d.inc("new", 50, 2)
		d.allowed("newer")
		d.inc("newer", 50, 1)
		d.rejected("new", time.Second, 0)
		d.rejected("newest", time.Second, 0)
		d.rejected("7", time.Second, 0)
		time.Sleep(2 * time.Second)
		for _, key := range []string{"newest", "7"} {
			d.allowed(key)
			d.inc(key, 50, 49)
			d.allowed(key)
		}
	})
	story(t, "misuse", second, func(d *desk) {
		for _, f := range []func() error{
			func() error { return d.Inc("a", 0, 1) },
			func() error { return d.Inc("a", -5, 1) },
			func() error { return d.Inc("a", 5, -1) },
			func() error { _, err := d.Acquire("a", 5, -1); return err },
			func() error { return d.SetLimit("a", 0) },
		} {
			if f() == nil {
				d.Error("no error")
			}
		}
		d.allowed("a")
		for _, o := range []slidingwindow.Options{{}, {Window: -1}, {Window: time.Second, Grain: time.Minute}, {Window: time.Second, Grain: -1}} {
			if _, err := slidingwindow.New(o); err == nil {
				d.Errorf("%+v was accepted", o)
			}
		}
	})
}

// Grouping is the memory knob.
func TestGrainSavesMemory(t *testing.T) {
	used := func(grain time.Duration) (bytes int64) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, slidingwindow.Options{Window: time.Minute, Grain: grain})
			before := heap()
			for range 20_000 {
				d.inc("a", 1000, 1)
				time.Sleep(time.Millisecond)
			}
			bytes = heap() - before
			runtime.KeepAlive(d)
		})
		return bytes
	}
	fine, coarse := used(0), used(time.Second)
	if fine < 200_000 || coarse > fine/4 {
		t.Fatalf("%d bytes without grains, %d with", fine, coarse)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestCallers has many goroutines use and forget keys, some of them the same.
func TestCallers(t *testing.T) {
	d := newDesk(t, slidingwindow.Options{Window: time.Hour})
	var all sync.WaitGroup
	for caller := range 8 {
		all.Go(func() {
			own := fmt.Sprint("own ", caller)
			for i := range 300 {
				once := fmt.Sprint(caller, " ", i)
				if !d.IsAllowed(once).Allowed || !d.IsAllowed(own).Allowed {
					t.Error("a key without usage is rejected")
				}
				for _, err := range []error{d.Inc("common", 10, 1), d.Inc(own, 1, 1), d.Inc(once, 1, 3600)} {
					if err != nil {
						t.Error(err)
					}
				}
				if d.IsAllowed(once).Allowed {
					t.Error("usage was forgotten")
				}
				if i%100 == 0 {
					d.Sweep()
				}
			}
		})
	}
	all.Wait()
	if got := d.acquire("common", 1, 36_000-2_400); !got.Allowed {
		t.Errorf("%+v", got)
	}
	if d.IsAllowed("common").Allowed {
		t.Error("usage of the common key was lost")
	}
}

// The one test on the real clock: who waits as told is allowed.
func TestRealTime(t *testing.T) {
	d := newDesk(t, slidingwindow.Options{Window: 100 * time.Millisecond, Grain: 10 * time.Millisecond})
	for range 3 {
		d.inc("a", 50, 5)
		for got := d.IsAllowed("a"); !got.Allowed; got = d.IsAllowed("a") {
			if got.RetryAfter <= 0 || got.RetryAfter > 110*time.Millisecond {
				t.Fatalf("%+v", got)
			}
			time.Sleep(got.RetryAfter)
			d.allowed("a")
		}
	}
}

// TestLimitsThatFit walks the edge of what window × limit can be.
func TestLimitsThatFit(t *testing.T) {
	d := newDesk(t, slidingwindow.Options{Window: 10 * time.Second})
	const most = (math.MaxInt64 - 1) / 10
	if err := d.SetLimit("a", most); err != nil {
		t.Error(err)
	}
	if err := d.SetLimit("a", most+1); err == nil {
		t.Error("an overflow was accepted")
	}
}
