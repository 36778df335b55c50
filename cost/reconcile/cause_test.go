package reconcile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// use is what a model used on a day of August 2026. Without a cost, it is not known.
func use(day int, model string, requests, input, cached, output int64, dollars string) reconcile.Day {
	d := reconcile.Day{
		Date: august(day), Model: model, Known: reconcile.Usage,
		Requests: requests, Input: input, CachedInput: cached, Output: output,
	}
	if dollars != "" {
		n, err := cost.ParseUSD(dollars)
		if err != nil {
			panic(err)
		}
		d.Cost, d.Known = n, d.Known|reconcile.Cost
	}
	return d
}

func august(day int) reconcile.Date {
	d, err := reconcile.ParseDate("2026-08-01")
	if err != nil {
		panic(err)
	}
	return d + reconcile.Date(day-1)
}

// charge is what was charged alone.
func charge(day int, model, dollars string, fee bool) reconcile.Day {
	d := use(day, model, 0, 0, 0, 0, dollars)
	d.Known, d.Fee = reconcile.Cost, fee
	return d
}

// exported is an export that covers the first days of August 2026, and their costs where any are known.
func exported(days int, provider ...reconcile.Day) reconcile.Export {
	e := reconcile.Export{Days: provider, Kinds: []string{"completions"}}
	costs := false
	for _, d := range provider {
		costs = costs || d.Known&reconcile.Cost != 0
		e.FeesApart = e.FeesApart || d.Fee
	}
	for day := range days {
		e.Usage = append(e.Usage, august(day+1))
		if costs {
			e.Costs = append(e.Costs, august(day+1))
		}
	}
	return e
}

// scenario is what two sides say, and what is suspected.
type scenario struct {
	name             string
	days             int // that the export covers; 0: one
	ledger, provider []reconcile.Day
	cause            reconcile.Cause
	lines            int      // that have it; 0: one
	says             []string // in the words of the first
}

func unreported(d reconcile.Day, unreported, counted reconcile.Share) reconcile.Day {
	d.Unreported, d.Counted = unreported, counted
	return d
}

func batched(d reconcile.Day, n int64) reconcile.Day {
	d.Batch = n
	return d
}

func feed(d reconcile.Day, dollars string) reconcile.Day {
	d.Fees, _ = cost.ParseUSD(dollars)
	return d
}

func without(d reconcile.Day, f reconcile.Figures) reconcile.Day {
	d.Known &^= f
	return d
}

var mini = use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.2875")

func scenarios() []scenario {
	one := func(d ...reconcile.Day) []reconcile.Day { return d }
	return []scenario{
		{name: "the same", ledger: one(mini), provider: one(mini), cause: reconcile.Agrees},
		{
			name: "within the tolerance", cause: reconcile.Agrees,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 101, 603_000, 100_400, 80_300, "0.2889")),
		},
		{
			name: "another program with the same account", cause: reconcile.Around,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 111, 660_000, 100_000, 88_000, "0.32")),
			says: []string{"the provider has 11 requests and 68,000 tokens more: calls that did not pass this proxy"},
		},
		{
			name: "batch jobs", cause: reconcile.Around,
			ledger: one(mini), provider: one(batched(use(1, "gpt-5-mini", 300, 1_800_000, 100_000, 240_000, ""), 200)),
			says: []string{"200 requests and 1,360,000 tokens more", "of its requests 200 were in batch jobs, which never pass the proxy"},
		},
		{
			name: "a model that only others use", cause: reconcile.Around,
			ledger: one(mini), provider: one(mini, use(1, "o3-pro", 3, 30_000, 0, 9_000, "")),
			says: []string{"3 requests and 39,000 tokens more", "the ledger does not have the model on this day"},
		},
		{
			name: "around it, without requests", cause: reconcile.Around,
			ledger: one(mini), provider: one(without(use(1, "gpt-5-mini", 0, 700_000, 100_000, 90_000, ""), reconcile.Requests)),
			says: []string{"110,000 tokens more, and the export has no requests"},
		},
		{
			name: "answers that broke off", cause: reconcile.Unreported,
			ledger:   one(unreported(use(1, "gpt-5-mini", 103, 612_000, 100_000, 128_000, "0.3865"), reconcile.Share{Requests: 3, Input: 12_000, Output: 48_000, Cost: 99_000_000}, reconcile.Share{})),
			provider: one(mini),
			says:     []string{"3 calls with 60,000 tokens at the whole reservation, since nobody said what they used (broken off, no answer, a crash); without them the ledger has no more than the provider"},
		},
		{
			name: "broken off, but counted by the provider in part", cause: reconcile.Unreported,
			ledger:   one(unreported(use(1, "gpt-5-mini", 103, 612_000, 100_000, 128_000, "0.3865"), reconcile.Share{Requests: 3, Input: 12_000, Output: 48_000, Cost: 99_000_000}, reconcile.Share{})),
			provider: one(use(1, "gpt-5-mini", 103, 612_000, 100_000, 83_000, "0.2965")),
		},
		{
			name: "answers without usage", cause: reconcile.Unreported,
			ledger:   one(unreported(use(1, "gpt-5-mini", 100, 609_000, 100_000, 81_500, "0.29275"), reconcile.Share{}, reconcile.Share{Requests: 9, Input: 60_000, Output: 8_000, Cost: 30_000_000})),
			provider: one(mini),
			says:     []string{"9 calls with 68,000 tokens as the proxy counted them"},
		},
		{
			name: "a call across midnight", days: 2, cause: reconcile.Midnight, lines: 2,
			ledger:   one(use(1, "gpt-5", 50, 500_000, 0, 60_000, ""), use(2, "gpt-5", 40, 400_000, 0, 50_000, "")),
			provider: one(use(1, "gpt-5", 48, 480_000, 0, 52_000, ""), use(2, "gpt-5", 42, 420_000, 0, 58_000, "")),
			says:     []string{"the days from 2026-08-01 to 2026-08-02 agree in their sum: calls that ran across midnight UTC", "another time zone"},
		},
		{
			name: "days of another time zone", days: 4, cause: reconcile.Midnight, lines: 4,
			ledger: one(use(1, "gpt-5", 50, 500_000, 0, 60_000, ""), use(2, "gpt-5", 40, 400_000, 0, 50_000, ""),
				use(3, "gpt-5", 60, 600_000, 0, 70_000, ""), use(4, "gpt-5", 10, 100_000, 0, 10_000, "")),
			provider: one(use(1, "gpt-5", 45, 450_000, 0, 54_000, ""), use(2, "gpt-5", 44, 440_000, 0, 53_000, ""),
				use(3, "gpt-5", 50, 500_000, 0, 60_000, ""), use(4, "gpt-5", 21, 210_000, 0, 23_000, "")),
			says: []string{"the days from 2026-08-01 to 2026-08-04"},
		},
		{
			name: "an alias of one's own, by its figures", days: 2, cause: reconcile.OtherName, lines: 4,
			ledger:   one(use(1, "fast", 50, 500_000, 0, 60_000, ""), use(2, "fast", 40, 400_000, 0, 50_000, "")),
			provider: one(use(1, "gpt-5-mini-2025-08-07", 50, 500_000, 0, 60_000, ""), use(2, "gpt-5-mini-2025-08-07", 40, 400_000, 0, 50_000, "")),
			says:     []string{"the ledger has none of gpt-5-mini-2025-08-07, which has the same figures; if they are the same, say -model fast=gpt-5-mini-2025-08-07"},
		},
		{
			name: "a name that is spelled otherwise", cause: reconcile.OtherName, lines: 2,
			ledger: one(use(1, "gpt-4o", 50, 500_000, 0, 60_000, "")), provider: one(use(1, "openai/gpt-4o-2024-08-06", 9, 100_000, 0, 6_000, "")),
			says: []string{"which is written like it; if they are the same, say -model gpt-4o=openai/gpt-4o-2024-08-06"},
		},
		{
			name: "no ledger that day", days: 2, cause: reconcile.NotKept,
			ledger: one(mini), provider: one(mini, use(2, "gpt-5-mini", 40, 40_000, 0, 5_000, "0.02")),
			says: []string{"the ledger has nothing at all on this day: the proxy did not run"},
		},
		{
			name: "nothing counted that day", days: 2, cause: reconcile.NotCounted,
			ledger: one(mini, use(2, "gpt-5-mini", 40, 40_000, 0, 5_000, "0.02")), provider: one(mini),
			says: []string{"the provider has nothing at all on this day: it may not have counted it yet"},
		},
		{
			name: "an export of one project", cause: reconcile.NotThere,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 60, 360_000, 60_000, 48_000, "0.17")),
			says: []string{"the ledger has 40 requests and 272,000 tokens more: the export is of one project or key only"},
		},
		{
			name: "a table that was not exported", cause: reconcile.NotThere,
			ledger: one(mini, use(1, "text-embedding-3-small", 60, 360_000, 0, 0, "")), provider: one(mini),
			says: []string{"60 requests and 360,000 tokens more: models like this one are in another table of the provider: export /v1/organization/usage/embeddings, too"},
		},
		{
			name: "calls that failed", cause: reconcile.FailedCalls,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 125, 600_000, 100_000, 80_000, "0.2875")),
			says: []string{"25 requests more and no more tokens: it counts calls that failed"},
		},
		{
			name: "calls that are not counted", cause: reconcile.FailedCalls,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 90, 600_000, 100_000, 80_000, "0.2875")),
			says: []string{"the ledger has 10 requests more and no more tokens"},
		},
		{
			name: "another tokenizer", cause: reconcile.TokenCounts,
			ledger:   one(unreported(mini, reconcile.Share{}, reconcile.Share{Requests: 100, Input: 600_000, Output: 80_000})),
			provider: one(use(1, "gpt-5-mini", 100, 720_000, 100_000, 60_000, "")),
			says:     []string{"the requests agree and the tokens do not: at the provider input is 1.200 times the ledger's, output is 0.750 times", "100 calls of the ledger had no report"},
		},
		{
			name: "one more, one less", cause: reconcile.Mixed,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 120, 500_000, 100_000, 80_000, "")),
		},
		{
			name: "cached input that nobody reported", cause: reconcile.CacheShare,
			ledger: one(use(1, "gpt-5-mini", 100, 600_000, 0, 80_000, "0.31")), provider: one(mini),
			says: []string{"the provider read 100,000 tokens from its cache, the ledger knows of 0"},
		},
		{
			name: "fees in the ledger alone", cause: reconcile.ToolFees,
			ledger: one(feed(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.5375"), "0.25")), provider: one(mini),
			says: []string{"$0.25 of what the ledger has are fees of tools"},
		},
		{
			name: "fees that differ", cause: reconcile.ToolFees,
			ledger:   one(feed(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.5375"), "0.25")),
			provider: one(mini, charge(1, "web search tool calls", "0.5", true)),
			says:     []string{"fees differ for web search tool calls"},
		},
		{
			name: "fees of the provider alone", cause: reconcile.ToolFees,
			ledger: one(mini), provider: one(mini, charge(1, "evals | gpt-5-mini, input", "0.5", true)),
			says: []string{"the ledger has no fees on this day, the provider took them for evals | gpt-5-mini, input"},
		},
		{
			name: "free tokens", cause: reconcile.NotCharged,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0")),
			says: []string{"charged next to nothing"},
		},
		{
			name: "the flex tier", days: 2, cause: reconcile.OtherTier, lines: 2,
			ledger:   one(mini, use(2, "gpt-5-mini", 10, 60_000, 10_000, 8_000, "0.02875")),
			provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.14375"), use(2, "gpt-5-mini", 10, 60_000, 10_000, 8_000, "0.014375")),
			says:     []string{"the provider charged 0.500 times on all 2 days: half, which is what the batch and flex tiers cost"},
		},
		{
			name: "the priority tier", cause: reconcile.OtherTier,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.575")),
			says: []string{"the provider charged 2.000 times: double, which is what the priority tier and long prompts cost"},
		},
		{
			name: "data residency", cause: reconcile.OldPrices,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.31625")),
			says: []string{"1.100 times: a tenth more, which is what data residency costs"},
		},
		{
			name: "a new price", days: 2, cause: reconcile.OldPrices, lines: 2,
			ledger:   one(mini, use(2, "gpt-5-mini", 1000, 6_000_000, 1_000_000, 800_000, "2.875")),
			provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.359375"), use(2, "gpt-5-mini", 1000, 6_000_000, 1_000_000, 800_000, "3.59375")),
			says:     []string{"the provider charged 1.250 times on all 2 days: the price list is out of date, or a discount is agreed; `tokenfare prices gpt-5-mini` shows"},
		},
		{
			name: "a price of nothing", cause: reconcile.OldPrices,
			ledger: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0")), provider: one(mini),
			says: []string{"the model costs $0 in its price list"},
		},
		{
			name: "prices that go up and down", days: 2, cause: reconcile.OtherPrices, lines: 2,
			ledger:   one(mini, use(2, "gpt-5-mini", 1000, 6_000_000, 1_000_000, 800_000, "2.875")),
			provider: one(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.359375"), use(2, "gpt-5-mini", 1000, 6_000_000, 1_000_000, 800_000, "3")),
			says:     []string{"the provider charged 1.250 times on this day, and by another factor on others"},
		},
		{
			name: "costs alone", cause: reconcile.OtherPrices,
			ledger: one(mini), provider: one(charge(1, "gpt-5-mini", "0.5", false)),
			says: []string{"costs here and no tokens: give its usage, too"},
		},
		{
			name: "costs of all models, by prices", cause: reconcile.OldPrices,
			ledger: one(mini), provider: one(without(mini, reconcile.Cost), charge(1, reconcile.AllModels, "0.5", false)),
			says: []string{"1.739 times"},
		},
		{
			name: "costs of all models, by calls", cause: reconcile.Follows,
			ledger: one(mini), provider: one(use(1, "gpt-5-mini", 200, 1_200_000, 200_000, 160_000, ""), charge(1, reconcile.AllModels, "0.575", false)),
			says: []string{"follows from the usage of models on this day"},
		},
	}
}

func TestSuspicions(t *testing.T) {
	found := map[reconcile.Cause]bool{}
	for _, s := range scenarios() {
		report := reconcile.Compare(s.ledger, exported(max(1, s.days), s.provider...), reconcile.Options{Tolerance: reconcile.DefaultTolerance()})
		var lines []reconcile.Line
		for _, l := range report.Lines {
			if l.Cause == s.cause && (l.Beyond != 0) == (s.cause != reconcile.Agrees) {
				lines = append(lines, l)
			}
		}
		if len(lines) != max(1, s.lines) || report.Drift() != (s.cause != reconcile.Agrees) {
			t.Errorf("%s: %d lines of %q, drift %v, in %+v", s.name, len(lines), s.cause, report.Drift(), report.Lines)
			continue
		}
		for _, says := range s.says {
			if !strings.Contains(lines[0].Why, says) {
				t.Errorf("%s: %q does not say %q", s.name, lines[0].Why, says)
			}
		}
		found[s.cause] = true
	}
	for _, cause := range reconcile.Causes() {
		if !found[cause] {
			t.Errorf("there is no scenario for %q", cause)
		}
	}
}

// Every cause that a report can name is explained to people.
func TestCausesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reconcile.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, cause := range reconcile.Causes() {
		if cause != reconcile.Agrees && !strings.Contains(string(doc), "| `"+string(cause)+"` |") {
			t.Errorf("docs/reconcile.md does not say what %q means", cause)
		}
	}
}
