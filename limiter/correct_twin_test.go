package limiter_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestCorrectedLikeRebuilt has a limiter live through calls and corrections of
// calls that have ended, while others run. After each step it counts what one
// does that is rebuilt from what all calls are charged by then, and calls that
// run end as if the correction had always been known.
func TestCorrectedLikeRebuilt(t *testing.T) {
	for name, rule := range map[string]func(*rapid.T) limiter.Rule{
		"bucket": func(rt *rapid.T) limiter.Rule {
			return bucket(rapid.Int64Range(10, 1000).Draw(rt, "size"), rapid.Int64Range(1, 50).Draw(rt, "refill"), time.Second)
		},
		"window": func(rt *rapid.T) limiter.Rule { return window(1000, time.Minute, 0) },
		"window in grains": func(rt *rapid.T) limiter.Rule {
			return window(1000, time.Minute, time.Duration(rapid.SampledFrom([]int64{60, 1000, 20_000}).Draw(rt, "grain"))*time.Millisecond)
		},
		"calendar": func(rt *rapid.T) limiter.Rule { return limiter.CalendarQuota{Limit: 1000, Period: limiter.Hour} },
		"total":    func(rt *rapid.T) limiter.Rule { return limiter.Total{Limit: 1000} },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				inBubble(t, func(t *testing.T) {
					c := &corrected{desk: newDesk(t), rt: rt, rule: rule(rt)}
					c.budget = c.Budget("b", c.rule)
					c.live()
				})
			})
		})
	}
}

// corrected is a budget with a ledger of all that was charged to it.
type corrected struct {
	*desk
	rt     *rapid.T
	rule   limiter.Rule
	budget *limiter.Budget
	calls  []recorded
}

// recorded is what the ledger has of a call.
type recorded struct {
	at   time.Time
	n    int64
	held *limiter.Reservation // nil: it has ended
}

func (c *corrected) live() {
	for range rapid.IntRange(2, 40).Draw(c.rt, "steps") {
		// A ledger's dates are exact here; no two calls are told apart by less than it takes to date one.
		time.Sleep(time.Duration(rapid.OneOf(rapid.Int64Range(2, 200), rapid.Int64Range(2, 5_000), rapid.Int64Range(2, 90_000)).Draw(c.rt, "passes")) * time.Millisecond)
		switch rapid.IntRange(0, 4).Draw(c.rt, "verb") {
		case 0, 1:
			c.begin()
		case 2:
			c.end()
		default:
			c.amend()
		}
		c.compare()
	}
}

func (c *corrected) begin() {
	n := rapid.Int64Range(1, 300).Draw(c.rt, "reserves")
	charges := []limiter.Charge{{Budget: c.budget, N: n}}
	r, d, err := c.Reserve(c.Context(), charges)
	if err != nil {
		c.rt.Fatal(err)
	}
	if d.OK {
		c.calls = append(c.calls, recorded{at: time.Now().Round(0), n: n, held: r})
	}
}

// pick is a call that has ended, or one that has not.
func (c *corrected) pick(open bool) *recorded {
	var list []*recorded
	for i := range c.calls {
		if (c.calls[i].held != nil) == open {
			list = append(list, &c.calls[i])
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(c.rt, "which")
}

func (c *corrected) end() {
	call := c.pick(true)
	if call == nil {
		return
	}
	call.n = rapid.Int64Range(0, call.n).Draw(c.rt, "used")
	c.settle(call.held, call.n)
	call.held = nil
}

// amend corrects one or two calls at once.
func (c *corrected) amend() {
	mark, err := c.Mark(c.budget)
	if err != nil {
		c.rt.Fatal(err)
	}
	was := c.spends()
	for range rapid.IntRange(1, 2).Draw(c.rt, "corrections") {
		call := c.pick(false)
		if call == nil {
			return
		}
		n := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 600)).Draw(c.rt, "becomes")
		if err := c.Correct(c.budget, call.at, n-call.n); err != nil {
			c.rt.Fatal(err)
		}
		call.n = n
	}
	if rapid.IntRange(0, 9).Draw(c.rt, "another ends meanwhile") == 0 {
		if call := c.pick(true); call != nil {
			c.settle(call.held, call.n) // at all it had: the ledger need not know
			call.held = nil
		}
	}
	if err := c.Recount(c.budget, mark, was, c.spends(), nil); err != nil {
		c.rt.Fatal(err)
	}
}

func (c *corrected) spends() []limiter.Spend {
	list := make([]limiter.Spend, 0, len(c.calls))
	for _, call := range c.calls {
		list = append(list, limiter.Spend{At: call.at, N: call.n})
	}
	return list
}

// compare wants what a start would make of the ledger now.
func (c *corrected) compare() {
	again := limiter.NewMemory()
	if r, ok := c.rule.(limiter.SlidingWindow); ok && r.Grain > 0 {
		// Grains of another limiter begin when it does. Entries leave late by less than one.
		early, late := int64(0), int64(0)
		for _, call := range c.calls {
			if age := time.Since(call.at); age < r.Window {
				early += call.n
				late += call.n
			} else if age < r.Window+r.Grain {
				late += call.n
			}
		}
		if s := c.state(c.budget); s.Used+s.Held < early || s.Used+s.Held > late {
			c.rt.Fatalf("%+v counts %d, want from %d to %d: %v", c.rule, s.Used+s.Held, early, late, c.calls)
		}
		return
	}
	b := again.Budget("b", c.rule)
	if _, isBucket := c.rule.(limiter.TokenBucket); isBucket && len(c.calls) == 0 {
		return
	}
	if err := again.Restore(b, c.spends()); err != nil {
		c.rt.Fatal(err)
	}
	charges := []limiter.Charge{{Budget: b}}
	if _, err := again.Peek(c.Context(), charges); err != nil {
		c.rt.Fatal(err)
	}
	got, want := c.state(c.budget), charges[0].State
	if got.Used+got.Held != want.Used || got.ResetAfter != want.ResetAfter {
		c.rt.Fatalf("%+v: %+v, rebuilt %+v: %v", c.rule, got, want, c.calls)
	}
}

// TestACorrectionGivesNothingTwice: while the ledger is read for it, what a call did not use comes back, which the ledger does
// not say yet.
func TestACorrectionGivesNothingTwice(t *testing.T) {
	story(t, "a bucket that was full but for both", func(d *desk) {
		b := d.Budget("b", bucket(100, 1, time.Second))
		then := time.Now().Round(0)
		d.passes(b, 60)
		r := d.reserve(b, 40)
		time.Sleep(50 * time.Second) // half of it is back
		mark, err := d.Mark(b)
		if err != nil {
			d.Fatal(err)
		}
		d.settle(r, 0)
		d.counts(b, 10, 0)
		d.passes(b, 70)
		was := []limiter.Spend{{At: then, N: 60}, {At: then, N: 40}}
		if err := d.Recount(b, mark, was, was[1:], nil); err != nil {
			d.Fatal(err)
		}
		d.counts(b, 70, 0) // without both it would have been full, and then the 70
	})
	story(t, "one that is larger now", func(d *desk) {
		b := d.Budget("b", bucket(100, 1, time.Second))
		if err := d.Recount(b, limiter.Mark{}, nil, []limiter.Spend{ago(time.Hour, 4000), ago(time.Second, 5)}, nil); err != nil {
			d.Fatal(err)
		}
		d.counts(b, 405, 0)
		if err := d.Recount(b, limiter.Mark{}, nil, []limiter.Spend{{N: -1}}, nil); err == nil {
			d.Fatal("a negative amount passes")
		}
		d.counts(b, 405, 0)
	})
}
