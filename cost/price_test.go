package cost_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// priced is a price that has only these rates.
func priced(r cost.Rates) cost.Price { return cost.Price{Schedule: cost.Schedule{Rates: r}} }

func TestEachItemIsRoundedUp(t *testing.T) {
	p := priced(cost.Rates{cost.Input: 1, cost.CachedInput: 2, cost.CacheWrite: 3, cost.Output: 4}) // billionths of a dollar per million tokens
	if got := p.Cost(cost.Usage{Input: 3, CachedInput: 1, CacheWrite: 1, Output: 1}); got != 4 {
		t.Errorf("four items cost %d nano-dollars, want 4", got)
	}
	if got := p.Cost(cost.Usage{Input: 1_000_000}); got != 1 {
		t.Errorf("a million tokens at 1 cost %d", got)
	}
	if got := p.Cost(cost.Usage{Input: 1_000_001}); got != 2 {
		t.Errorf("a token more costs %d", got)
	}
}

func TestZeroIsFree(t *testing.T) {
	p := priced(cost.Rates{cost.Input: 3_000_000, cost.CacheWrite: 4_000_000, cost.Output: 5_000_000}) // reading from the cache is free
	if got := p.Cost(cost.Usage{Input: 10, CachedInput: 10, Output: 1}); got != 5 {
		t.Errorf("a prompt from the cache costs %d nano-dollars with a token of output, want 5", got)
	}
	p = priced(cost.Rates{cost.Input: 3_000_000, cost.CachedInput: 1_000_000})
	if got := p.Cost(cost.Usage{Input: 10, CacheWrite: 10, Output: 7}); got != 0 {
		t.Errorf("writing to the cache and output are free, but cost %d", got)
	}
	if got := p.Ceiling(cost.Bound{Input: 10, Output: 7}); got != 30 {
		t.Errorf("the dearest of ten tokens of input cost %d, want 30", got)
	}
}

func TestImpossibleUsageIsReadAsTheNearestPossible(t *testing.T) {
	p := priced(cost.Rates{cost.Input: 3_000_000, cost.CachedInput: 1_000_000, cost.CacheWrite: 4_000_000, cost.Output: 5_000_000})
	for _, c := range []struct {
		name  string
		usage cost.Usage
		want  cost.NanoUSD
	}{
		{"negative", cost.Usage{Input: -5, CachedInput: -5, CacheWrite: -5, Output: -5, Reasoning: -5}, 0},
		{"more cached than there is", cost.Usage{Input: 10, CachedInput: 50}, 10},
		{"cached and written overlap", cost.Usage{Input: 10, CachedInput: 8, CacheWrite: 8}, 8*1 + 2*4},
	} {
		if got := p.Cost(c.usage); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestMoneySaturates(t *testing.T) {
	p := priced(cost.Rates{cost.Input: math.MaxInt64, cost.Output: math.MaxInt64})
	all := cost.Usage{Input: math.MaxInt64, CachedInput: 7, Output: math.MaxInt64}
	if got := p.Cost(all); got != math.MaxInt64 {
		t.Errorf("Cost is %d", got)
	}
	if got := p.Ceiling(cost.Bound{Input: math.MaxInt64, Output: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("Ceiling is %d", got)
	}
	if got := priced(cost.Rates{cost.Input: 1_000_000}).Cost(cost.Usage{Input: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("the largest exact amount is %d", got)
	}
	if got := priced(cost.Rates{cost.Input: -5, cost.Output: -5}).Cost(cost.Usage{Input: 9, Output: 9}); got != 0 {
		t.Errorf("negative prices cost %d", got)
	}
}

func TestCeilingIsTheDearestCase(t *testing.T) {
	for _, c := range []struct {
		model         string
		input, output int64
		want          string
	}{
		{"gpt-4o", 1000, 500, "$0.0075"},                  // plain input is dearest
		{"gpt-5.6", 1000, 100, "$0.00925"},                // cache writes are: 1000 x $6.25 + 100 x $30
		{"gpt-5.6", 272_000, 0, "$1.70"},                  // the tier is not reached
		{"gpt-5.6", 300_000, 1000, "$3.795"},              // 300000 x $12.50 + 1000 x $45
		{"text-embedding-ada-002", 1_000_000, 0, "$0.10"}, // no output
	} {
		if got := catalog(t).Model(c.model).Price.Ceiling(cost.Bound{Input: c.input, Output: c.output}).String(); got != c.want {
			t.Errorf("%s: Ceiling(%d, %d) is %s, want %s", c.model, c.input, c.output, got, c.want)
		}
	}
}

// aPrice draws a price: some items free, some by whole nano-dollars a token as real ones are, some not; any thresholds,
// tiers and region.
func aPrice(t *rapid.T) cost.Price {
	rate := rapid.Custom(func(t *rapid.T) cost.NanoUSD {
		n := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3), rapid.Int64Range(0, 1<<43)).Draw(t, "rate")
		if rapid.Bool().Draw(t, "whole") {
			n = n / 1_000_000 * 1_000_000
		}
		return cost.NanoUSD(n)
	})
	rates := rapid.Custom(func(t *rapid.T) (r cost.Rates) {
		for i := range r {
			r[i] = rate.Draw(t, cost.Item(i).String())
		}
		return r
	})
	schedule := rapid.Custom(func(t *rapid.T) cost.Schedule {
		s := cost.Schedule{Rates: rates.Draw(t, "rates")}
		above := int64(0)
		for range rapid.IntRange(0, 3).Draw(t, "thresholds") {
			above += rapid.Int64Range(1, 50).Draw(t, "step")
			s.Long = append(s.Long, cost.LongRates{Above: above, Rates: rates.Draw(t, "long")})
		}
		return s
	})
	p := cost.Price{Schedule: schedule.Draw(t, "standard"), EU: 11_000, US: 10_001}
	for name, to := range map[string]**cost.Schedule{"batch": &p.Batch, "flex": &p.Flex, "priority": &p.Priority} {
		if rapid.Bool().Draw(t, "has "+name) {
			s := schedule.Draw(t, name)
			*to = &s
		}
	}
	p.Asked = rapid.SampledFrom([]cost.Tier{cost.Unstated, cost.Batch, cost.Flex, cost.Standard, cost.Priority, cost.OtherTier}).Draw(t, "asked")
	return p.In(rapid.SampledFrom([]string{"", "eu", "us"}).Draw(t, "region"))
}

// No usage within the bounds costs more than their ceiling: what is reserved is enough.
func TestCostNeverExceedsCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aPrice(t)
		figure := rapid.OneOf(rapid.Int64Range(0, 200), rapid.Int64Range(0, 1<<40))
		b := cost.Bound{
			Input: figure.Draw(t, "input"), Output: figure.Draw(t, "output"),
			Images: figure.Draw(t, "images"), Milliseconds: figure.Draw(t, "ms"), Characters: figure.Draw(t, "characters"),
			Fees: cost.NanoUSD(figure.Draw(t, "fees")),
		}
		u := anyUsage(t)
		u.Input, u.Output = min(u.Input, b.Input), min(u.Output, b.Output)
		u.Images, u.Milliseconds, u.Characters = min(u.Images, b.Images), min(u.Milliseconds, b.Milliseconds), min(u.Characters, b.Characters)
		u.Fees = min(u.Fees, b.Fees)
		u.Tier = rapid.SampledFrom([]cost.Tier{cost.Unstated, cost.Standard, p.Asked}).Draw(t, "tier")
		if got, most := p.Cost(u), p.Ceiling(b); got > most {
			t.Fatalf("%+v costs %d at %+v, more than the ceiling of %+v, %d", u, got, p, b, most)
		}
	})
}

// The ceiling is the dearest there is, not more: some usage within the bound costs as much, but for what rounding adds.
func TestSomeCallCostsTheCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aPrice(t)
		p.Asked, p.Long = cost.Unstated, nil
		b := cost.Bound{Input: rapid.Int64Range(0, 1<<40).Draw(t, "input"), Output: rapid.Int64Range(0, 1<<40).Draw(t, "output")}
		var most cost.NanoUSD
		for _, input := range []cost.Usage{
			{},
			{CachedInput: b.Input},
			{CacheWrite: b.Input},
			{AudioInput: b.Input},
			{AudioInput: b.Input, CachedInput: b.Input},
			{ImageInput: b.Input},
			{ImageInput: b.Input, CachedInput: b.Input},
		} {
			for _, output := range []cost.Usage{{}, {Reasoning: b.Output}, {AudioOutput: b.Output}, {ImageOutput: b.Output}} {
				u := input
				u.Input, u.Output, u.Reasoning, u.AudioOutput, u.ImageOutput = b.Input, b.Output, output.Reasoning, output.AudioOutput, output.ImageOutput
				most = max(most, p.Cost(u))
			}
		}
		if ceiling := p.Ceiling(b); ceiling < most || ceiling-most > 9 {
			t.Fatalf("the dearest usage of %+v costs %d, and the ceiling is %d", b, most, ceiling)
		}
	})
}

func TestOutputWithinIsTheLargestThatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aPrice(t)
		most := cost.NanoUSD(rapid.OneOf(rapid.Int64Range(-5, 100), rapid.Int64Range(0, 1<<50), rapid.Just(int64(math.MaxInt64))).Draw(t, "most"))
		figure := rapid.OneOf(rapid.Int64Range(0, 200), rapid.Int64Range(0, 1<<30))
		b := cost.Bound{
			Input: figure.Draw(t, "input"), Output: figure.Draw(t, "output"), Images: figure.Draw(t, "images"),
			Fees: cost.NanoUSD(figure.Draw(t, "fees")),
		}
		const limit = 1 << 20
		n, beyond := p.OutputWithin(most, b, limit), b.Output
		if n < -1 || n > limit {
			t.Fatalf("%d is out of range", n)
		}
		if b.Output = beyond + n; n >= 0 && p.Ceiling(b) > most {
			t.Fatalf("%+v has a ceiling of %d, more than %d", b, p.Ceiling(b), most)
		}
		if b.Output = beyond + n + 1; n >= 0 && n < limit && p.Ceiling(b) <= most {
			t.Fatalf("%d would fit too: %d of %d", b.Output, p.Ceiling(b), most)
		}
		if b.Output = beyond; n < 0 && p.Ceiling(b) <= most {
			t.Fatalf("%+v fits: %d of %d", b, p.Ceiling(b), most)
		}
	})
}

func BenchmarkOutputWithin(b *testing.B) {
	p := catalog(b).Model("gpt-5.6").Price
	for b.Loop() {
		p.OutputWithin(5_000_000_000, cost.Bound{Input: 300_000}, 1<<40)
	}
}

// The least is no more than any call of that size costs in the tier asked for, whatever of its text is cached.
func TestFloorIsTheLeastATextCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := aPrice(t)
		p.Rates[cost.Reasoning] = max(p.Rates[cost.Reasoning], p.Rates[cost.Output])
		p.Long, p.Asked = nil, cost.Unstated
		input, output := rapid.Int64Range(0, 1<<40).Draw(t, "input"), rapid.Int64Range(0, 1<<40).Draw(t, "output")
		u := cost.Usage{Input: input, CachedInput: rapid.Int64Range(0, input).Draw(t, "cached"), Output: output, Reasoning: rapid.Int64Range(0, output).Draw(t, "reasoning")}
		if least, got := p.Floor(cost.Bound{Input: input, Output: output}), p.Cost(u); least > got {
			t.Fatalf("%+v costs %d, less than the least, %d", u, got, least)
		}
	})
}

// A tier whose price is not listed is never priced too low.
func TestTiersWithoutAPrice(t *testing.T) {
	p := priced(cost.Rates{cost.Input: 2_000_000, cost.Output: 10_000_000})
	flex := cost.Schedule{Rates: cost.Rates{cost.Input: 1_000_000, cost.Output: 5_000_000}}
	p.Flex = &flex
	u := cost.Usage{Input: 10, Output: 1}
	for _, c := range []struct {
		tier, asked cost.Tier
		want        cost.NanoUSD
	}{
		{cost.Unstated, cost.Unstated, 30},
		{cost.Standard, cost.Unstated, 30},
		{cost.Flex, cost.Unstated, 15},
		{cost.Batch, cost.Unstated, 30},     // no discount is listed
		{cost.Priority, cost.Unstated, 90},  // three times the standard price
		{cost.OtherTier, cost.Unstated, 90}, // the dearest there is
		{cost.Unstated, cost.Flex, 30},      // it may have been served in either
		{cost.Unstated, cost.Priority, 90},
		{cost.Standard, cost.Priority, 30}, // the answer says
	} {
		p.Asked, u.Tier = c.asked, c.tier
		if got := p.Cost(u); got != c.want {
			t.Errorf("%v, asked for %v: %d, want %d", c.tier, c.asked, got, c.want)
		}
	}
}

func TestRegionsMultiplyExactly(t *testing.T) {
	p := priced(cost.Rates{cost.Input: 333_333, cost.Output: 5_000_000})
	p.EU = 11_000
	u := cost.Usage{Input: 3, Output: 1}
	for region, want := range map[string]cost.NanoUSD{
		"":   1 + 5, // 0.999999 and 5
		"eu": 2 + 6, // 1.0999989 and 5.5
		"us": 1 + 5, // nothing is known to be added there
		"xx": 1 + 5,
	} {
		if got := p.In(region).Cost(u); got != want {
			t.Errorf("region %q: %d, want %d", region, got, want)
		}
	}
	p.Uplift = math.MaxInt64
	if got := p.Cost(cost.Usage{Input: math.MaxInt64, Output: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("the largest of everything costs %d", got)
	}
}

func BenchmarkCeiling(b *testing.B) {
	p := catalog(b).Model("gpt-5.6").Price
	for b.Loop() {
		p.Ceiling(cost.Bound{Input: 300_000, Output: 1000})
	}
}
