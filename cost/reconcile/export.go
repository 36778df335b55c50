package reconcile

import (
	"cmp"
	"maps"
	"slices"
)

// Export is what a provider says was used. It is a plain value.
type Export struct {
	Days  []Day    // sorted by date, then model
	Usage []Date   // the days whose requests and tokens it has in full, in order
	Costs []Date   // the days whose costs it has in full, in order
	Kinds []string // the tables of usage it was read from, as OpenAI calls them: "completions", "embeddings"; in order

	FeesApart bool     // costs are by line item: fees of tools stand by themselves and not in the costs of models
	Notes     []string // what a person should know about it, in sentences
}

// Export sums up what was read. An error is a contradiction between files.
func (r *Reader) Export() (Export, error) {
	e := Export{FeesApart: r.byItem}
	first := true
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		days, err := r.whole(kind)
		if err != nil {
			return Export{}, err
		}
		if kind == costs {
			e.Costs = days
			continue
		}
		e.Kinds = append(e.Kinds, kind)
		if first {
			e.Usage, first = days, false
			continue
		}
		e.Usage = r.common(e.Usage, days)
	}
	merged := map[dayKey]*Day{}
	for _, key := range slices.SortedFunc(maps.Keys(r.days), func(a, b dayKey) int { return cmp.Compare(a.kind, b.kind) }) {
		day := r.days[key]
		key.kind = ""
		if sum := merged[key]; sum != nil {
			sum.larger(day)
			continue
		}
		copied := *day
		merged[key] = &copied
	}
	for _, day := range merged {
		e.Days = append(e.Days, *day)
	}
	slices.SortFunc(e.Days, func(a, b Day) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Model, b.Model))
	})
	e.Notes = slices.Clone(r.notes)
	return e, nil
}

// common are the days that two tables both cover. The rest is left out and noted: a model may be in either.
func (r *Reader) common(a, b []Date) []Date {
	both := slices.DeleteFunc(slices.Clone(a), func(d Date) bool { return !contains(b, d) })
	if out := len(a) + len(b) - 2*len(both); out > 0 {
		r.note("%s left out, because not every table of the export covers them: export all tables for the same days", days(out))
	}
	return both
}

func days(n int) string {
	if n == 1 {
		return "1 day was"
	}
	return grouped(int64(n)) + " days were"
}

func contains(sorted []Date, d Date) bool {
	_, found := slices.BinarySearch(sorted, d)
	return found
}

// Covers are all days that are in the export, in order: with their usage, their costs or both.
func (e *Export) Covers() []Date {
	all := slices.Concat(e.Usage, e.Costs)
	slices.Sort(all)
	return slices.Compact(all)
}

// Between is the part of an export from one day to another, both included.
func (e *Export) Between(first, last Date) Export {
	outside := func(d Date) bool { return d < first || d > last }
	part := *e
	part.Usage = slices.DeleteFunc(slices.Clone(e.Usage), outside)
	part.Costs = slices.DeleteFunc(slices.Clone(e.Costs), outside)
	part.Days = slices.DeleteFunc(slices.Clone(e.Days), func(d Day) bool { return outside(d.Date) })
	return part
}
