package gate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/gate"
)

// three is a gate with a bucket for each of three patterns.
var three = gate.Options{Buckets: map[gate.Pattern]gate.Config{
	gate.PerUser: perSecond(10, 1), gate.PerEndpoint: perSecond(20, 10), gate.PerProcess: perSecond(100, 50),
}}

func TestBatches(t *testing.T) {
	story(t, "T20: a batch of five is taken whole or not at all", users(perSecond(5, 1)), func(d *desk) {
		d.passes(1, alice)
		d.refused(alice, time.Second, 5, alice)
		d.has(alice, 4)
		time.Sleep(time.Second - 1)
		d.refused(alice, 1, 5, alice)
		time.Sleep(time.Nanosecond)
		d.passes(5, alice)
		d.has(alice, 0)
	})
	story(t, "T20: by all keys or by none", three, func(d *desk) {
		d.passes(10, everywhere...)
		d.refused(alice, 5*time.Second, 5, everywhere...)
		d.has(gate.Endpoint("GET /"), 10)
		d.has(gate.Global(), 90)
		d.passes(8, bob, gate.Endpoint("GET /"), gate.Global())
		d.refused(gate.Endpoint("GET /"), 300*time.Millisecond, 5, gate.User("carol"), gate.Endpoint("GET /"), gate.Global())
		d.has(gate.User("carol"), 10)
	})
	plain := three
	plain.Limiter = nothingElse{limiter.NewMemory()}
	t.Run("T20: with a limiter that has no families", func(t *testing.T) {
		d := newDesk(t, plain)
		d.passes(10, everywhere...)
		for range 100 {
			if got := d.take(10, everywhere...); got.Allowed || got.Key != alice {
				t.Fatalf("%+v", got)
			}
		}
		d.passes(10, bob, gate.Endpoint("GET /"), gate.Global())
	})
	story(t, "the key with the smallest share left is shown", three, func(d *desk) {
		if got := d.passes(3, everywhere...); got.Key != alice || got.Limit != 10 || got.Remaining != 7 || got.ResetAfter != 3*time.Second {
			d.Fatalf("%+v", got)
		}
		for range 5 {
			d.passes(3, gate.Endpoint("GET /"))
		}
		if got := d.passes(1, everywhere...); got.Key != gate.Endpoint("GET /") || got.Remaining != 1 {
			d.Fatalf("%+v", got)
		}
	})
	story(t, "more than a bucket holds", three, func(d *desk) {
		d.passes(10, everywhere...)
		d.refused(alice, limiter.Never, 11, everywhere...)
		d.refused(gate.Global(), limiter.Never, 101, gate.Global())
	})
	story(t, "keys of different patterns never meet", gate.Options{Buckets: map[gate.Pattern]gate.Config{
		gate.PerUser: perSecond(1, 1), gate.PerIP: perSecond(1, 1), gate.PerEndpoint: perSecond(1, 1), gate.PerProcess: perSecond(1, 1),
	}}, func(d *desk) {
		for _, key := range []gate.Key{
			gate.User("192.0.2.1"), gate.IP(netip.MustParseAddr("192.0.2.1")), gate.Endpoint("192.0.2.1"), gate.Global(),
			gate.User(""), gate.Endpoint(""), gate.User("user:"), gate.User("endpoint:192.0.2.1"), gate.IP(netip.MustParseAddr("2001:db8::1")),
		} {
			d.passes(1, key)
			d.refused(key, time.Second, 1, key)
		}
		d.refused(gate.IP(netip.MustParseAddr("192.0.2.1")), time.Second, 1, gate.IP(netip.MustParseAddr("::ffff:192.0.2.1")))
	})
	story(t, "misuse", three, func(d *desk) {
		for _, c := range []struct {
			n    int64
			keys []gate.Key
		}{{1, nil}, {-1, everywhere}, {1, []gate.Key{alice, bob}}, {1, []gate.Key{alice, alice}}, {1, []gate.Key{{"team", "a"}}}} {
			if got, err := d.Take(context.Background(), c.n, c.keys...); err == nil || got.Allowed {
				d.Errorf("%d for %v: %+v", c.n, c.keys, got)
			}
		}
		d.has(alice, 10)
	})
}

// nothingElse is a limiter that can do what every limiter can.
type nothingElse struct{ limiter.Limiter }

// TestCallers has sixty-four callers spend a bucket that they share, along with
// one that they do not.
func TestCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := three
		o.Limiter = limiter.NewMemory()
		d := newDesk(t, o)
		start := time.Now()
		var passed atomic.Int64
		var all sync.WaitGroup
		for caller := range 64 {
			all.Go(func() {
				user := gate.User(string(rune('a' + caller)))
				for range 100 {
					if n := 1 + rand.Int64N(5); d.take(n, user, gate.Global()).Allowed {
						passed.Add(n)
					}
					time.Sleep(time.Duration(10+caller) * time.Millisecond)
				}
			})
		}
		all.Wait()
		theory := 100 + 50*int64(time.Since(start))/int64(time.Second)
		if got := passed.Load() + d.passes(0, gate.Global()).Remaining; got > theory || passed.Load() < theory*9/10 {
			t.Fatalf("%d taken, %d with what is left, theory %d", passed.Load(), got, theory)
		}
	})
}

// T22, open and closed: a limiter that cannot answer for a while.
func TestT22LimiterDown(t *testing.T) {
	for name, policy := range map[string]gate.Policy{"closed": gate.Closed, "open": gate.Open} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := false
				o := users(perSecond(5, 1))
				o.WhenDown, o.Limiter = policy, down{limiter.NewMemory(), &now}
				d := newDesk(t, o)
				d.passes(4, alice)
				now = true
				for range 10 {
					got, err := d.Take(context.Background(), 5, alice)
					switch {
					case policy == gate.Open && (err != nil || !got.Allowed || !errors.Is(got.Unchecked, errDown)):
						t.Fatalf("%+v, %v", got, err)
					case policy == gate.Closed && (!errors.Is(err, errDown) || got.Allowed):
						t.Fatalf("%+v, %v", got, err)
					}
					if _, err := d.Take(context.Background(), -5, alice); err == nil || errors.Is(err, errDown) {
						t.Fatalf("misuse is let through: %v", err)
					}
				}
				now = false
				d.has(alice, 1) // what passed meanwhile was not counted, and nothing else was changed
				d.refused(alice, 4*time.Second, 5, alice)
			})
		})
	}
}

// silent is a limiter whose store never answers.
type silent struct{ *limiter.Memory }

func (silent) TryAcquire(ctx context.Context, _ []limiter.Charge) (limiter.Decision, error) {
	<-ctx.Done()
	return limiter.Decision{Refused: -1}, ctx.Err()
}

func TestT22LimiterSilent(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 100 * time.Millisecond, time.Second: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			o := users(perSecond(5, 1))
			o.Timeout, o.WhenDown, o.Limiter = timeout, gate.Open, silent{limiter.NewMemory()}
			d := newDesk(t, o)
			start := time.Now()
			if got := d.take(1, alice); !errors.Is(got.Unchecked, context.DeadlineExceeded) || time.Since(start) != want {
				t.Fatalf("%+v after %v", got, time.Since(start))
			}
			gone, leave := context.WithTimeout(t.Context(), time.Millisecond)
			defer leave()
			if got, err := d.Take(gone, 1, alice); err == nil || got.Allowed {
				t.Fatalf("let through, though nobody waits for it: %+v", got)
			}
		})
	}
}

// The one test on the real clock: who waits as told passes.
func TestRealTime(t *testing.T) {
	o := users(gate.Config{Capacity: 5, RefillRate: 2.5, RefillInterval: 100 * time.Millisecond})
	o.Limiter = limiter.NewMemory()
	o.Timeout = time.Minute
	d := newDesk(t, o)
	for range 4 {
		if got := d.take(3, alice); !got.Allowed {
			if got.RetryAfter <= 0 || got.RetryAfter > 120*time.Millisecond {
				t.Fatalf("%+v", got)
			}
			time.Sleep(got.RetryAfter)
			d.passes(3, alice)
		}
	}
}
