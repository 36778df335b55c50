package cost

import (
	"math"
	"slices"
	"sort"
)

// Price is what a model costs: by item, by the size of the prompt, by service tier and by region. It is a plain value;
// what it points to is shared between copies: replace it, do not write through it.
type Price struct {
	Schedule // of the standard tier

	// Batch, Flex and Priority are the other tiers. A tier without a price is never priced too low: a discount that is
	// not listed is not given, and the priority tier costs priorityFactor times the standard one.
	Batch, Flex, Priority *Schedule

	// Pictures are the prices of kinds of picture, where they differ: ForPictures sets the one that holds. Until then a
	// picture costs what the dearest does.
	Pictures []PictureRate

	EU, US int64 // what data residency there multiplies every price by, in ten-thousandths; 0: nothing is known to be added

	Asked  Tier  // the tier that calls ask for, or that the account has set; Unstated: the standard one
	Uplift int64 // the multiplier in force, in ten-thousandths; 0 is 10,000, nothing added
}

const (
	// priorityFactor is more than any that is listed: 2 at OpenAI, 2.51 at most elsewhere (the public list of 2026-07-24).
	priorityFactor = 3

	tenThousandths = 10_000
	maxUplift      = 100 * tenThousandths // a hundredfold; more is a mistake
)

// In is the price in a region, "eu" or "us"; any other name, and a region for which nothing is listed, adds nothing.
func (p Price) In(region string) Price {
	switch region {
	case "eu":
		p.Uplift = p.EU
	case "us":
		p.Uplift = p.US
	default:
		p.Uplift = 0
	}
	return p
}

// Cost is the price of a finished call: the sum of what each item costs, each rounded up to a nano-dollar, and of the fees.
// The tier is the one the usage names, and the usage is read in its normal form. It saturates at the largest NanoUSD.
func (p Price) Cost(u Usage) NanoUSD {
	sum := max(0, u.Fees)
	for _, n := range p.Bill(u) {
		sum = saturatingAdd(sum, n)
	}
	return sum
}

// Bill is what each item of a finished call costs, rounded up to a nano-dollar. Fees are beside it.
func (p Price) Bill(u Usage) [Items]NanoUSD {
	var bill [Items]NanoUSD
	quantities := u.Quantities()
	rates := p.rates(u.Tier, max(0, u.Input), exactly)
	for i, quantity := range quantities {
		bill[i] = p.line(Item(i), rates[i], quantity)
	}
	return bill
}

// Bound is the most that a call may consume.
type Bound struct {
	Input, Output int64   // tokens of whatever kind
	Images        int64   // pictures made
	Milliseconds  int64   // of audio
	Characters    int64   // to be spoken
	Fees          NanoUSD // for tools that the provider runs
}

// Ceiling is the most that a call within the bound can cost: no Usage with smaller figures has a higher Cost, however its
// input is cached and whatever kinds it is made of, if it is served in the standard tier or in the one asked for. A tier
// by prompt size counts as soon as the input can reach it. It saturates at the largest NanoUSD.
func (p Price) Ceiling(b Bound) NanoUSD {
	rates := p.reachable(b.Input)
	sum := p.tokens(rates.input(), b.Input)
	sum = saturatingAdd(sum, p.tokens(rates.output(), b.Output))
	return saturatingAdd(sum, p.units(&rates, b))
}

// OutputWithin is by how much the output of a bound can grow, by at most limit tokens, for its ceiling to be no more than
// most; -1 if the bound as it is costs more.
func (p Price) OutputWithin(most NanoUSD, b Bound, limit int64) int64 {
	rates := p.reachable(b.Input)
	left := most - saturatingAdd(p.tokens(rates.input(), b.Input), p.units(&rates, b))
	output := p.dearest(rates.output())
	if left < output.tokens(b.Output) {
		return -1
	}
	return int64(sort.Search(int(limit), func(n int) bool { return output.tokens(saturatingAdd(b.Output, int64(n)+1)) > left }))
}

// Floor is the least that a call with so much input and output costs: all input read from the cache, in the tier asked
// for, no reasoning. Units that are not tokens are taken as they are.
func (p Price) Floor(b Bound) NanoUSD {
	rates := p.rates(p.Asked, b.Input, exactly)
	sum := p.line(Input, min(rates[Input], rates[CachedInput]), b.Input)
	sum = saturatingAdd(sum, p.line(Output, rates[Output], b.Output))
	return saturatingAdd(sum, p.units(&rates, b))
}

// Dearest is what a million input tokens and a million output tokens cost at most, whatever they are and however large
// the call is.
func (p Price) Dearest() (input, output NanoUSD) {
	rates := p.reachable(math.MaxInt64)
	return p.line(Input, slices.Max(rates.input()), perMillion), p.line(Output, slices.Max(rates.output()), perMillion)
}

// At is what a call with that much input costs in a tier, without what a region adds.
func (p Price) At(t Tier, input int64) Rates { return p.rates(t, input, exactly) }

// reachable is the dearest, item by item, that a call of up to that much input can meet, served as it asks or in the
// standard tier.
func (p *Price) reachable(input int64) Rates {
	rates := p.rates(Standard, input, upTo)
	if p.Asked != Unstated && p.Asked != Standard {
		asked := p.rates(p.Asked, input, upTo)
		rates.raise(&asked)
	}
	return rates
}

// rates are those of a tier. One that is not stated or not known may have been any of several, and is priced as the
// dearest of them.
func (p *Price) rates(t Tier, input int64, how reach) (r Rates) {
	listed := &p.Schedule
	switch {
	case t == Batch && p.Batch != nil:
		listed = p.Batch
	case t == Flex && p.Flex != nil:
		listed = p.Flex
	case t == Priority && p.Priority != nil:
		listed = p.Priority
	}
	listed.raise(&r, input, how)
	switch {
	case t == Priority && p.Priority == nil:
		return r.times(priorityFactor)
	case t == OtherTier:
		t = Priority
	case t == Unstated:
		t = p.Asked
	default:
		return r
	}
	if t != Unstated && t != Standard {
		other := p.rates(t, input, how)
		r.raise(&other)
	}
	return r
}

// tokens is the most that so many tokens cost, if each may be of any of the kinds that have these rates.
func (p *Price) tokens(rates []NanoUSD, tokens int64) NanoUSD {
	most := p.dearest(rates)
	return most.tokens(tokens)
}

// dearestKind is the dearest of some kinds of token.
type dearestKind struct {
	rate        NanoUSD
	factor, per uint64
	slack       int64 // nano-dollars that rounding may add
}

// dearest finds the dearest of kinds that have these rates. Each kind is rounded up by itself, which may add a
// nano-dollar for every kind but one, unless a token of each costs whole ones.
func (p *Price) dearest(rates []NanoUSD) dearestKind {
	d := dearestKind{}
	d.factor, d.per = p.multiplier()
	for _, rate := range rates {
		rate = max(0, rate)
		d.rate = max(d.rate, rate)
		if uint64(rate)%d.per*d.factor%d.per != 0 {
			d.slack = int64(len(rates) - 1)
		}
	}
	return d
}

// tokens is the most that so many cost.
func (d *dearestKind) tokens(n int64) NanoUSD {
	return saturatingAdd(d.rate.scaled(n, d.factor, d.per), NanoUSD(max(0, min(d.slack, n-1))))
}

// units is what pictures, seconds, characters and tools cost.
func (p *Price) units(rates *Rates, b Bound) NanoUSD {
	sum := saturatingAdd(max(0, b.Fees), p.line(PerImage, rates[PerImage], b.Images))
	sum = saturatingAdd(sum, p.line(PerSecond, rates[PerSecond], b.Milliseconds))
	return saturatingAdd(sum, p.line(PerCharacter, rates[PerCharacter], b.Characters))
}

// line is what a quantity of an item costs, rounded up.
func (p *Price) line(i Item, rate NanoUSD, quantity int64) NanoUSD {
	factor, per := p.multiplier()
	if i == PerSecond {
		per *= 1000 // quantities are in milliseconds
	}
	return rate.scaled(quantity, factor, per)
}

// multiplier is what a region adds: a product of rate and quantity times factor, divided by per, is nano-dollars.
func (p *Price) multiplier() (factor, per uint64) {
	if p.Uplift <= 0 || p.Uplift == tenThousandths {
		return 1, perMillion
	}
	return uint64(min(p.Uplift, maxUplift)), perMillion * tenThousandths
}
