package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options are how two sides are compared.
type Options struct {
	Tolerance Tolerance
	Renames   map[string]string // names of models in the ledger, to those that the provider has for them
}

// Report is what came of comparing a ledger with an export.
type Report struct {
	First, Last Date // of the days compared
	Days        int  // how many there are of them; 0: nothing was compared
	Tolerance   Tolerance
	Lines       []Line   // a line for each day and model that either side has, by day, then model
	Notes       []string // what a person should know, in sentences
}

// Line is one model on one day, from both sides.
type Line struct {
	Date  Date
	Model string // that both sides are compared under: without the date of a snapshot where they know different ones

	LedgerModels, ProviderModels []string // the names each side has for it; none: it does not have it on that day

	Ledger, Provider Day
	Compared         Figures // that both sides know
	Beyond           Figures // of them, those that differ by more than the tolerance

	Cause Cause  // the suspected one
	Why   string // it in words
}

// FeesLine stands for the model in lines for what tools and other services cost.
const FeesLine = "(tools and fees)"

// Drift reports whether any line is beyond the tolerance.
func (r *Report) Drift() bool { return r.Beyond() > 0 }

// Beyond counts the lines that are beyond the tolerance.
func (r *Report) Beyond() (n int) {
	for i := range r.Lines {
		if r.Lines[i].Beyond != 0 {
			n++
		}
	}
	return n
}

// Compare sets what a ledger has beside what a provider says, for the days that the export covers. Days of the ledger
// are summed, so there may be several for a model and date.
func Compare(ledger []Day, export Export, o Options) Report {
	c := &comparison{Options: o, export: &export, lines: map[lineKey]*Line{}}
	covered := export.Covers()
	report := Report{Tolerance: o.Tolerance, Days: len(covered)}
	if len(covered) > 0 {
		report.First, report.Last = covered[0], covered[len(covered)-1]
	}
	inside := func(d Day) bool { return contains(covered, d.Date) }
	c.ledger = c.renamed(slices.DeleteFunc(slices.Clone(ledger), func(d Day) bool { return !inside(d) }))
	c.provider = slices.DeleteFunc(slices.Clone(export.Days), func(d Day) bool { return !inside(d) })
	c.fill()
	c.measure()
	c.explain()
	report.Lines = c.sorted()
	report.Notes = append(slices.Clone(export.Notes), c.notes(ledger, covered)...)
	return report
}

type lineKey struct {
	date  Date
	model string
}

// comparison is the work of Compare.
type comparison struct {
	Options
	export           *Export
	ledger, provider []Day
	lines            map[lineKey]*Line
	known            Figures       // that the export has of models
	totals           bool          // the export has costs of all models together
	used             map[Date]bool // days on which the provider has anything
	kept             map[Date]bool // days on which the ledger has anything
}

// renamed gives the models of a ledger the names that the provider has for them.
func (c *comparison) renamed(ledger []Day) []Day {
	for i := range ledger {
		if name, ok := c.Renames[ledger[i].Model]; ok {
			ledger[i].Model = name
		}
	}
	return ledger
}

// fill puts both sides into lines.
func (c *comparison) fill() {
	names := [2]map[string]bool{{}, {}}
	for _, d := range c.ledger {
		names[0][d.Model] = true
	}
	for _, d := range c.provider {
		switch {
		case d.Model == AllModels:
			c.totals = true
		case !d.Fee:
			names[1][d.Model] = true
			c.known |= d.Known
		}
	}
	if len(c.export.Costs) > 0 && !c.totals {
		c.known |= Cost // days without any are free of charge
	}
	if len(c.export.Usage) > 0 && c.known&Usage == 0 {
		c.known |= Requests | Input | Output // nothing was used
	}
	joined := join(names[0], names[1])
	c.used, c.kept = map[Date]bool{}, map[Date]bool{}
	for _, d := range c.provider {
		model := joined[d.Model]
		switch {
		case d.Fee:
			model = FeesLine
		case d.Model == AllModels:
			model = AllModels
		}
		c.used[d.Date] = c.used[d.Date] || !d.empty()
		c.put(model, d, false)
	}
	for _, d := range c.ledger {
		c.kept[d.Date] = c.kept[d.Date] || !d.empty()
		costs := contains(c.export.Costs, d.Date)
		if costs && c.totals && (c.known&Cost == 0 || c.lines[lineKey{d.Date, AllModels}] != nil) {
			c.put(AllModels, Day{Date: d.Date, Model: d.Model, Known: d.Known & Cost, Cost: d.Cost}, true)
		}
		if costs && c.export.FeesApart && d.Known&Cost != 0 && d.Fees != 0 {
			c.put(FeesLine, Day{Date: d.Date, Model: d.Model, Known: Cost, Cost: d.Fees}, true)
			d.Cost, d.Fees = minus(d.Cost, d.Fees), 0
		}
		c.put(joined[d.Model], d, true)
	}
}

// put adds a day to a side of its line.
func (c *comparison) put(model string, d Day, ledger bool) {
	key := lineKey{d.Date, model}
	l := c.lines[key]
	if l == nil {
		l = &Line{Date: d.Date, Model: model}
		c.lines[key] = l
	}
	side, names := &l.Provider, &l.ProviderModels
	if ledger {
		side, names = &l.Ledger, &l.LedgerModels
	}
	if len(*names) == 0 {
		*side = d
	} else {
		side.add(&d)
	}
	if !slices.Contains(*names, d.Model) {
		*names = append(*names, d.Model)
		slices.Sort(*names)
	}
}

// measure says what of each line can be compared, and what of it is beyond the tolerance. Lines of which nothing can be
// compared, and those without any use, are dropped.
func (c *comparison) measure() {
	for key, l := range c.lines {
		if len(l.LedgerModels) == 0 {
			l.Ledger = Day{Date: l.Date, Known: Usage | Cost}
		}
		if len(l.ProviderModels) == 0 {
			l.Provider = Day{Date: l.Date, Known: c.known}
			if l.Model == AllModels || l.Model == FeesLine {
				l.Provider.Known = Cost
			}
		}
		var covered Figures
		if contains(c.export.Usage, l.Date) && l.Model != AllModels && l.Model != FeesLine {
			covered |= Usage
		}
		if contains(c.export.Costs, l.Date) {
			covered |= Cost
		}
		l.Compared = covered & l.Ledger.Known & l.Provider.Known
		if l.Compared == 0 || l.Ledger.empty() && l.Provider.empty() {
			delete(c.lines, key)
			continue
		}
		for _, f := range figureNames {
			if l.Compared&f.figure != 0 && !c.Tolerance.agree(f.figure, l.Ledger.figure(f.figure), l.Provider.figure(f.figure)) {
				l.Beyond |= f.figure
			}
		}
	}
}

// sorted are the lines by day, then model; sums and fees go last.
func (c *comparison) sorted() []Line {
	lines := make([]Line, 0, len(c.lines))
	for _, l := range c.lines {
		lines = append(lines, *l)
	}
	last := func(l Line) int {
		return map[string]int{FeesLine: 1, AllModels: 2}[l.Model]
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(last(a), last(b)), cmp.Compare(a.Model, b.Model))
	})
	return lines
}

// notes says what was not compared.
func (c *comparison) notes(ledger []Day, covered []Date) (notes []string) {
	outside, unpriced := map[Date]bool{}, map[string]bool{}
	for _, d := range ledger {
		switch {
		case d.empty():
		case !contains(covered, d.Date):
			outside[d.Date] = true
		case d.Known&Cost == 0 && contains(c.export.Costs, d.Date):
			unpriced[d.Model] = true
		}
	}
	if len(outside) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(outside)))
		notes = append(notes, fmt.Sprintf("the ledger has calls on %s that the export does not cover, the first of them %s: not compared", counted(int64(len(outside)), "day"), first))
	}
	if len(unpriced) > 0 {
		notes = append(notes, fmt.Sprintf("the ledger has no price for %s: costs were not compared there; give a price under models in the configuration", strings.Join(slices.Sorted(maps.Keys(unpriced)), ", ")))
	}
	return notes
}
