package lockfree_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// TestFlaws has one test for each flaw of the article this is after, in its
// words.
func TestFlaws(t *testing.T) {
	story(t, "32-bit microseconds (wraps at 71.58 min: idle 4 295 s is seen as 0.03 s and refills 0 of 1000)", perSecond(1000, 1), func(d *desk) {
		d.passes(1000)
		time.Sleep(4295 * time.Second)
		d.has(1000)
	})

	story(t, "32-bit tokens", perSecond(1<<45, 1<<44), func(d *desk) {
		d.passes(1 << 33)
		d.passes(1<<33 + 1)
		if got := d.Tokens(); got != 1<<45-1<<34-1 {
			d.Fatalf("%d tokens", got)
		}
		d.passes(1<<45 - 1<<34 - 1)
		d.refused(1)
		time.Sleep(time.Second)
		d.has(1 << 44)
	})

	t.Run("fraction in a second atomic", func(t *testing.T) {
		// If fraction and tokens could be seen apart, callers at odd instants
		// would lose or gain some. The bucket is never full again, so every
		// token that comes back is had by somebody, or is there at the end.
		for _, c := range []lockfree.Config{
			{Capacity: 1 << 20, Refill: 1001, Every: 7777 * time.Nanosecond, StartEmpty: true},
			{Capacity: 1 << 20, Refill: 3, Every: 77_777 * time.Nanosecond, StartEmpty: true},
		} {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, c)
				start := time.Now()
				var had atomic.Int64
				var all sync.WaitGroup
				for caller := range 50 {
					all.Go(func() {
						for i := range 400 {
							for n := int64(1 + (caller+i)%7); d.take(n); {
								had.Add(n)
							}
							time.Sleep(time.Duration(997 + 13*caller + i))
						}
					})
				}
				all.Wait()
				want := c.Refill * int64(time.Since(start)) / int64(c.Every)
				if got := had.Load() + d.Tokens(); got != want || had.Load() == 0 {
					t.Fatalf("%d taken and %d left, want %d in all", had.Load(), d.Tokens(), want)
				}
			})
		}
	})

	for _, c := range []struct {
		what string
		lockfree.Config
		wait time.Duration // for one
	}{
		{"2.5 a second", lockfree.Config{Capacity: 5, Refill: 5, Every: 2 * time.Second}, 400 * time.Millisecond},
		{"1 in 60 seconds", lockfree.Config{Capacity: 5, Refill: 1, Every: time.Minute}, time.Minute},
		{"7 in 3 weeks", lockfree.Config{Capacity: 7, Refill: 7, Every: 21 * day}, 3 * day},
		{"a third a second", lockfree.Config{Capacity: 5, Refill: 1, Every: 3 * time.Second}, 3 * time.Second},
	} {
		story(t, "integer per-second rate: "+c.what, c.Config, func(d *desk) {
			d.passes(c.Capacity)
			for range 10 {
				time.Sleep(c.wait - 1)
				d.refused(1)
				time.Sleep(1 * time.Nanosecond)
				d.has(1)
			}
		})
	}

	t.Run("key as metric label", func(t *testing.T) {
		d := newKeyedDesk(t, lockfree.KeyedOptions{Configured: map[string]lockfree.Config{"alice": perSecond(10, 1)}, Implicit: perSecond(1, 1)})
		count := func() int {
			n, err := testutil.GatherAndCount(d.registry)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		for i := range 10_000 {
			d.takes(fmt.Sprint("sk-secret-", i), 1, true)
			d.takes("alice", 0, true)
		}
		if after := count(); after != before || after > 100 {
			t.Fatalf("%d series, %d before ten thousand keys came", after, before)
		}
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if v := l.GetValue(); l.GetName() == "key" && v != "alice" && v != "other" {
						t.Errorf("%s has a key %q", f.GetName(), v)
					}
				}
			}
		}
	})

	// There is no shared store behind this yet. Its place is taken by one budget
	// in memory, which four nodes draw on in chunks, each spending its own
	// without asking. A chunk is charged when it is fetched, so that together
	// they never have more than one budget's worth.
	t.Run("hybrid that admits N× the budget, and ~95 % fewer calls to what is shared", func(t *testing.T) {
		const size, perSecond, chunk, nodes, each = 10_000, 1000, 100, 4, 30_000
		synctest.Test(t, func(t *testing.T) {
			shared := limiter.NewMemory()
			budget := shared.Budget("shared", limiter.TokenBucket{Size: size, Refill: perSecond, Every: time.Second})
			var admitted, calls atomic.Int64
			start := time.Now()
			var all sync.WaitGroup
			for range nodes {
				all.Go(func() {
					mine, notBefore := int64(0), start
					for range each { // in 30 s: three times what there is
						if mine == 0 && !time.Now().Before(notBefore) {
							calls.Add(1)
							d, err := limiter.TryAcquire(t.Context(), shared, []limiter.Charge{{Budget: budget, N: chunk}})
							if err != nil {
								t.Error(err)
							}
							if d.OK {
								mine = chunk
							}
							notBefore = time.Now().Add(d.RetryAfter)
						}
						if mine > 0 {
							mine--
							admitted.Add(1)
						}
						time.Sleep(time.Millisecond)
					}
				})
			}
			all.Wait()
			theory := size + perSecond*int64(time.Since(start)/time.Second)
			if got := admitted.Load(); got > theory || got < theory-nodes*chunk {
				t.Errorf("%d admitted, one budget is %d", got, theory)
			}
			if got := calls.Load(); got > nodes*each/20 {
				t.Errorf("%d calls for %d decisions", got, nodes*each)
			}
		})
	})
}
