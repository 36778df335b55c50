package limitertest

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// book is the reference for a whole limiter: its accounts, the calls that are
// under way, and the draws that wait.
type book struct {
	tick  time.Duration
	now   time.Duration // since the limiter was made; the histories move it
	turns []*turn       // in their order
}

// ask is an amount asked of an account.
type ask struct {
	of *account
	n  int64
}

func (a ask) String() string { return fmt.Sprintf("%d of %q", a.n, a.of.name) }

// call is an open reservation: for each of its charges what was reserved and
// what was drawn on top of it, in order.
type call struct {
	asks  []ask
	parts [][]*entry
}

// turn is what a refused draw waits for, and when it lapses.
type turn struct {
	by    *call
	asks  []ask
	until time.Duration
}

// grace is how long after the instant it was told a draw still has its turn.
const grace = time.Second

// guessed stands for the wait for a call to end, which no clock knows.
const guessed time.Duration = -1

// farthest is longer than any wait of a history that is not for ever.
const farthest = 100 * 24 * time.Hour

// verdict is the answer to a call.
type verdict struct {
	ok, heldOnly, atOnce bool
	tooBig               bool          // those that explain the refusal are more than there can ever be
	wait                 time.Duration // guessed if only calls at once are in the way
	refused              []int         // charges that explain the refusal equally well
	longest              []int         // charges that wait as long, to the tick
	left                 []int64       // LeftAfterWaiting of each charge
}

// waiting is what the turns before a call's own leave no room for. For a call
// that has not begun (nil), and a draw without a turn, those are all.
func (k *book) waiting(of *account, at time.Duration, by *call) (n int64) {
	for _, t := range k.turns {
		if t.by == by {
			break
		}
		for _, a := range t.asks {
			if a.of == of && at < t.until {
				n += a.n
			}
		}
	}
	return n
}

// fits reports whether a charge could be taken at an instant.
func (k *book) fits(a ask, at time.Duration, by *call) bool {
	return a.n == 0 || a.of.counted(at, false)+k.waiting(a.of, at, by)+a.n <= a.of.rule.Capacity()
}

// wait is the time until a charge fits, looked at alone. What counts and what
// has a turn only ever gets less by itself, so there is one such instant.
func (k *book) wait(a ask, by *call) time.Duration {
	switch {
	case k.fits(a, k.now, by):
		return 0
	case a.n > a.of.rule.Capacity():
		return limiter.Never
	case kind(a.of.rule) == kind(limiter.AtOnce{}):
		return guessed
	}
	return k.until(func(at time.Duration) bool { return k.fits(a, at, by) })
}

// until is the time until something comes to hold that then goes on holding.
func (k *book) until(holds func(at time.Duration) bool) time.Duration {
	most, limit := 1, int(farthest/k.tick)
	for !holds(k.now + time.Duration(most)*k.tick) {
		if most == limit {
			return limiter.Never
		}
		most = min(2*most, limit)
	}
	ticks := sort.Search(most, func(i int) bool { return holds(k.now + time.Duration(i)*k.tick) })
	return time.Duration(ticks) * k.tick
}

// whole is the time until an account is as good as new, as State.ResetAfter
// has it.
func (k *book) whole(a *account) time.Duration {
	switch r := a.rule.(type) {
	case limiter.Total, limiter.AtOnce:
		return 0
	case limiter.CalendarQuota:
		return k.until(func(at time.Duration) bool { return a.period(r, at) != a.period(r, k.now) })
	}
	return k.until(func(at time.Duration) bool { return a.counted(at, false) == 0 })
}

// state describes an account as it is.
func (k *book) state(a *account) limiter.State {
	counted, held, limit := a.counted(k.now, false), a.held(k.now), a.rule.Capacity()
	return limiter.State{
		Limit:            limit,
		Used:             counted - held,
		Held:             held,
		Remaining:        max(0, limit-counted-k.waiting(a, k.now, nil)),
		Open:             a.open(),
		ResetAfter:       k.whole(a),
		LeftAfterWaiting: counted,
	}
}

// decide answers for charges of a draw or, with nil, of a call that begins.
func (k *book) decide(asks []ask, by *call) verdict {
	v := verdict{ok: true, heldOnly: true, wait: guessed}
	waits, final := make([]time.Duration, len(asks)), make([]int, len(asks))
	for i, a := range asks {
		waits[i] = k.wait(a, by)
		v.left = append(v.left, a.of.counted(k.now+finite(waits[i]), false))
		if waits[i] == 0 {
			continue
		}
		v.ok = false
		v.atOnce = v.atOnce || waits[i] == guessed
		v.wait = max(v.wait, waits[i])
		// Held is not spent, and spent is not too much for ever.
		switch {
		case a.n > a.of.rule.Capacity():
			final[i], v.heldOnly = 2, false
		case a.of.counted(k.now, true)+a.n > a.of.rule.Capacity():
			final[i], v.heldOnly = 1, false
		}
	}
	for i := range asks {
		switch {
		case waits[i] == 0 || waits[i] != v.wait:
			continue
		case len(v.refused) > 0 && final[i] > final[v.refused[0]]:
			v.refused = []int{i}
		case len(v.refused) == 0 || final[i] == final[v.refused[0]]:
			v.refused = append(v.refused, i)
		}
		v.longest = append(v.longest, i)
	}
	v.tooBig = !v.ok && final[v.refused[0]] == 2
	return v
}

func finite(wait time.Duration) time.Duration {
	if wait == guessed || wait == limiter.Never {
		return 0
	}
	return wait
}

// begin logs a reservation.
func (k *book) begin(asks []ask) *call {
	c := &call{asks: asks, parts: make([][]*entry, len(asks))}
	for i, a := range asks {
		c.parts[i] = []*entry{a.of.charge(k.now, a.n, c, true)}
	}
	return c
}

// count logs charges for good.
func (k *book) count(asks []ask, asked bool) {
	for _, a := range asks {
		a.of.charge(k.now, a.n, nil, asked)
	}
}

// draw logs a draw that was decided. If it was refused it keeps its turn,
// unless time will not let it pass.
func (k *book) draw(c *call, asks []ask, v verdict) {
	place := slices.IndexFunc(k.turns, func(t *turn) bool { return t.by == c })
	switch {
	case v.ok:
		k.giveUp(c)
		for _, a := range asks {
			i := slices.IndexFunc(c.asks, func(b ask) bool { return b.of == a.of })
			c.parts[i] = append(c.parts[i], a.of.charge(k.now, a.n, c, true))
		}
	case v.atOnce || v.wait == limiter.Never:
		k.giveUp(c)
	default:
		t := &turn{c, slices.Clone(asks), k.now + v.wait + grace}
		if place < 0 {
			k.turns = append(k.turns, t)
		} else {
			k.turns[place] = t
		}
	}
}

func (k *book) giveUp(c *call) {
	k.turns = slices.DeleteFunc(k.turns, func(t *turn) bool { return t.by == c })
}

// end settles a call: what was used fills what was reserved and then the draws
// in their order, and what is left over counts from now.
func (k *book) end(c *call, actual []int64) {
	k.giveUp(c)
	for i, a := range c.asks {
		left := actual[i]
		for _, e := range c.parts[i] {
			e.by = nil
			e.n = min(left, e.n)
			left -= e.n
		}
		a.of.charge(k.now, left, nil, false)
	}
}

// revise gives an account another rule, and forgets turns for more than it can
// ever hold.
func (k *book) revise(a *account, rule limiter.Rule) {
	a.revise(rule, k.now)
	for _, t := range k.turns {
		t.asks = slices.DeleteFunc(t.asks, func(b ask) bool { return b.of == a && b.n > a.rule.Capacity() })
	}
}

// pass moves the clock on, and forgets turns that have lapsed.
func (k *book) pass(d time.Duration) {
	k.now += d
	k.turns = slices.DeleteFunc(k.turns, func(t *turn) bool { return t.until <= k.now })
}
