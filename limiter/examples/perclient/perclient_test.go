package perclient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/perclient"
)

func TestBuckets(t *testing.T) {
	story(t, "T5: drained, and 1.1 seconds later one passes", perSecond(5, 1), func(d *desk) {
		d.passes("a", 5)
		d.refused("a", 1, time.Second)
		time.Sleep(1100 * time.Millisecond)
		d.passes("a", 1)
		d.refused("a", 1, 900*time.Millisecond) // the tenth of a token that was left is not lost
	})
	story(t, "T7: clients do not feel each other", perSecond(3, 1), func(d *desk) {
		d.passes("a", 3)
		d.refused("a", 1, time.Second)
		d.has("b", 3)
		d.passes("b", 3)
	})
	story(t, "T9: the worked table", perSecond(10, 1), func(d *desk) {
		d.passes("a", 1)
		d.passes("a", 1)
		d.passes("a", 1)
		d.has("a", 7)
		time.Sleep(time.Second)
		d.has("a", 8)
		for range 8 {
			d.passes("a", 1)
		}
		d.refused("a", 1, time.Second)
		time.Sleep(time.Second)
		d.passes("a", 1)
		d.refused("a", 1, time.Second)
	})
	story(t, "T10: the eleventh of eleven", perSecond(10, 1), func(d *desk) {
		for range 10 {
			d.passes("a", 1)
		}
		d.refused("a", 1, time.Second)
	})
	story(t, "a fraction is not a token", perSecond(2, 3), func(d *desk) {
		d.passes("a", 2)
		time.Sleep(time.Second/3 - 1)
		d.refused("a", 1, 2) // a third of a second, and it is not a whole number of nanoseconds
		time.Sleep(2 * time.Nanosecond)
		d.passes("a", 1)
	})
	story(t, "refill is proportional to time and ends at the capacity", perSecond(100, 40), func(d *desk) {
		d.passes("a", 100)
		for _, want := range []int64{10, 20, 30, 40} {
			time.Sleep(time.Second / 4)
			d.has("a", want)
		}
		time.Sleep(time.Hour)
		d.has("a", 100)
	})
	story(t, "more than fits", perSecond(5, 1), func(d *desk) {
		d.refused("a", 6, limiter.Never)
		d.has("a", 5)
	})
	story(t, "misuse", perSecond(5, 1), func(d *desk) {
		for _, n := range []int64{-1, math.MinInt64} {
			if answer, err := d.Take("a", n); err == nil || answer.OK {
				d.Fatalf("took %d: %+v", n, answer)
			}
		}
		d.has("a", 5)
		if _, err := perclient.New(perclient.Options{Capacity: 5, Refill: 0, Every: time.Second}); err == nil {
			d.Fatal("a bucket that never refills was made")
		}
	})
}

// T6: of twenty at once on a bucket of five, five pass. The bucket is made by
// whoever comes first, and all twenty must find that one.
func TestT6TwentyAtOnce(t *testing.T) {
	story(t, "five pass, fifteen do not", perSecond(5, 1), func(d *desk) {
		for round := range 50 {
			client := fmt.Sprint("client ", round)
			var passed, refused atomic.Int64
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					switch answer, err := d.Take(client, 1); {
					case err != nil:
						d.Error(err)
					case answer.OK:
						passed.Add(1)
					default:
						refused.Add(1)
					}
				})
			}
			all.Wait()
			if passed.Load() != 5 || refused.Load() != 15 {
				d.Fatalf("%d passed, %d refused", passed.Load(), refused.Load())
			}
			d.knows(round + 1)
		}
	})
}

// T8, with the refill path at work: every bucket is brought up to date and
// read each second, which must make nobody look busy.
func TestT8Cleanup(t *testing.T) {
	story(t, "idle clients are forgotten, drained ones are not", perSecond(60, 1), func(d *desk) {
		ctx, stop := context.WithCancel(d.Context())
		cleaner := make(chan error, 1)
		go func() { cleaner <- d.Buckets.Run(ctx, 10*time.Second) }()

		d.passes("idle", 1)
		d.passes("drained", 60)
		for second := 1; second < 60; second++ {
			time.Sleep(time.Second)
			if second < 5 {
				d.has("idle", 60)
			}
			d.has("drained", int64(second))
		}
		d.knows(1)
		d.refused("drained", 60, time.Second)
		time.Sleep(11 * time.Second)
		d.knows(0)        // full again: as good as new
		d.has("idle", 60) // and so it comes back
		d.has("drained", 60)

		stop()
		if err := <-cleaner; !errors.Is(err, context.Canceled) {
			d.Fatal(err)
		}
	})
}

// The one test on the real clock: who waits as told passes.
func TestRealTime(t *testing.T) {
	d := newDesk(t, perclient.Options{Capacity: 4, Refill: 1, Every: 50 * time.Millisecond})
	for range 5 {
		if answer := d.take("a", 3); !answer.OK {
			if answer.RetryAfter <= 0 || answer.RetryAfter > 150*time.Millisecond {
				t.Fatalf("%+v", answer)
			}
			time.Sleep(answer.RetryAfter)
			d.passes("a", 3)
		}
	}
}
