package perclient_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/perclient"
)

// TestFlaws has one test for each flaw of the article this is after, in its
// words. Those of its HTTP part (the first hop of X-Forwarded-For is trusted,
// the raw secret is a map key) are tested in proxy/httplimit.
func TestFlaws(t *testing.T) {
	story(t, "Retry-After is a constant", perSecond(10, 2), func(d *desk) {
		d.passes("a", 10)
		d.refused("a", 1, 500*time.Millisecond)
		d.refused("a", 3, 1500*time.Millisecond)
		time.Sleep(200 * time.Millisecond)
		d.refused("a", 1, 300*time.Millisecond)
		time.Sleep(300*time.Millisecond - 1)
		d.refused("a", 1, 1)
		time.Sleep(time.Nanosecond)
		d.passes("a", 1)
	})

	story(t, "refill stamps every bucket so cleanup never finds an idle one", perSecond(5, 1), func(d *desk) {
		for i := range 100 {
			d.passes(fmt.Sprint("client ", i), 1)
		}
		for range 10 { // twice as long as it takes to fill a bucket, all read all the time
			time.Sleep(time.Second)
			for i := range 100 {
				d.Tokens(fmt.Sprint("client ", i))
			}
		}
		if n := d.Cleanup(); n != 100 {
			d.Fatalf("%d of 100 idle clients found", n)
		}
		d.knows(0)
	})

	story(t, "deleting a drained bucket hands out a full one", perclient.Options{Capacity: 10, Refill: 1, Every: time.Hour}, func(d *desk) {
		d.passes("a", 10)
		for hour := time.Duration(1); hour < 10; hour++ {
			time.Sleep(time.Hour)
			d.Cleanup()
			d.knows(1)
			d.refused("a", 10, 10*time.Hour-hour*time.Hour)
		}
	})

	t.Run("spurious 429 when cleanup races a request", func(t *testing.T) {
		// A bucket that is full again at once is idle whenever it is looked at.
		d := newDesk(t, perclient.Options{Capacity: 1 << 30, Refill: 1 << 30, Every: time.Nanosecond})
		ctx, stop := context.WithCancel(t.Context())
		var cleaners, callers sync.WaitGroup
		for range 2 {
			cleaners.Go(func() {
				for ctx.Err() == nil {
					d.Cleanup()
				}
			})
		}
		for range 4 {
			callers.Go(func() {
				for range 5000 {
					if answer, err := d.Take("a", 1); err != nil || !answer.OK {
						t.Errorf("%+v, %v", answer, err)
						return
					}
				}
			})
		}
		callers.Wait()
		stop()
		cleaners.Wait()
	})

	t.Run("spurious 429, on clients seen once", func(t *testing.T) {
		d := newDesk(t, perclient.Options{Capacity: 3, Refill: 1, Every: time.Hour})
		ctx, stop := context.WithCancel(t.Context())
		var cleaner, callers sync.WaitGroup
		cleaner.Go(func() {
			for ctx.Err() == nil {
				d.Cleanup()
			}
		})
		for caller := range 4 {
			callers.Go(func() {
				for i := range 500 {
					name := fmt.Sprint(caller, " ", i)
					d.Tokens(name) // made full: the cleaner may take it away again at any moment
					for n := range 4 {
						if answer, err := d.Take(name, 1); err != nil || answer.OK != (n < 3) {
							t.Errorf("call %d: %+v, %v", n, answer, err)
							return
						}
					}
				}
			})
		}
		callers.Wait()
		stop()
		cleaner.Wait()
	})

	story(t, "sweep over all keys each tick, or else they are kept", perclient.Options{
		Capacity: 1, Refill: 1, Every: time.Second, MostClients: 10_000,
	}, func(d *desk) {
		// Without any tick: newcomers clear away what is idle in their own
		// corner, so there are never very many more buckets than busy clients.
		for i := range 10_000 {
			d.passes(fmt.Sprint("client ", i), 1)
			time.Sleep(100 * time.Millisecond) // ten are busy at any time
			if n := d.Clients(); n > 2000 {
				d.Fatalf("%d clients known, 10 are busy", n)
			}
		}
	})

	t.Run("sweep over all keys each tick, and everybody waits for it", func(t *testing.T) {
		d := newDesk(t, perclient.Options{Capacity: 10, Refill: 1, Every: time.Hour})
		for i := range 30_000 {
			d.passes(fmt.Sprint("client ", i), 1)
		}
		var sweeping atomic.Bool
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var cleaner sync.WaitGroup
		cleaner.Go(func() {
			for ctx.Err() == nil {
				sweeping.Store(true)
				d.Cleanup()
				sweeping.Store(false)
			}
		})
		// Sooner or later a whole call begins and ends within one sweep.
		for within := 0; within < 3 && ctx.Err() == nil; {
			if sweeping.Load() {
				if _, err := d.Take("busy", 1); err != nil {
					t.Error(err)
					break
				}
				if sweeping.Load() {
					within++
				}
			}
		}
		if ctx.Err() != nil {
			t.Error("no call got through while a sweep went on")
		}
		stop()
		cleaner.Wait()
		d.knows(30_001)
	})
}
