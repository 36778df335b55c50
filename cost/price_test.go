package cost_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// Bills worked out by hand from the provider's dollars per million tokens.
func TestGoldenBills(t *testing.T) {
	for _, c := range []struct {
		name  string
		model string
		usage cost.Usage
		want  string
	}{
		{"1000 x $2.50 + 500 x $10", "gpt-4o", cost.Usage{Input: 1000, Output: 500}, "$0.0075"},
		{"a token of each", "gpt-4o", cost.Usage{Input: 1, Output: 1}, "$0.0000125"},
		{"nothing", "gpt-4o", cost.Usage{}, "$0.00"},
		{"half cached: 512 x $2.50 + 512 x $1.25", "gpt-4o", cost.Usage{Input: 1024, CachedInput: 512}, "$0.00192"},
		{"no cached price: cached is plain", "gpt-4-turbo", cost.Usage{Input: 1000, CachedInput: 1000, Output: 100}, "$0.013"},
		{"old snapshot: 1000 x $5 + 1000 x $15", "gpt-4o-2024-05-13", cost.Usage{Input: 1000, Output: 1000}, "$0.02"},
		{"reasoning is output: 2000 x $0.25 + 3000 x $2", "gpt-5-mini", cost.Usage{Input: 2000, Output: 3000, Reasoning: 2900}, "$0.0065"},
		{"cheapest: 1 x $0.005", "gpt-5-nano", cost.Usage{Input: 1, CachedInput: 1}, "$0.000000005"},
		{
			"cache write: 1000 x $5 + 2000 x $0.50 + 3000 x $6.25 + 100 x $30", "gpt-5.6",
			cost.Usage{Input: 6000, CachedInput: 2000, CacheWrite: 3000, Output: 100},
			"$0.02775",
		},
		{"272000 is not long: 272000 x $2.50 + 1000 x $15", "gpt-5.4", cost.Usage{Input: 272_000, Output: 1000}, "$0.695"},
		{"272001 is, all of it: 272001 x $5 + 1000 x $22.50", "gpt-5.4", cost.Usage{Input: 272_001, Output: 1000}, "$1.382505"},
		{"long and cached: 100000 x $10 + 200000 x $1", "gpt-5.5", cost.Usage{Input: 300_000, CachedInput: 200_000}, "$1.20"},
		{"fine-tuned: 1000 x $0.30 + 1000 x $1.20", "ft:gpt-4o-mini-2024-07-18:acme::abc", cost.Usage{Input: 1000, Output: 1000}, "$0.0015"},
		{"embedding: 8191 x $0.02", "text-embedding-3-small", cost.Usage{Input: 8191}, "$0.00016382"},
		{"dearest: 200000 x $150 + 100000 x $600", "o1-pro", cost.Usage{Input: 200_000, Output: 100_000}, "$90.00"},
	} {
		m := catalog(t).Model(c.model)
		if !m.Priced {
			t.Errorf("%s has no price", c.model)
		}
		if got := m.Price.Cost(c.usage).String(); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.model, c.name, got, c.want)
		}
	}
}

func TestEachItemIsRoundedUp(t *testing.T) {
	p := cost.Price{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4} // billionths of a dollar per million tokens
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
	p := cost.Price{Input: 3_000_000, CacheWrite: 4_000_000, Output: 5_000_000} // reading from the cache is free
	if got := p.Cost(cost.Usage{Input: 10, CachedInput: 10, Output: 1}); got != 5 {
		t.Errorf("a prompt from the cache costs %d nano-dollars with a token of output, want 5", got)
	}
	p = cost.Price{Input: 3_000_000, CachedInput: 1_000_000}
	if got := p.Cost(cost.Usage{Input: 10, CacheWrite: 10, Output: 7}); got != 0 {
		t.Errorf("writing to the cache and output are free, but cost %d", got)
	}
	if got := p.Ceiling(10, 7); got != 30 {
		t.Errorf("the dearest of ten tokens of input cost %d, want 30", got)
	}
}

func TestImpossibleUsageIsReadAsTheNearestPossible(t *testing.T) {
	p := cost.Price{Input: 3_000_000, CachedInput: 1_000_000, CacheWrite: 4_000_000, Output: 5_000_000}
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
	p := cost.Price{Input: math.MaxInt64, Output: math.MaxInt64}
	all := cost.Usage{Input: math.MaxInt64, CachedInput: 7, Output: math.MaxInt64}
	if got := p.Cost(all); got != math.MaxInt64 {
		t.Errorf("Cost is %d", got)
	}
	if got := p.Ceiling(math.MaxInt64, math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("Ceiling is %d", got)
	}
	if got := (cost.Price{Input: 1_000_000}).Cost(cost.Usage{Input: math.MaxInt64}); got != math.MaxInt64 {
		t.Errorf("the largest exact amount is %d", got)
	}
	if got := (cost.Price{Input: -5, Output: -5}).Cost(cost.Usage{Input: 9, Output: 9}); got != 0 {
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
		if got := catalog(t).Model(c.model).Price.Ceiling(c.input, c.output).String(); got != c.want {
			t.Errorf("%s: Ceiling(%d, %d) is %s, want %s", c.model, c.input, c.output, got, c.want)
		}
	}
}

// No usage within the bounds costs more than their ceiling: what is reserved is enough.
func TestCostNeverExceedsCeiling(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	amount := func() int64 {
		if rng.IntN(4) == 0 {
			return 0 // free, or nothing used
		}
		return rng.Int64N(1 << rng.IntN(40))
	}
	price := func() cost.Price {
		p := cost.Price{Input: cost.NanoUSD(amount()), CachedInput: cost.NanoUSD(amount()), CacheWrite: cost.NanoUSD(amount()), Output: cost.NanoUSD(amount())}
		if rng.IntN(2) == 0 { // as real prices are: whole nano-dollars per token
			p = cost.Price{Input: p.Input * 1_000_000, CachedInput: p.CachedInput * 1_000_000, CacheWrite: p.CacheWrite * 1_000_000, Output: p.Output}
		}
		return p
	}
	for range 200_000 {
		p := price()
		if rng.IntN(2) == 0 {
			long := price()
			p.LongAbove, p.Long = amount(), &long
		}
		input, output := amount(), amount()
		u := cost.Usage{Input: rng.Int64N(input + 1), Output: rng.Int64N(output + 1)}
		u.CachedInput, u.CacheWrite = rng.Int64N(u.Input+1), rng.Int64N(u.Input+1)
		if got, most := p.Cost(u), p.Ceiling(input, output); got > most {
			t.Fatalf("%+v costs %d at %+v, more than Ceiling(%d, %d) = %d", u, got, p, input, output, most)
		}
	}
}
