package limiter_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the zones must be there on any machine

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestRestoredLikeItsTwin has one limiter live through spends and another be
// told of them, which may have begun at any time meanwhile. From then on nobody
// can tell them apart, to the nanosecond.
func TestRestoredLikeItsTwin(t *testing.T) {
	for name, rule := range map[string]func(*rapid.T) limiter.Rule{
		"bucket":            func(rt *rapid.T) limiter.Rule { return anyBucket(rt, false) },
		"bucket from empty": func(rt *rapid.T) limiter.Rule { return anyBucket(rt, true) },
		"window":            func(rt *rapid.T) limiter.Rule { return window(anyLimit(rt), anyTime(rt, "window"), 0) },
		"window in grains": func(rt *rapid.T) limiter.Rule {
			w := anyTime(rt, "window")
			return window(anyLimit(rt), w, time.Duration(rapid.Int64Range(1, int64(w)).Draw(rt, "grain")))
		},
		"calendar": func(rt *rapid.T) limiter.Rule {
			in := rapid.SampledFrom([]string{
				"UTC", "Europe/Berlin", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kathmandu",
			}).Draw(rt, "zone")
			zone, err := time.LoadLocation(in)
			if err != nil {
				rt.Fatal(err)
			}
			period := limiter.Period(rapid.IntRange(int(limiter.Hour), int(limiter.Quarter)).Draw(rt, "period"))
			return limiter.CalendarQuota{Limit: anyLimit(rt), Period: period, Zone: zone}
		},
		"total": func(rt *rapid.T) limiter.Rule { return limiter.Total{Limit: anyLimit(rt)} },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				inBubble(t, func(t *testing.T) {
					p := &pair{T: t, rt: rt, rule: rule(rt)}
					p.live()
					p.compare()
				})
			})
		})
	}
}

// inBubble hands on a panic, by which rapid learns of a failure and which must
// not end the goroutine of a bubble.
func inBubble(t *testing.T, f func(*testing.T)) {
	var failure any
	synctest.Test(t, func(t *testing.T) {
		defer func() { failure = recover() }()
		f(t)
	})
	if failure != nil {
		panic(failure)
	}
}

func anyLimit(rt *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(1, 10), rapid.Int64Range(1, 100_000), rapid.Just(int64(math.MaxInt64-1))).Draw(rt, "limit")
}

func anyTime(rt *rapid.T, label string) time.Duration {
	return time.Duration(rapid.OneOf(
		rapid.Int64Range(1, 1000), rapid.Int64Range(1, int64(time.Hour)), rapid.Just(int64(time.Minute)),
	).Draw(rt, label))
}

func anyBucket(rt *rapid.T, startsEmpty bool) limiter.TokenBucket {
	r := bucket(anyLimit(rt), rapid.Int64Range(1, 1000).Draw(rt, "refill"), anyTime(rt, "every"))
	r.StartEmpty = startsEmpty
	if r.Validate() != nil {
		r.Refill, r.Every = math.MaxInt64/2, time.Second
	}
	return r
}

// pair is a budget of a limiter that has lived through what the other one is
// told.
type pair struct {
	*testing.T
	rt   *rapid.T
	rule limiter.Rule

	born, told twin
	spends     []limiter.Spend
}

type twin struct {
	memory *limiter.Memory
	budget *limiter.Budget
}

// ask returns the answer to a charge, with the budget's state.
func (w twin) ask(p *pair, n int64) (limiter.Decision, limiter.State) {
	charges := []limiter.Charge{{Budget: w.budget, N: n}}
	d, err := w.memory.Peek(context.Background(), charges)
	if err != nil {
		p.rt.Fatalf("peek at %d: %v", n, err)
	}
	return d, charges[0].State
}

// count is Inc, cut off where that would refuse.
func (w twin) count(p *pair, n int64) {
	_, s := w.ask(p, 0)
	n = min(n, math.MaxInt64-1-s.Used)
	if err := w.memory.Inc(context.Background(), []limiter.Charge{{Budget: w.budget, N: n}}); err != nil {
		p.rt.Fatalf("count %d: %v", n, err)
	}
}

func (p *pair) amount(label string) int64 {
	limit := p.rule.Capacity()
	return rapid.OneOf(
		rapid.Int64Range(0, max(1, limit/10)), rapid.Int64Range(1, limit),
		rapid.Int64Range(1, min(limit, 1<<60)*3), rapid.Just(int64(math.MaxInt64)),
	).Draw(p.rt, label)
}

// pass lets time pass: none, some, or until just about the instant at which the
// budget is whole.
func (p *pair) pass() {
	_, s := p.born.ask(p, 0)
	scale := int64(time.Hour)
	switch r := p.rule.(type) {
	case limiter.TokenBucket:
		scale = int64(min(float64(r.Size)/float64(r.Refill)*float64(r.Every), float64(time.Hour))) + 1
	case limiter.SlidingWindow:
		scale = int64(r.Window)
	case limiter.CalendarQuota:
		scale *= []int64{limiter.Hour: 1, limiter.Day: 24, limiter.Week: 7 * 24, limiter.Month: 30 * 24, limiter.Quarter: 91 * 24}[r.Period]
	}
	whole := int64(min(s.ResetAfter, 365*24*time.Hour))
	time.Sleep(time.Duration(rapid.OneOf(
		rapid.Just(int64(0)), rapid.Int64Range(0, scale/20+1), rapid.Int64Range(0, 2*scale), rapid.Int64Range(whole-1, whole+1),
	).Draw(p.rt, "passes")))
}

// live has the first limiter count, and the second be made and then told.
func (p *pair) live() {
	time.Sleep(time.Duration(rapid.Int64Range(0, 3*365*24*int64(time.Hour)).Draw(p.rt, "begins")))
	base := time.Now()
	p.born.memory = limiter.NewMemory()
	time.Sleep(time.Duration(rapid.Int64Range(0, 1000).Draw(p.rt, "first")))
	p.born.budget = p.born.memory.Budget("b", p.rule)
	steps := rapid.IntRange(1, 30).Draw(p.rt, "steps")
	made := rapid.IntRange(0, steps).Draw(p.rt, "made")
	for i := range steps + 1 {
		if i > 0 {
			p.pass()
		}
		if i == made {
			if r, ok := p.rule.(limiter.SlidingWindow); ok && r.Grain > 0 {
				time.Sleep(r.Grain - time.Since(base)%r.Grain) // so that both have the same grains
			}
			p.told.memory = limiter.NewMemory()
			p.told.budget = p.told.memory.Budget("b", p.rule)
		}
		if i == steps {
			break
		}
		n := p.amount("spends")
		if i == 0 {
			n = max(1, n) // what begins empty does so here
		}
		at := time.Now()
		if rapid.Bool().Draw(p.rt, "stored") {
			at = at.Round(0).In(time.FixedZone("", 3600))
		}
		p.spends = append(p.spends, limiter.Spend{At: at, N: n})
		p.born.count(p, n)
	}
	p.pass()
	if rapid.Bool().Draw(p.rt, "looked at before") {
		p.told.ask(p, 1)
		p.pass()
	}
	if len(p.spends) > 1 && rapid.Bool().Draw(p.rt, "in disorder") {
		p.spends = rapid.Permutation(p.spends).Draw(p.rt, "order")
	}
	if err := p.told.memory.Restore(p.told.budget, p.spends); err != nil {
		p.rt.Fatalf("restore: %v", err)
	}
}

// compare asks both the same, as time goes on and more is charged.
func (p *pair) compare() {
	for i := range rapid.IntRange(1, 20).Draw(p.rt, "questions") {
		for _, n := range []int64{0, 1, p.rule.Capacity(), rapid.Int64Range(1, p.rule.Capacity()).Draw(p.rt, "asks")} {
			d, s := p.told.ask(p, n)
			if want, state := p.born.ask(p, n); d != want || s != state {
				p.rt.Fatalf("question %d, %+v, %d:\n%+v, %+v, want\n%+v, %+v", i, p.rule, n, d, s, want, state)
			}
			if d.RetryAfter > 0 && d.RetryAfter < 1000*time.Hour && rapid.Bool().Draw(p.rt, "waits") {
				time.Sleep(d.RetryAfter - time.Duration(rapid.IntRange(0, 1).Draw(p.rt, "almost")))
			}
		}
		n := p.amount("charges")
		switch rapid.IntRange(0, 3).Draw(p.rt, "verb") {
		case 0:
			p.born.count(p, n)
			p.told.count(p, n)
		case 1:
			a, errA := p.born.budget.TryAcquire(p.Context(), n)
			b, errB := p.told.budget.TryAcquire(p.Context(), n)
			if a != b || errA != nil || errB != nil {
				p.rt.Fatalf("%+v: %d passes: %v, %v; want %v, %v", p.rule, n, b, errB, a, errA)
			}
		default:
			p.pass()
		}
	}
}
