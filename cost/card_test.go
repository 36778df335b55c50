package cost_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

const dollar = cost.NanoUSD(1_000_000_000)

// rated lists rates as the prices of a column that are given, in dollars.
type rated map[cost.Item]cost.NanoUSD

func (r rated) dollars() map[cost.Item]cost.NanoUSD {
	out := map[cost.Item]cost.NanoUSD{}
	for i, n := range r {
		out[i] = n * dollar
	}
	return out
}

func price(tb testing.TB, c cost.Card) cost.Price {
	tb.Helper()
	p, err := c.Price()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// inDollars are rates with their zeros left out.
func inDollars(r cost.Rates) rated {
	out := rated{}
	for i, n := range r {
		if n != 0 {
			out[cost.Item(i)] = n / dollar
		}
	}
	return out
}

func TestWhatIsNotStatedCostsWhatTheRestOfItsKindDoes(t *testing.T) {
	for _, c := range []struct {
		name         string
		stated, want rated
	}{
		{
			"text",
			rated{cost.Input: 2, cost.Output: 8},
			rated{
				cost.Input: 2, cost.CachedInput: 2, cost.CacheWrite: 2, cost.AudioInput: 2, cost.CachedAudioInput: 2, cost.ImageInput: 2,
				cost.CachedImageInput: 2, cost.Output: 8, cost.Reasoning: 8, cost.AudioOutput: 8, cost.ImageOutput: 8,
			},
		},
		{
			"sound is dear, and its cache is not known",
			rated{cost.Input: 2, cost.CachedInput: 1, cost.AudioInput: 40, cost.Output: 8, cost.AudioOutput: 80},
			rated{
				cost.Input: 2, cost.CachedInput: 1, cost.CacheWrite: 2, cost.AudioInput: 40, cost.CachedAudioInput: 40, cost.ImageInput: 2,
				cost.CachedImageInput: 2, cost.Output: 8, cost.Reasoning: 8, cost.AudioOutput: 80, cost.ImageOutput: 8,
			},
		},
		{"free", rated{cost.Input: 0, cost.Output: 0}, rated{}},
		{
			"only pictures come out",
			rated{cost.ImageInput: 10, cost.ImageOutput: 40},
			rated{
				cost.Input: 10, cost.CachedInput: 10, cost.CacheWrite: 10, cost.AudioInput: 10, cost.CachedAudioInput: 10, cost.ImageInput: 10,
				cost.CachedImageInput: 10, cost.Output: 40, cost.Reasoning: 40, cost.AudioOutput: 40, cost.ImageOutput: 40,
			},
		},
	} {
		p := price(t, cost.Card{Standard: cost.Column{Rates: c.stated.dollars()}})
		if diff := cmp.Diff(c.want, inDollars(p.Rates)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Above a threshold, what is not stated rises with what is.
func TestWhatIsNotStatedAboveAThreshold(t *testing.T) {
	p := price(t, cost.Card{Standard: cost.Column{
		Rates: rated{cost.Input: 4, cost.CachedInput: 1, cost.CacheWrite: 5, cost.Output: 8, cost.Reasoning: 10}.dollars(),
		Long: map[int64]map[cost.Item]cost.NanoUSD{
			200: rated{cost.Input: 8}.dollars(), 500: rated{cost.Output: 16}.dollars(),
		},
	}})
	for _, c := range []struct {
		input int64
		item  cost.Item
		want  cost.NanoUSD
	}{
		{200, cost.Input, 4},
		{201, cost.Input, 8},
		{201, cost.CachedInput, 8}, // its discount is not known there
		{201, cost.CacheWrite, 10}, // 5/4 of 8
		{201, cost.Output, 8},
		{201, cost.Reasoning, 10},
		{501, cost.Input, 8},
		{501, cost.Output, 16},
		{501, cost.Reasoning, 20},
	} {
		if got := p.At(cost.Standard, c.input)[c.item]; got != c.want*dollar {
			t.Errorf("%d tokens, %v: %v, want $%d", c.input, c.item, got, c.want)
		}
	}
}

func TestWhatIsNotStatedInOtherTiers(t *testing.T) {
	p := price(t, cost.Card{
		Standard: cost.Column{
			Rates: rated{cost.Input: 10, cost.CachedInput: 2, cost.Output: 40}.dollars(),
			Long:  map[int64]map[cost.Item]cost.NanoUSD{100: rated{cost.Input: 20, cost.CachedInput: 4, cost.Output: 60}.dollars()},
		},
		Flex:     cost.Column{Rates: rated{cost.Input: 5, cost.Output: 20}.dollars()},
		Priority: cost.Column{Rates: rated{cost.Input: 18}.dollars()},
	})
	for _, c := range []struct {
		tier  cost.Tier
		input int64
		item  cost.Item
		want  cost.NanoUSD
	}{
		{cost.Flex, 100, cost.Input, 5},
		{cost.Flex, 100, cost.CachedInput, 2}, // the standard price
		{cost.Flex, 100, cost.CacheWrite, 5},  // has no price of its own anywhere: that of input
		{cost.Flex, 101, cost.Input, 20},      // no discount is listed for long prompts
		{cost.Flex, 101, cost.Output, 60},
		{cost.Priority, 100, cost.Input, 18},
		{cost.Priority, 100, cost.CachedInput, 6}, // three times the standard price
		{cost.Priority, 100, cost.Output, 120},
		{cost.Priority, 101, cost.Input, 60},
		{cost.Batch, 100, cost.Input, 10},
	} {
		if got := p.At(c.tier, c.input)[c.item]; got != c.want*dollar {
			t.Errorf("%v, %d tokens, %v: %v, want $%d", c.tier, c.input, c.item, got, c.want)
		}
	}
}

// Whatever a list leaves out, discounts that are not listed are not given.
func TestLeavingPricesOutNeverMakesACallCheaperThanItsGeneralPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Custom(func(t *rapid.T) cost.NanoUSD {
			return cost.NanoUSD(rapid.Int64Range(1, 5000).Draw(t, "dollars")) * dollar
		})
		some := rapid.Custom(func(t *rapid.T) map[cost.Item]cost.NanoUSD {
			m := map[cost.Item]cost.NanoUSD{}
			for i := range cost.Items {
				if item := cost.Item(i); !item.PerUnit() && rapid.Bool().Draw(t, "stated") {
					m[item] = rate.Draw(t, item.String())
				}
			}
			return m
		})
		card := cost.Card{Standard: cost.Column{Rates: some.Draw(t, "standard"), Long: map[int64]map[cost.Item]cost.NanoUSD{100: some.Draw(t, "long")}}}
		p, err := card.Price()
		if err != nil {
			t.Fatal(err)
		}
		for i := range cost.Items {
			item := cost.Item(i)
			for input, stated := range map[int64]map[cost.Item]cost.NanoUSD{50: card.Standard.Rates, 150: card.Standard.Long[100]} {
				got, r := p.At(cost.Standard, input)[item], p.At(cost.Standard, input)
				want, ok := stated[item]
				switch {
				case ok && got != want:
					t.Fatalf("%v at %d is %v, stated %v", item, input, got, want)
				case !ok && item.IsInput() && item != cost.Input && got < min(r[cost.Input], r[cost.AudioInput], r[cost.ImageInput]):
					t.Fatalf("%v at %d is %v, less than its kind: %v", item, input, got, r)
				case !ok && item.IsOutput() && item != cost.Output && got < r[cost.Output]:
					t.Fatalf("%v at %d is %v, less than other output: %v", item, input, got, r)
				}
			}
		}
	})
}

func TestAbsurdPricesAreMistakes(t *testing.T) {
	for _, c := range []struct {
		item cost.Item
		rate cost.NanoUSD
		says string
	}{
		{cost.Input, -1, "negative"},
		{cost.Input, 5001 * dollar, "more than $5000.00"},
		{cost.Output, dollar/10_000 - 1, "$0 is free"},
		{cost.PerImage, 101 * dollar * 1_000_000, "one picture"},
		{cost.PerSecond, 11 * dollar * 1_000_000, "one second"},
		{cost.PerCharacter, 5001 * dollar, "a million characters"},
	} {
		for _, column := range []cost.Column{
			{Rates: map[cost.Item]cost.NanoUSD{c.item: c.rate}},
			{Rates: map[cost.Item]cost.NanoUSD{cost.Input: dollar}, Long: map[int64]map[cost.Item]cost.NanoUSD{5: {c.item: c.rate}}},
		} {
			_, err := cost.Card{Standard: column}.Price()
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.item.String()) {
				t.Errorf("%v at %v: %v", c.item, c.rate, err)
			}
		}
	}
	for _, fine := range []rated{{cost.Input: 0}, {cost.Input: 5000}, {cost.PerImage: 100 * 1_000_000}} {
		if _, err := (cost.Card{Standard: cost.Column{Rates: fine.dollars()}}).Price(); err != nil {
			t.Errorf("%v: %v", fine, err)
		}
	}
	if _, err := (cost.Card{EU: 9999}).Price(); err == nil {
		t.Error("a region makes it cheaper")
	}
}
