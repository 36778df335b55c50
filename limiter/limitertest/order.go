package limitertest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// orderStories hold the answers that goroutines got at one instant against the
// reference: there must be an order of the calls, keeping that of each
// goroutine, in which the reference gives all of them the very same answers.
// (P7)
var orderStories = []story{
	{"what goroutines are told at once could have been told one after the other", func(d *desk) {
		rules := []limiter.Rule{
			bucket(10, 3, time.Second), window(12, time.Second, 0), limiter.Total{Limit: 15}, limiter.AtOnce{Limit: 9},
		}
		wall := d.h.now(d)
		for round := range 150 {
			rnd := rand.New(rand.NewPCG(uint64(round), 1))
			var budgets []*limiter.Budget
			for i, rule := range rules {
				budgets = append(budgets, d.Budget(string(rune('a'+i))+string(rune('A'+round)), rule))
			}
			lines := make([][]told, 3)
			for i := range lines {
				for range 4 {
					lines[i] = append(lines[i], newTold(rnd))
				}
			}
			var wg sync.WaitGroup
			for _, line := range lines {
				wg.Go(func() { runLine(d, budgets, line) })
			}
			wg.Wait()
			replay := func(order []*told) bool {
				k := &book{tick: d.h.Tick}
				var accounts []*account
				for i, rule := range rules {
					accounts = append(accounts, newAccount(budgets[i].Name(), rule, 0, wall))
				}
				calls := map[*told]*call{}
				for _, c := range order {
					if !c.agrees(k, accounts, calls) {
						return false
					}
				}
				return true
			}
			if !ordered(lines, nil, replay) {
				for i, line := range lines {
					for _, c := range line {
						d.Logf("goroutine %d: %+v", i, c)
					}
				}
				d.Fatalf("round %d: in no order of the calls", round)
			}
		}
	}},
}

// told is one call of a goroutine and the answer it got.
type told struct {
	verb    int // of the list below
	charges [2]int
	n       [2]int64
	of      *told // the call of the same goroutine to draw for, or to end

	reservation *limiter.Reservation
	ok          bool
	states      [2]limiter.State
	err         error
}

const (
	toReserve = iota
	toTry
	toInc
	toDraw
	toSettle
	verbs
)

func newTold(rnd *rand.Rand) told {
	c := told{verb: rnd.IntN(verbs), n: [2]int64{rnd.Int64N(6), rnd.Int64N(6)}}
	c.charges[0] = rnd.IntN(4)
	c.charges[1] = (c.charges[0] + 1 + rnd.IntN(3)) % 4
	return c
}

func runLine(d *desk, budgets []*limiter.Budget, line []told) {
	var last *told
	for i := range line {
		c := &line[i]
		if c.verb >= toDraw {
			if c.of = last; last == nil || !last.ok {
				c.verb, c.of = toReserve, nil
			} else {
				c.charges = last.charges
			}
		}
		if c.verb == toTry && !takesItself(d.Limiter) {
			c.verb = toReserve // which it is, and an end, and something may come in between
		}
		c.run(d, budgets)
		switch c.verb {
		case toReserve:
			last = c
		case toSettle:
			last = nil
		}
	}
}

func (c *told) run(d *desk, budgets []*limiter.Budget) {
	ctx, charges := context.Background(), make([]limiter.Charge, 2)
	for i := range charges {
		charges[i] = limiter.Charge{Budget: budgets[c.charges[i]], N: c.n[i]}
	}
	var got limiter.Decision
	switch c.verb {
	case toReserve:
		c.reservation, got, c.err = d.Reserve(ctx, charges)
	case toTry:
		got, c.err = limiter.TryAcquire(ctx, d.Limiter, charges)
	case toInc:
		c.err = d.Inc(ctx, charges)
	case toDraw:
		got, c.err = c.of.reservation.Draw(ctx, charges)
	case toSettle:
		c.err = c.of.reservation.Settle(ctx, c.n[:])
	}
	c.ok = got.OK
	for i := range charges {
		c.states[i] = charges[i].State
	}
}

// agrees has the reference make the call, and reports whether it gets the same
// answer and leaves the same states.
func (c *told) agrees(k *book, accounts []*account, calls map[*told]*call) bool {
	var asks []ask
	for i := range c.charges {
		asks = append(asks, ask{accounts[c.charges[i]], c.n[i]})
	}
	v := verdict{}
	switch c.verb {
	case toReserve:
		if v = k.decide(asks, nil); v.ok {
			calls[c] = k.begin(asks)
		}
	case toTry:
		if v = k.decide(asks, nil); v.ok {
			k.count(asks, true)
		}
	case toInc:
		k.count(asks, false)
	case toDraw:
		v = k.decide(asks, calls[c.of])
		k.draw(calls[c.of], asks, v)
	case toSettle:
		k.end(calls[c.of], c.n[:])
		return c.err == nil
	}
	for i, a := range asks {
		s := k.state(a.of)
		if got := c.states[i]; got.Used != s.Used || got.Held != s.Held || got.Remaining != s.Remaining || got.Open != s.Open {
			return false
		}
	}
	return c.err == nil && c.ok == v.ok
}

// ordered looks for an order of the calls that holds, beginning with some.
func ordered(lines [][]told, begun []*told, holds func([]*told) bool) bool {
	if !holds(begun) {
		return false
	}
	left := false
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		left = true
		rest := append([][]told(nil), lines...)
		rest[i] = line[1:]
		if ordered(rest, append(slices.Clip(begun), &line[0]), holds) {
			return true
		}
	}
	return !left
}
