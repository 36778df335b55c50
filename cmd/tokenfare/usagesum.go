package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// usageQuery is what is asked of the ledger.
type usageQuery struct {
	span
	by   by
	keys []string // empty: all

	// groupsOf returns the groups a key is in by the configuration, for refusals of keys that have called nothing else; nil: unknown.
	groupsOf func(key string) []string
}

// usageLine is what some exchanges come to.
type usageLine struct {
	values  values
	sums    ledger.Sums      // of those that ended
	refused map[string]int64 // by the code of the error
	running ledger.Sums      // of those that have not: at the most they can come to
}

// usageReport is the answer.
type usageReport struct {
	usageQuery
	lines []*usageLine // in order
	total usageLine    // of all exchanges, each once
	of    map[values]*usageLine

	// The keys there is anything of, wanted or not, each with the lists of groups it was in: known if keys are told apart, or some
	// are wanted.
	called map[string]map[string]bool
}

// read asks a ledger.
func (q usageQuery) read(ctx context.Context, s ledger.Snapshot) (*usageReport, error) {
	r := &usageReport{usageQuery: q, called: map[string]map[string]bool{}, of: map[values]*usageLine{}}
	from, to := q.hours()
	hours := ledger.HourQuery{From: from, To: to, Series: len(q.keys) > 0}
	for _, d := range q.by {
		d.wants(&hours, q.zone)
	}
	err := s.Hours(ctx, hours, func(h ledger.Hour, sums ledger.Sums) error {
		r.call(h.Series)
		if q.wanted(h.Series.Key) {
			r.add(&h, func(l *usageLine) { l.sums.Add(sums) })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	running, err := s.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	for i := range running {
		b := &running[i].Begin
		if began := b.Exchange.Time(); !q.wanted(b.Series.Key) || began.Before(from) || !began.Before(to) {
			continue
		}
		r.call(b.Series)
		h := ledger.Hour{Start: ledger.HourOf(b.Exchange.Time()), Series: b.Series, Model: b.Model, Label: b.Label}
		r.add(&h, func(l *usageLine) { l.running.Add(ledger.SumsOf(b, running[i].Crash())) })
	}
	// Last: the groups of their keys are known from the others.
	err = s.Refusals(ctx, from, to, func(f ledger.Refusal) error {
		r.refusal(f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, l := range r.of {
		r.lines = append(r.lines, l)
	}
	r.sort()
	return r, nil
}

// add adds something of an hour to the lines in which it counts, and to the total.
func (r *usageReport) add(h *ledger.Hour, add func(*usageLine)) {
	for _, v := range r.by.of(h, r.zone) {
		if r.of[v] == nil {
			r.of[v] = &usageLine{values: v}
		}
		add(r.of[v])
	}
	add(&r.total)
}

// refusal adds refusals, to the total alone where nothing more is known of them.
func (r *usageReport) refusal(f ledger.Refusal) {
	groups := r.groups(f.Key)
	r.call(ledger.Series{Key: f.Key, Groups: groups})
	switch {
	case !r.wanted(f.Key):
	case r.by.tellsRefusals():
		h := ledger.Hour{Start: f.Hour, Series: ledger.Series{Key: f.Key, Groups: groups}, Model: f.Model}
		r.add(&h, func(l *usageLine) { l.refuse(f.Code, f.N) })
	default:
		r.total.refuse(f.Code, f.N)
	}
}

func (q usageQuery) wanted(key string) bool { return len(q.keys) == 0 || slices.Contains(q.keys, key) }

// call remembers the groups of a key, as its exchanges have them.
func (r *usageReport) call(s ledger.Series) {
	if r.called[s.Key] == nil {
		r.called[s.Key] = map[string]bool{}
	}
	r.called[s.Key][s.Groups] = true
}

// groups are those that a key was in when it called, or is in by the configuration where it never did.
func (r *usageReport) groups(key string) string {
	if r.called[key] == nil {
		if r.groupsOf == nil {
			return ""
		}
		return strings.Join(r.groupsOf(key), ",")
	}
	var all []string
	for list := range r.called[key] {
		all = append(all, strings.Split(list, ",")...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// sort puts the dearest first, and within it the dearest of the next dimension; days in their own order.
func (r *usageReport) sort() {
	var prefixes [len(values{})]map[values]*usageLine
	for i := range r.by {
		prefixes[i] = map[values]*usageLine{}
		for _, l := range r.lines {
			p := l.values.upto(i)
			if prefixes[i][p] == nil {
				prefixes[i][p] = &usageLine{}
			}
			prefixes[i][p].add(l)
		}
	}
	slices.SortFunc(r.lines, func(a, b *usageLine) int {
		for i, d := range r.by {
			if a.values[i] == b.values[i] {
				continue
			}
			x, y := prefixes[i][a.values.upto(i)], prefixes[i][b.values.upto(i)]
			if d.name == "day" {
				x, y = nil, nil
			}
			return cmp.Or(y.compare(x), cmp.Compare(a.values[i], b.values[i]))
		}
		return 0
	})
}

// upto leaves out what comes after the dimension of that index.
func (v values) upto(i int) values {
	clear(v[i+1:])
	return v
}

// add sums up lines.
func (l *usageLine) add(o *usageLine) {
	l.sums.Add(o.sums)
	l.running.Add(o.running)
	for code, n := range o.refused {
		l.refuse(code, n)
	}
}

func (l *usageLine) refuse(code string, n int64) {
	if l.refused == nil {
		l.refused = map[string]int64{}
	}
	l.refused[code] += n
}

// compare orders lines by how much they come to. Two that are nil are equal.
func (l *usageLine) compare(o *usageLine) int {
	if l == nil || o == nil {
		return 0
	}
	return cmp.Or(
		cmp.Compare(l.sums.Cost, o.sums.Cost),
		cmp.Compare(l.sums.Input, o.sums.Input),
		cmp.Compare(l.sums.Requests+l.running.Requests, o.sums.Requests+o.running.Requests),
		cmp.Compare(l.refusals(), o.refusals()),
	)
}

// refusals is how many requests were refused.
func (l *usageLine) refusals() (n int64) {
	for _, of := range l.refused {
		n += of
	}
	return n
}

// empty reports whether there is nothing to report.
func (r *usageReport) empty() bool {
	return len(r.lines) == 0 && r.total.refusals() == 0
}
