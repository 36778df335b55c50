package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// joined prints the lines of a report with the names that each side has for the model.
func joined(r reconcile.Report) string {
	var lines []string
	for _, l := range r.Lines {
		lines = append(lines, fmt.Sprintf("%s %v %v", l.Model, l.LedgerModels, l.ProviderModels))
	}
	return strings.Join(lines, "; ")
}

func TestSnapshotsAreJoinedWithTheirModel(t *testing.T) {
	for name, c := range map[string]struct{ ledger, provider, want string }{
		"the same name":                {"gpt-5-mini", "gpt-5-mini", "gpt-5-mini [gpt-5-mini] [gpt-5-mini]"},
		"an alias":                     {"gpt-5-mini", "gpt-5-mini-2025-08-07", "gpt-5-mini [gpt-5-mini] [gpt-5-mini-2025-08-07]"},
		"the other way about":          {"gpt-5-mini-2025-08-07", "gpt-5-mini", "gpt-5-mini [gpt-5-mini-2025-08-07] [gpt-5-mini]"},
		"the same snapshots":           {"gpt-4o-2024-05-13 gpt-4o-2024-08-06", "gpt-4o-2024-05-13 gpt-4o-2024-08-06", "gpt-4o-2024-05-13 [gpt-4o-2024-05-13] [gpt-4o-2024-05-13]; gpt-4o-2024-08-06 [gpt-4o-2024-08-06] [gpt-4o-2024-08-06]"},
		"an alias and a snapshot":      {"gpt-4o gpt-4o-2024-05-13", "gpt-4o-2024-05-13 gpt-4o-2024-08-06", "gpt-4o [gpt-4o gpt-4o-2024-05-13] [gpt-4o-2024-05-13 gpt-4o-2024-08-06]"},
		"a date without dashes":        {"claude-sonnet-4", "claude-sonnet-4-20250514", "claude-sonnet-4 [claude-sonnet-4] [claude-sonnet-4-20250514]"},
		"month and day":                {"gpt-4", "gpt-4-0613", "gpt-4 [gpt-4] [gpt-4-0613]"},
		"month and day of others":      {"mistral-small", "mistral-small-0312", "mistral-small [mistral-small] []; mistral-small-0312 [] [mistral-small-0312]"},
		"no month":                     {"gpt-4", "gpt-4-1306", "gpt-4 [gpt-4] []; gpt-4-1306 [] [gpt-4-1306]"},
		"no day":                       {"m", "m-2025-02-30", "m [m] []; m-2025-02-30 [] [m-2025-02-30]"},
		"another model":                {"gpt-5", "gpt-5-mini-2025-08-07", "gpt-5 [gpt-5] []; gpt-5-mini-2025-08-07 [] [gpt-5-mini-2025-08-07]"},
		"a snapshot that one side has": {"", "gpt-5-2025-08-07", "gpt-5-2025-08-07 [] [gpt-5-2025-08-07]"},
		"capitals":                     {"GPT-5", "gpt-5", "GPT-5 [GPT-5] []; gpt-5 [] [gpt-5]"},
		"a date alone":                 {"-2025-08-07", "x", "-2025-08-07 [-2025-08-07] []; x [] [x]"},
	} {
		var ledger, provider []reconcile.Day
		for model := range strings.FieldsSeq(c.ledger) {
			ledger = append(ledger, use(1, model, 7, 70, 0, 7, ""))
		}
		for model := range strings.FieldsSeq(c.provider) {
			provider = append(provider, use(1, model, 7, 70, 0, 7, ""))
		}
		if got := joined(reconcile.Compare(ledger, exported(1, provider...), reconcile.Options{})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestRenames(t *testing.T) {
	ledger := []reconcile.Day{use(1, "fast", 7, 70, 0, 7, ""), use(1, "fast", 1, 5, 0, 2, ""), use(1, "slow", 1, 1, 0, 1, "")}
	kept := slices.Clone(ledger)
	export := exported(1, use(1, "gpt-5-mini-2025-08-07", 9, 76, 0, 10, ""))
	report := reconcile.Compare(ledger, export, reconcile.Options{Renames: map[string]string{"fast": "gpt-5-mini", "slow": "gpt-5-mini"}})
	if got, want := joined(report), "gpt-5-mini [gpt-5-mini] [gpt-5-mini-2025-08-07]"; got != want || report.Drift() {
		t.Errorf("%s, drift %v; want %s", got, report.Drift(), want)
	}
	if !slices.Equal(ledger, kept) {
		t.Errorf("the ledger was changed: %+v", ledger)
	}
}

func TestOnlyWhatBothSidesKnowIsCompared(t *testing.T) {
	all := reconcile.Usage | reconcile.Cost
	for name, c := range map[string]struct {
		ledger, provider reconcile.Day
		costs            bool
		want             reconcile.Figures
	}{
		"everything":                {mini, mini, true, all},
		"costs are not covered":     {mini, mini, false, reconcile.Usage},
		"no price in the ledger":    {without(mini, reconcile.Cost), mini, true, reconcile.Usage},
		"no cached in the export":   {mini, without(mini, reconcile.CachedInput), true, all &^ reconcile.CachedInput},
		"tokens alone":              {mini, without(mini, reconcile.Cost|reconcile.Requests|reconcile.CachedInput), true, reconcile.Input | reconcile.Output},
		"costs alone":               {mini, charge(1, "gpt-5-mini", "0.2875", false), true, reconcile.Cost},
		"requests of a picture":     {mini, without(mini, all&^reconcile.Requests), false, reconcile.Requests},
		"nothing that both know of": {without(mini, reconcile.Cost), charge(1, "gpt-5-mini", "1", false), true, 0},
	} {
		export := exported(1, c.provider)
		export.Costs = nil
		if c.costs {
			export.Costs = export.Usage
		}
		report := reconcile.Compare([]reconcile.Day{c.ledger}, export, reconcile.Options{})
		var got reconcile.Figures
		for _, l := range report.Lines {
			got |= l.Compared
		}
		if got != c.want || report.Drift() {
			t.Errorf("%s: compared %b, want %b; drift %v", name, got, c.want, report.Drift())
		}
	}
}

func TestDaysThatAreNotCovered(t *testing.T) {
	ledger := []reconcile.Day{mini, use(2, "gpt-5-mini", 5, 5_000, 0, 500, "0.1"), use(3, "gpt-5-mini", 5, 5_000, 0, 500, ""), use(9, "gpt-5-mini", 5, 5_000, 0, 500, "0.1")}
	export := exported(9, mini, use(3, "gpt-5-mini", 5, 5_000, 0, 500, "0.1"), use(2, "gpt-5-mini", 1, 1, 0, 1, ""))
	export.Usage = []reconcile.Date{august(1), august(3), august(4)}
	export.Costs = export.Usage
	export.Notes = []string{"a word of the export"}
	report := reconcile.Compare(ledger, export, reconcile.Options{})
	if report.Drift() || len(report.Lines) != 2 || report.First != august(1) || report.Last != august(4) || report.Days != 3 {
		t.Errorf("%+v", report)
	}
	want := []string{
		"a word of the export",
		"the ledger has calls on 2 days that the export does not cover, the first of them 2026-08-02: not compared",
		"the ledger has no price for gpt-5-mini: costs were not compared there; give a price under models in the configuration",
	}
	if !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
	if part := export.Between(august(2), august(3)); !slices.Equal(part.Covers(), []reconcile.Date{august(3)}) || len(part.Days) != 2 {
		t.Errorf("a part of it: %+v", part)
	}
	if nothing := reconcile.Compare(ledger, reconcile.Export{}, reconcile.Options{}); nothing.Days != 0 || len(nothing.Lines) != 0 {
		t.Errorf("an export that covers nothing: %+v", nothing)
	}
}

// An export whose days have nothing is a claim, and a ledger that has something is beyond it.
func TestADayWithoutUseIsCompared(t *testing.T) {
	export := exported(1)
	export.Costs = export.Usage
	report := reconcile.Compare([]reconcile.Day{mini}, export, reconcile.Options{})
	if len(report.Lines) != 1 || report.Lines[0].Beyond != reconcile.Requests|reconcile.Input|reconcile.Output|reconcile.Cost {
		t.Errorf("%+v", report.Lines)
	}
	if report = reconcile.Compare(nil, export, reconcile.Options{}); len(report.Lines) != 0 || report.Days != 1 {
		t.Errorf("nothing on either side: %+v", report)
	}
}

// Fees that stand by themselves in an export are compared by themselves, and the costs of models without them.
func TestFeesStandByThemselves(t *testing.T) {
	ledger := []reconcile.Day{feed(use(1, "gpt-5-mini", 100, 600_000, 100_000, 80_000, "0.5375"), "0.25")}
	export := exported(1, mini, charge(1, "web search tool calls", "0.20", true), charge(1, "file search", "0.05", true))
	report := reconcile.Compare(ledger, export, reconcile.Options{})
	if got, want := joined(report), "gpt-5-mini [gpt-5-mini] [gpt-5-mini]; (tools and fees) [gpt-5-mini] [file search web search tool calls]"; got != want || report.Drift() {
		t.Errorf("%s, drift %v; want %s", got, report.Drift(), want)
	}
	together := exported(1, without(mini, reconcile.Cost), charge(1, reconcile.AllModels, "0.5375", false))
	report = reconcile.Compare(ledger, together, reconcile.Options{})
	if got, want := joined(report), "gpt-5-mini [gpt-5-mini] [gpt-5-mini]; (all models) [gpt-5-mini] [(all models)]"; got != want || report.Drift() {
		t.Errorf("%s, drift %v; want %s", got, report.Drift(), want)
	}
}

// A ledger agrees with itself, however it is split, and every difference is found, on the side and in the figure where it is.
func TestComparingIsComplete(t *testing.T) {
	models := []string{"gpt-5", "gpt-5-2025-08-07", "gpt-5-mini", "o3", "text-embedding-3-small"}
	number := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 1<<40))
	rapid.Check(t, func(t *rapid.T) {
		var ledger, provider []reconcile.Day
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			d := use(rapid.IntRange(1, 5).Draw(t, "day"), rapid.SampledFrom(models).Draw(t, "model"), number.Draw(t, "requests"), number.Draw(t, "input"), 0, number.Draw(t, "output"), "")
			if slices.ContainsFunc(provider, func(p reconcile.Day) bool { return p.Date == d.Date && p.Model == d.Model }) {
				continue
			}
			provider = append(provider, d)
			part := d
			part.Requests, part.Input, part.Output = d.Requests/3, d.Input/2, 0
			d.Requests, d.Input = d.Requests-part.Requests, d.Input-part.Input
			ledger = append(ledger, d, part)
		}
		export := exported(5, provider...)
		if report := reconcile.Compare(ledger, export, reconcile.Options{}); report.Drift() {
			t.Fatalf("a ledger differs from itself: %+v", report.Lines)
		}
		export.Days[0].Input++
		report := reconcile.Compare(ledger, export, reconcile.Options{})
		if report.Beyond() != 1 {
			t.Fatalf("%d lines, want one: %+v", report.Beyond(), report.Lines)
		}
		for _, l := range report.Lines {
			if l.Beyond != 0 && (l.Beyond != reconcile.Input || l.Provider.Input-l.Ledger.Input != 1 || l.Date != export.Days[0].Date || l.Why == "") {
				t.Fatalf("%+v", l)
			}
		}
	})
}
