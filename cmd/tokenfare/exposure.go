package main

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// exposure is the most money a key can spend if it calls only one model: the one that lets it spend most.
type exposure struct {
	day, month cost.NanoUSD // in any day, in any month of 31 days
	model      string       // "": there is none it may call
	unlimited  bool         // nothing bounds it
	dearest    cost.NanoUSD // price of a million of the model's dearest tokens
	unpriced   bool         // tokens are bounded, but no price is known for the model
	refused    string       // where model is "": one without a price, which limits in dollars refuse
}

const (
	oneDay   = 24 * time.Hour
	oneMonth = 31 * oneDay
)

// exposed computes the exposure of a key under every limit that counts its calls: its own, its plan's, its groups', and
// those of the upstream each model is served by, if it is the only one. A model without a price cannot be called under a limit in dollars, so
// nothing can be spent on it.
func exposed(limits []limit.Limit, upstream map[string][]limit.Limit, usable []offer, now time.Time) exposure {
	var worst exposure
	refused := ""
	for _, o := range usable {
		there := upstream[o.upstream]
		if o.others { // where one upstream has no room, another has
			there = nil
		}
		holding, money := o.holding(now, limits, there)
		if money != nil && !o.facts.Priced {
			refused = cmp.Or(refused, o.name)
			continue
		}
		if e := o.exposed(holding); worst.model == "" || worse(e, worst) {
			worst = e
		}
	}
	if worst.model == "" {
		worst.refused = refused
	}
	return worst
}

// holding picks the limits that can refuse a call of this model now, and one of them that is in dollars, if any is.
func (o offer) holding(now time.Time, lists ...[]limit.Limit) (all []limit.Limit, money *limit.Limit) {
	for _, l := range slices.Concat(lists...) {
		if l.Observe || !l.Applies(o.names...) || !l.Until.IsZero() && !now.Before(l.Until) {
			continue
		}
		if all = append(all, l); l.Unit == limit.Dollars && money == nil {
			money = &l
		}
	}
	return all, money
}

func worse(a, b exposure) bool {
	switch {
	case a.unlimited != b.unlimited:
		return a.unlimited
	case a.unpriced != b.unpriced:
		return a.unpriced
	}
	return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.day, b.day), cmp.Compare(a.dearest, b.dearest)) > 0
}

// exposed is what calls of one model can cost at most. Tokens are taken at the model's dearest kind.
func (o offer) exposed(limits []limit.Limit) exposure {
	input, output := o.facts.Price.Dearest()
	e := exposure{model: o.name, dearest: max(input, output)}
	day, month := o.most(limits, oneDay), o.most(limits, oneMonth)
	switch {
	case month != math.MaxInt64:
		e.day, e.month = cost.NanoUSD(day), cost.NanoUSD(month)
	case !o.facts.Priced && boundsTokens(limits):
		e.unpriced = true
	default:
		e.unlimited = true
	}
	return e
}

func boundsTokens(limits []limit.Limit) bool {
	var input, output bool
	for _, l := range limits {
		if l.Kind != limit.PerRequest {
			input = input || l.Unit == limit.Tokens || l.Unit == limit.InputTokens
			output = output || l.Unit == limit.Tokens || l.Unit == limit.OutputTokens
		}
	}
	return input && output
}

// most is the tightest bound in nano-dollars that the limits set on a span of time; MaxInt64: none.
func (o offer) most(limits []limit.Limit, span time.Duration) int64 {
	amounts := map[limit.Unit]int64{} // the tightest, per unit, over the span
	perCall := map[limit.Unit]int64{} // the tightest of a single call
	for _, l := range limits {
		into := amounts
		n := spendable(l, span)
		if l.Kind == limit.PerRequest {
			into, n = perCall, l.Amount
		}
		if had, ok := into[l.Unit]; !ok || n < had {
			into[l.Unit] = n
		}
	}
	best := dollars(amounts, o.facts)
	if calls, ok := amounts[limit.Requests]; ok {
		if one := dollars(perCall, o.facts); one != math.MaxInt64 {
			best = min(best, times(one, calls))
		}
	}
	return best
}

// dollars turns the amounts of several units into the tightest bound in nano-dollars.
func dollars(amounts map[limit.Unit]int64, m cost.Model) int64 {
	best := int64(math.MaxInt64)
	if n, ok := amounts[limit.Dollars]; ok {
		best = n
	}
	if !m.Priced {
		return best
	}
	input, output := m.Price.Dearest()
	if n, ok := amounts[limit.Tokens]; ok {
		best = min(best, perMillion(n, max(input, output)))
	}
	in, okIn := amounts[limit.InputTokens]
	out, okOut := amounts[limit.OutputTokens]
	if okIn && okOut {
		best = min(best, plus(perMillion(in, input), perMillion(out, output)))
	}
	return best
}

// spendable is the most that a limit lets pass in any span of that length.
func spendable(l limit.Limit, span time.Duration) int64 {
	switch l.Kind {
	case limit.Per:
		hi, lo := bits.Mul64(uint64(l.Amount), uint64(span))
		if hi >= uint64(l.Every) {
			return math.MaxInt64
		}
		refill, _ := bits.Div64(hi, lo, uint64(l.Every))
		return plus(l.Capacity(), clamp(refill))
	case limit.InAny:
		return times(l.Amount, int64((span+l.Every-1)/l.Every))
	case limit.Each:
		return times(l.Amount, boundaries(l.Period, span))
	case limit.AtOnce:
		return math.MaxInt64 // one call after the other
	default:
		return l.Amount
	}
}

// boundaries is how many whole quotas fit into a day or a month of the calendar that is cut at its own boundaries; a
// month can touch six weeks.
func boundaries(p limit.Period, span time.Duration) int64 {
	switch p {
	case limit.Hour:
		return int64(span / time.Hour)
	case limit.Day:
		return int64(span / oneDay)
	case limit.Week:
		if span > 7*oneDay {
			return 6
		}
	}
	return 1
}

func perMillion(tokens int64, price cost.NanoUSD) int64 {
	hi, lo := bits.Mul64(uint64(tokens), uint64(max(0, price)))
	if hi >= 1_000_000 {
		return math.MaxInt64
	}
	q, r := bits.Div64(hi, lo, 1_000_000)
	if r > 0 && q < math.MaxInt64 {
		q++
	}
	return clamp(q)
}

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 {
		return math.MaxInt64
	}
	return clamp(lo)
}

func clamp(n uint64) int64 {
	if n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}
