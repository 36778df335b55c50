package gate_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/gate"
)

// desk is a gate with verbs that fail the test.
type desk struct {
	*testing.T
	*gate.Gate
}

// story tells a test in a bubble, where time.Sleep moves the clock.
func story(t *testing.T, name string, o gate.Options, tell func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if o.Limiter == nil {
				o.Limiter = limiter.NewMemory()
			}
			tell(newDesk(t, o))
		})
	})
}

func newDesk(t *testing.T, o gate.Options) *desk {
	t.Helper()
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, g}
}

func (d *desk) take(n int64, keys ...gate.Key) gate.Answer {
	d.Helper()
	answer, err := d.Take(context.Background(), n, keys...)
	if err != nil {
		d.Fatal(err)
	}
	return answer
}

func (d *desk) passes(n int64, keys ...gate.Key) gate.Answer {
	d.Helper()
	answer := d.take(n, keys...)
	if !answer.Allowed || answer.Unchecked != nil || answer.RetryAfter != 0 {
		d.Fatalf("%d for %v: %+v", n, keys, answer)
	}
	return answer
}

// refused wants a batch refused by one of its keys, with that wait.
func (d *desk) refused(by gate.Key, wait time.Duration, n int64, keys ...gate.Key) {
	d.Helper()
	if answer := d.take(n, keys...); answer.Allowed || answer.Key != by || answer.RetryAfter != wait {
		d.Fatalf("%d for %v: %+v, want %v to make it wait %v", n, keys, answer, by, wait)
	}
}

func (d *desk) has(key gate.Key, tokens int64) {
	d.Helper()
	if got := d.passes(0, key).Remaining; got != tokens {
		d.Fatalf("%v has %d tokens, want %d", key, got, tokens)
	}
}

// users is a gate with one bucket for each user.
func users(c gate.Config) gate.Options {
	return gate.Options{Buckets: map[gate.Pattern]gate.Config{gate.PerUser: c}}
}

func perSecond(capacity int64, rate float64) gate.Config {
	return gate.Config{Capacity: capacity, RefillRate: rate, RefillInterval: time.Second}
}

var (
	alice, bob = gate.User("alice"), gate.User("bob")
	everywhere = []gate.Key{alice, gate.Endpoint("GET /"), gate.Global()}
)

var errDown = errors.New("store is down")

// down is a limiter whose store is down while it says so.
type down struct {
	*limiter.Memory
	now *bool
}

func (l down) TryAcquire(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	if *l.now {
		return limiter.Decision{Refused: -1}, errDown
	}
	return l.Memory.TryAcquire(ctx, charges)
}
