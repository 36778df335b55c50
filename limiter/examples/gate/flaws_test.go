package gate_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/gate"
)

// TestFlaws has one test for each flaw of the article this is after, in its
// words. The article's buckets are in a store. Until a limiter has one, the
// buckets here are in memory, and three of the tests are of their counterparts:
// idle keys are dropped instead of expiring, a refusal is seen to change
// nothing instead of to write nothing, and callers are seen not to wait for
// each other's calls to the limiter instead of for a connection.
func TestFlaws(t *testing.T) {
	t.Run("caller-supplied clock", func(t *testing.T) {
		for _, api := range []reflect.Type{reflect.TypeFor[*gate.Gate](), reflect.TypeFor[limiter.Limiter](), reflect.TypeFor[*limiter.Budget]()} {
			for method := range api.Methods() {
				for in := range method.Type.Ins() {
					if in == reflect.TypeFor[time.Time]() {
						t.Errorf("%v.%s is told the time", api, method.Name)
					}
				}
			}
		}
		// Whatever callers do, tokens come back with the limiter's time alone.
		story(t, "no time, no refill", users(perSecond(10, 1000)), func(d *desk) {
			d.passes(10, alice)
			for range 10_000 {
				d.refused(alice, time.Millisecond, 1, alice)
			}
		})
	})

	story(t, "refill only in whole intervals", users(gate.Config{Capacity: 10, RefillRate: 10, RefillInterval: 10 * time.Second}), func(d *desk) {
		d.passes(10, alice)
		for range 10 {
			time.Sleep(time.Second - 1)
			d.refused(alice, 1, 1, alice)
			time.Sleep(time.Nanosecond)
			d.passes(1, alice)
		}
	})

	story(t, "Retry-After = floor(interval) (0 for half a second)", users(gate.Config{Capacity: 4, RefillRate: 1, RefillInterval: 500 * time.Millisecond}), func(d *desk) {
		d.passes(4, alice)
		d.refused(alice, 500*time.Millisecond, 1, alice)
		d.refused(alice, 2*time.Second, 4, alice)
		time.Sleep(499 * time.Millisecond)
		d.refused(alice, time.Millisecond, 1, alice) // in seconds, rounded up, by proxy/httplimit
	})

	story(t, "no expiry", users(perSecond(2, 1)), func(d *desk) {
		for i := range 10_000 {
			d.passes(1+int64(i%2), gate.User(fmt.Sprint(i)))
		}
		time.Sleep(time.Second)
		if left := d.Sweep(); left != 5_000 {
			d.Fatalf("%d keys left, 5000 have not got all back yet", left)
		}
		time.Sleep(time.Second)
		if left := d.Sweep(); left != 0 {
			d.Fatalf("%d keys left", left)
		}
	})

	story(t, "writes on denial", three, func(d *desk) {
		d.passes(10, everywhere...)
		d.passes(10, bob, gate.Endpoint("GET /"))
		before := d.take(1, everywhere...)
		for range 1000 {
			if after := d.take(1, everywhere...); after != before || after.Allowed {
				d.Fatalf("%+v, before %+v", after, before)
			}
		}
		time.Sleep(before.RetryAfter) // and hammering has not put it off
		d.passes(1, everywhere...)
		d.has(gate.Global(), 99) // 90, all back in a second, and one taken
	})

	story(t, "cost 1 only", users(perSecond(1_000_000, 1000)), func(d *desk) {
		for _, n := range []int64{1, 0, 5, 999_994} {
			d.passes(n, alice)
		}
		d.refused(alice, 7*time.Second, 7000, alice)
		time.Sleep(7 * time.Second)
		d.passes(7000, alice)
	})

	story(t, "non-atomic batch that loses a partial take", three, func(d *desk) {
		d.passes(7, alice)
		for range 100 {
			d.refused(alice, 2*time.Second, 5, everywhere...)
		}
		d.passes(3, alice)
		d.has(gate.Global(), 100)
		d.has(gate.Endpoint("GET /"), 20)
	})

	t.Run("one locked connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := held{limiter.NewMemory(), make(chan struct{})}
			o := users(perSecond(5, 1))
			o.Limiter = slow
			d := newDesk(t, o)
			answered := make(chan bool)
			go func() { answered <- d.take(5, alice).Allowed }()
			synctest.Wait() // until alice's call is under way, and stays so
			for range 5 {
				d.passes(1, bob)
			}
			close(slow.release)
			if !<-answered {
				t.Error("alice was refused")
			}
		})
	})
}

// held is a limiter that holds calls for five tokens until it is told to go on.
type held struct {
	*limiter.Memory
	release chan struct{}
}

func (l held) TryAcquire(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	if charges[0].N == 5 {
		<-l.release
	}
	return l.Memory.TryAcquire(ctx, charges)
}
