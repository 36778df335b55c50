package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// paper is a ledger that adds nothing up: every exchange is a sum of its own.
type paper struct {
	ledger.Snapshot
	ended   []ledger.Exchange
	running []ledger.Exchange
	refused []ledger.Refusal
}

func (p *paper) Hours(_ context.Context, q ledger.HourQuery, each func(ledger.Hour, ledger.Sums) error) error {
	for i := range p.ended {
		b, e := &p.ended[i].Begin, p.ended[i].End
		h := ledger.Hour{Start: ledger.HourOf(b.Exchange.Time()), Series: b.Series, Model: b.Model, Served: e.Served, Label: b.Label}
		if h.Start >= q.From.Unix() && h.Start < q.To.Unix() {
			if err := each(q.Only(h), ledger.SumsOf(b, e)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *paper) Unfinished(context.Context) ([]ledger.Exchange, error) { return p.running, nil }

func (p *paper) Refusals(_ context.Context, from, to time.Time, each func(ledger.Refusal) error) error {
	for _, f := range p.refused {
		if f.Hour >= from.Unix() && f.Hour < to.Unix() {
			if err := each(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// figures are what a line comes to, for comparison.
type figures struct{ requests, input, cost, running, held, refused int64 }

func figuresOf(l *usageLine) figures {
	return figures{l.sums.Requests, l.sums.Input, int64(l.sums.Cost), l.running.Requests, int64(l.running.Cost), l.refusals()}
}

// TestEveryLineIsTheSumOfItsExchanges, by whatever they are told apart; and the total is that of all, each once.
func TestEveryLineIsTheSumOfItsExchanges(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 10, 24, 0, 0, 0, 0, zone)
	groups := map[string]string{"alice": "all,ml", "bob": "all", "carol": "", "dave": "ml,all,ops"}
	rapid.Check(t, func(r *rapid.T) {
		pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(r, "one of") }
		number := func(most int64) int64 { return rapid.Int64Range(0, most).Draw(r, "number") }
		var names []string
		for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(r, "by")[:rapid.IntRange(1, 4).Draw(r, "dimensions")] {
			names = append(names, dimensions[i].name)
		}
		by, err := parseBy(strings.Join(names, ","))
		if err != nil {
			r.Fatal(err)
		}
		q := usageQuery{span: span{from: from, to: from.AddDate(0, 0, 3), zone: zone}, by: by}
		for range rapid.IntRange(0, 2).Draw(r, "keys") {
			q.keys = append(q.keys, pick("alice", "bob", "carol", "dave"))
		}
		want, total := map[string]figures{}, figures{}
		add := func(at time.Time, names map[string]string, known bool, f func(*figures)) {
			if at.Before(q.from) || !at.Before(q.to) || len(q.keys) > 0 && !slices.Contains(q.keys, names["key"]) {
				return
			}
			f(&total)
			if !known {
				return
			}
			names["day"] = at.In(zone).Format(time.DateOnly)
			for group := range strings.SplitSeq(groups[names["key"]], ",") {
				names["group"] = group
				var line []string
				for _, d := range by.names() {
					line = append(line, names[d])
				}
				of := strings.Join(line, "|")
				sums := want[of]
				f(&sums)
				want[of] = sums
				if !by.has("group") {
					break
				}
			}
		}
		p := &paper{}
		for i := range rapid.IntRange(0, 30).Draw(r, "exchanges") {
			at := from.Add(time.Duration(rapid.IntRange(-5, 80).Draw(r, "hour")) * time.Hour)
			key := pick("alice", "bob", "carol", "dave")
			x := ledger.Exchange{Begin: ledger.Begin{
				Exchange: ledger.At(at) + ledger.ID(i*ledger.Slots), Series: ledger.Series{Key: key, Groups: groups[key], Endpoint: pick("chat", "images"), Upstream: pick("a", "b")},
				Model: pick("m", "n"), Label: pick("", "x"), Reserved: cost.NanoUSD(number(1 << 40)), Most: cost.Usage{Input: 5},
			}}
			names := map[string]string{
				"key": key, "model": x.Begin.Model, "label": x.Begin.Label, "upstream": x.Begin.Series.Upstream, "endpoint": x.Begin.Series.Endpoint,
			}
			switch number(5) {
			case 0:
				p.running = append(p.running, x)
				add(at, names, true, func(f *figures) { f.running++; f.held += int64(x.Begin.Reserved) })
			case 1:
				f := ledger.Refusal{Hour: at.Unix(), Key: key, Model: x.Begin.Model, Code: pick("rate_limit_exceeded", "insufficient_quota"), N: number(9)}
				p.refused = append(p.refused, f)
				add(at, names, !by.has("label") && !by.has("upstream") && !by.has("endpoint"), func(to *figures) { to.refused += f.N })
			default:
				x.End = &ledger.End{Exchange: x.Begin.Exchange, Basis: ledger.Reported, Usage: cost.Usage{Input: number(1000)}, Cost: cost.NanoUSD(number(1 << 40))}
				p.ended = append(p.ended, x)
				add(at, names, true, func(f *figures) { f.requests++; f.input += x.End.Usage.Input; f.cost += int64(x.End.Cost) })
			}
		}
		q.groupsOf = func(key string) []string { return strings.Split(groups[key], ",") }
		report, err := q.read(t.Context(), p)
		if err != nil {
			r.Fatal(err)
		}
		got := map[string]figures{}
		for i, l := range report.lines {
			got[strings.Join(l.values[:len(by)], "|")] = figuresOf(l)
			if i > 0 && by[0].name == "day" && l.values[0] < report.lines[i-1].values[0] {
				r.Fatalf("%s stands after %s", l.values[0], report.lines[i-1].values[0])
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(figures{})); diff != "" {
			r.Fatalf("by %v (-want +got):\n%s", by.names(), diff)
		}
		if total != figuresOf(&report.total) {
			r.Fatalf("the total is %+v, want %+v", figuresOf(&report.total), total)
		}
	})
}
