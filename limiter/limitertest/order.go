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
			bucket(10, 3, time.Second), bucket(7, 2, time.Second), window(12, time.Second, 0), limiter.Total{Limit: 15}, limiter.AtOnce{Limit: 9},
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
	verb    int   // of the list below
	charges []int // of the budgets
	n       []int64
	of      *told // the call of the same goroutine to draw for, or to end

	reservation *limiter.Reservation
	ok          bool
	states      []limiter.State // nil if it was told none
	err         error
}

const (
	toReserve = iota
	toTry
	toTake // one budget
	toTakeFast
	toInc
	toDraw
	toSettle
	verbs
)

func newTold(rnd *rand.Rand) told {
	c := told{verb: rnd.IntN(verbs), charges: rnd.Perm(5)[:2], n: []int64{rnd.Int64N(6), rnd.Int64N(6)}}
	if c.verb == toTake || c.verb == toTakeFast {
		c.charges, c.n = c.charges[:1], c.n[:1]
	}
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
				c.charges, c.n = last.charges, c.n[:len(last.charges)]
			}
		}
		if (c.verb == toTry || c.verb == toTake || c.verb == toTakeFast) && !takesItself(d.Limiter) {
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
	ctx, charges := context.Background(), make([]limiter.Charge, len(c.charges))
	for i := range charges {
		charges[i] = limiter.Charge{Budget: budgets[c.charges[i]], N: c.n[i]}
	}
	var got limiter.Decision
	switch c.verb {
	case toReserve:
		c.reservation, got, c.err = d.Reserve(ctx, charges)
	case toTry, toTake:
		got, c.err = limiter.TryAcquire(ctx, d.Limiter, charges)
	case toTakeFast:
		c.ok, c.err = charges[0].Budget.TryAcquire(ctx, c.n[0])
		return
	case toInc:
		c.err = d.Inc(ctx, charges)
	case toDraw:
		got, c.err = c.of.reservation.Draw(ctx, charges)
	case toSettle:
		c.err = c.of.reservation.Settle(ctx, c.n)
		return
	}
	c.ok = got.OK
	for i := range charges {
		c.states = append(c.states, charges[i].State)
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
	case toTry, toTake, toTakeFast:
		if v = k.decide(asks, nil); v.ok {
			k.count(asks, true)
		}
	case toInc:
		k.count(asks, false)
	case toDraw:
		v = k.decide(asks, calls[c.of])
		k.draw(calls[c.of], asks, v)
	case toSettle:
		k.end(calls[c.of], c.n)
	}
	for i, got := range c.states {
		s := k.state(asks[i].of)
		if got.Used != s.Used || got.Held != s.Held || got.Remaining != s.Remaining || got.Open != s.Open {
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
