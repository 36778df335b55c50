package limiter

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestClockStandsStillOrStepsBack plays a history under a clock that does, and
// under one that only ever goes on: an instant before the last one seen counts
// as that, so that nothing comes back twice.
func TestClockStandsStillOrStepsBack(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		rules := []Rule{
			TokenBucket{Size: 20, Refill: 7, Every: 13},
			TokenBucket{Size: 9, Refill: 1, Every: 50, StartEmpty: true},
			SlidingWindow{Limit: 20, Window: 40},
			SlidingWindow{Limit: 20, Window: 60, Grain: 7},
			Total{Limit: 500},
			AtOnce{Limit: 30},
		}
		rule := rules[int(seed)%len(rules)]
		stepping := new(Budget).init("stepping", 1, newTerms(new(Memory), "b", rule), instant{ns: 1000})
		steady := new(Budget).init("steady", 2, newTerms(new(Memory), "b", rule), instant{ns: 1000})
		now, latest := int64(1000), int64(1000)
		type pair struct{ stepping, steady *hold }
		var open []pair
		for step := range 400 {
			switch random.IntN(4) {
			case 0:
				now -= random.Int64N(50)
			case 1:
				now += random.Int64N(80)
			}
			latest = max(latest, now)
			stepping.enter(instant{ns: now})
			steady.enter(instant{ns: latest})
			n := 1 + random.Int64N(rule.Capacity()/2)
			if got, want := stepping.counter().wait(n), steady.counter().wait(n); got != want {
				t.Fatalf("seed %d, step %d, %+v: %d waits %v, want %v", seed, step, rule, n, got, want)
			}
			switch {
			case random.IntN(3) == 0 && len(open) > 0:
				p := open[0]
				open = open[1:]
				used := random.Int64N(p.steady.n + 1)
				stepping.counter().settle(p.stepping, used)
				steady.counter().settle(p.steady, used)
			case steady.fits(n, nil, latest):
				p := pair{&hold{budget: stepping, n: n}, &hold{budget: steady, n: n}}
				stepping.counter().hold(p.stepping)
				steady.counter().hold(p.steady)
				open = append(open, p)
			}
			if u, h := stepping.counter().counted(); u < 0 || h < 0 {
				t.Fatalf("seed %d, step %d: %d used, %d held", seed, step, u, h)
			}
		}
	}
}

// TestClockReadAfterTheWord has callers take all that a bucket has as soon as
// it is whole, and look at what they are told. One who read the clock before
// the state would now and then find in it what others have spent after that:
// more than there is, to be waited for longer than all of it takes.
func TestClockReadAfterTheWord(t *testing.T) {
	const callers, calls, size, each = 4, 100_000, 3, 20 * time.Nanosecond
	m := NewMemory()
	b := m.Budget("b", TokenBucket{Size: size, Refill: 1, Every: each})
	var passed atomic.Int64
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			charges := []Charge{{Budget: b, N: size}}
			for i := range calls {
				var d Decision
				var err error
				if caller == 0 && i%16 == 0 { // closes the lane
					d, err = m.Peek(t.Context(), charges)
				} else {
					d, err = m.TryAcquire(t.Context(), charges)
					if d.OK {
						passed.Add(1)
					}
				}
				s := charges[0].State
				if err != nil || s.Used > size || s.Remaining != size-s.Used || d.RetryAfter > size*each || s.ResetAfter > size*each {
					t.Errorf("%+v, %+v, %v", d, s, err)
					return
				}
			}
		})
	}
	all.Wait()
	if passed.Load() == 0 {
		t.Error("nothing passed")
	}
}

// TestRacesForTheWord has two callers take one each from a bucket that gets one
// back each nanosecond. Neither can ever find it empty, nor more than two spent,
// however often the other comes first.
func TestRacesForTheWord(t *testing.T) {
	for _, size := range []int64{2, 1_000_000} {
		b := NewMemory().Budget("b", TokenBucket{Size: size, Refill: 1, Every: 1})
		m := b.Owner().(*Memory)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				charges := []Charge{{Budget: b, N: 1}}
				for range 300_000 {
					d, err := m.TryAcquire(t.Context(), charges)
					if s := charges[0].State; err != nil || !d.OK || s.Used > 2 || s.Remaining != size-s.Used {
						t.Errorf("%+v, %v: %+v", d, err, s)
						return
					}
					if ok, err := b.TryAcquire(t.Context(), 1); !ok || err != nil {
						t.Errorf("a bucket that is never empty: %v, %v", ok, err)
						return
					}
				}
			})
		}
		both.Wait()
	}
}
