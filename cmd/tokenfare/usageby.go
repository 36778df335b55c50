package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// dimension is one of the things that usage is told apart by.
type dimension struct {
	name  string // to -by, in JSON and in CSV
	wants func(q *ledger.HourQuery, zone *time.Location)
	of    func(h *ledger.Hour, zone *time.Location) []string // more than one: it counts in each
}

func one(s string) []string { return []string{s} }

// dimensions are all there are, in the order in which messages name them.
var dimensions = []dimension{
	{"key", wantsSeries, func(h *ledger.Hour, _ *time.Location) []string { return one(h.Series.Key) }},
	{"group", wantsSeries, func(h *ledger.Hour, _ *time.Location) []string { return groupsIn(h.Series) }},
	{"model", func(q *ledger.HourQuery, _ *time.Location) { q.Model = true }, func(h *ledger.Hour, _ *time.Location) []string { return one(h.Model) }},
	{"label", func(q *ledger.HourQuery, _ *time.Location) { q.Label = true }, func(h *ledger.Hour, _ *time.Location) []string { return one(h.Label) }},
	{"day", func(q *ledger.HourQuery, zone *time.Location) { q.Day = zone }, func(h *ledger.Hour, zone *time.Location) []string { return one(dayOf(h.Start, zone)) }},
	{"upstream", wantsSeries, func(h *ledger.Hour, _ *time.Location) []string { return one(h.Series.Upstream) }},
	{"endpoint", wantsSeries, func(h *ledger.Hour, _ *time.Location) []string { return one(h.Series.Endpoint) }},
}

func wantsSeries(q *ledger.HourQuery, _ *time.Location) { q.Series = true }

// groupsIn are the groups a key was in when it called; a key in none counts under the empty name.
func groupsIn(s ledger.Series) []string { return strings.Split(s.Groups, ",") }

// dayOf is the day in which an hour of UTC begins.
func dayOf(hour int64, zone *time.Location) string {
	return time.Unix(hour, 0).In(zone).Format(time.DateOnly)
}

// unrefused are the dimensions that refusals are not told apart by: they never reach an upstream, and are counted by key, model
// and hour alone.
var unrefused = []string{"label", "upstream", "endpoint"}

// by is what a report is told apart by, in the order of -by.
type by []dimension

func parseBy(text string) (by, error) {
	var names []string
	for _, d := range dimensions {
		names = append(names, d.name)
	}
	var out by
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("-by: usage is not told apart by %q: %s", name, suggest(strings.TrimSuffix(name, "s"), names))
		case out.has(name):
			return nil, fmt.Errorf("-by: %s is named twice", name)
		}
		out = append(out, dimensions[i])
	}
	return out, nil
}

func (b by) has(name string) bool {
	return slices.ContainsFunc(b, func(d dimension) bool { return d.name == name })
}

func (b by) names() (out []string) {
	for _, d := range b {
		out = append(out, d.name)
	}
	return out
}

// tellsRefusals reports whether refusals are told apart by all of it.
func (b by) tellsRefusals() bool { return !slices.ContainsFunc(unrefused, b.has) }

// values are the values of each dimension. Unused ones are empty.
type values [7]string

// of returns the lines in which something counts.
func (b by) of(h *ledger.Hour, zone *time.Location) []values {
	lines := []values{{}}
	for i, d := range b {
		var told []values
		for _, name := range d.of(h, zone) {
			for _, v := range lines {
				v[i] = name
				told = append(told, v)
			}
		}
		lines = told
	}
	return lines
}
