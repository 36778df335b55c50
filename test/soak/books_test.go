package soak

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// books are the three accounts of all calls.
type books struct {
	t        testing.TB
	plans    func(int) plan
	rows     map[int]*ledger.Exchange // the ledger's
	accounts map[int]account          // the upstream's
	calls    map[int]*call            // the clients'
	live     map[string]int64         // what budgets have counted, by name

	due   map[int]charge // by number
	wrong int
}

// most is how many calls are shown of which something is wrong.
const most = 12

func (b *books) fault(number int, err error) {
	if b.wrong++; b.wrong > most {
		return
	}
	p, x := b.plans(number), b.rows[number]
	ending := "has no row"
	if x != nil {
		ending = fmt.Sprintf("%s, charged %s of %s", x.End.Ending, brief(x.End.Usage), brief(x.Begin.Most))
	}
	b.t.Errorf("call %d (%+v; %s): %v\nupstream: %+v\nclient: %s", number, p, ending, err, b.accounts[number], b.calls[number])
}

func brief(u cost.Usage) string { return fmt.Sprintf("%d+%d", u.Input, u.Output) }

// balance compares the accounts call by call.
func (b *books) balance() {
	b.t.Helper()
	b.due = map[int]charge{}
	var nothing []error
	for number := range b.rows {
		if b.calls[number] == nil {
			b.t.Errorf("the ledger has call %d, and nobody made it", number)
		}
	}
	for number, c := range b.calls {
		p, a, x := b.plans(number), b.accounts[number], b.rows[number]
		if err := seen(p, a, c, x); errors.Is(err, errForNothing) {
			nothing = append(nothing, err)
		} else if err != nil {
			b.fault(number, err)
		}
		if err := refusal(p, c); err != nil {
			b.fault(number, err)
		}
		if x == nil {
			continue
		}
		due, err := judge(p, a, c, x)
		b.due[number] = due
		switch {
		case err != nil:
			b.fault(number, err)
		case !due.within(x.End.Usage):
			b.fault(number, fmt.Errorf("to be charged from %s to %s", brief(due.least), brief(due.most)))
		default:
			if err := prices[p.model()].money(due, x); err != nil {
				b.fault(number, err)
			}
		}
	}
	if len(nothing) > len(b.calls)/200 {
		b.t.Errorf("%d of %d calls: %v", len(nothing), len(b.calls), nothing[0])
	}
	if b.wrong > most {
		b.t.Errorf("and %d more", b.wrong-most)
	}
}

// applies reports whether a budget counts a call.
func (b *books) applies(one budget, x *ledger.Exchange) bool {
	kind, name, _ := strings.Cut(one.owner, " ")
	switch kind {
	case "key":
		if x.Begin.Series.Key != name {
			return false
		}
	case "group":
		if !slices.Contains(strings.Split(x.Begin.Series.Groups, ","), name) {
			return false
		}
	case "upstream":
		if x.Begin.Series.Upstream != name {
			return false
		}
	}
	return one.limit.Applies(x.Begin.Model)
}

// compare compares what was due, what the ledger has charged and what the running program has counted of a budget.
func (b *books) compare(one budget) {
	b.t.Helper()
	if one.owner == "key windowed" && one.limit.Kind == limit.InAny || one.owner == "key bucket" && one.limit.Kind == limit.Per {
		one.neverOver(b.t, b.rows)
	}
	since, ok := one.lasts(time.Now())
	if !ok {
		return
	}
	var least, most, charged int64
	for number, x := range b.rows {
		if x.Begin.Exchange.Time().Before(since) {
			continue
		}
		for _, c := range x.End.Charges {
			if c.Budget.Name == one.name() {
				charged += c.N + c.Late
			}
		}
		if due := b.due[number]; b.applies(one, x) && !due.nothing {
			p, unit := prices[b.plans(number).model()], one.limit.Unit.String()
			least += p.figure(unit, due.least)
			most += p.figure(unit, due.most)
		}
	}
	if charged < least || charged > most || b.live[one.name()] != charged {
		b.t.Errorf("%s: from %d to %d are due, the ledger has %d, and the running program %d", one.name(), least, most, charged, b.live[one.name()])
	}
	if charged > one.limit.Amount && !one.limit.Observe {
		b.t.Errorf("%s: %d are charged", one.name(), charged)
	}
}

// table is what was driven: calls by kind and ending.
func (b *books) table() string {
	count := map[kind]map[string]int{}
	columns := map[string]bool{}
	for number, c := range b.calls {
		ending := fmt.Sprintf("not served (%d)", c.status)
		if x := b.rows[number]; x != nil {
			ending = x.End.Ending
		}
		k := b.plans(number).kind
		if count[k] == nil {
			count[k] = map[string]int{}
		}
		count[k][ending]++
		columns[ending] = true
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, k := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(w, "%s\t", k)
		for _, ending := range slices.Sorted(maps.Keys(columns)) {
			if n := count[k][ending]; n > 0 {
				fmt.Fprintf(w, "%s %d  ", ending, n)
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return fmt.Sprintf("%d calls:\n%s", len(b.calls), out.String())
}

// owners are the sums of each key in each of the books.
func (b *books) owners() string {
	type sums struct {
		asked, rows                   int
		least, most, charged, clients int64
		dollars                       cost.NanoUSD
	}
	all := map[string]*sums{}
	for _, key := range keys {
		all[key] = &sums{}
	}
	for number, c := range b.calls {
		s := all[b.plans(number).key]
		s.asked += b.accounts[number].asked
		s.clients += c.words
		x := b.rows[number]
		if x == nil {
			continue
		}
		s.rows++
		due := b.due[number]
		s.least, s.most = s.least+due.least.Input+due.least.Output, s.most+due.most.Input+due.most.Output
		s.charged, s.dollars = s.charged+x.End.Usage.Input+x.End.Usage.Output, s.dollars+x.End.Cost
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "key\tupstream calls\tledger rows\tdue tokens, least\tmost\tcharged\tdollars\twords at clients\t")
	for _, key := range keys {
		s := all[key]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t\n", key, s.asked, s.rows, s.least, s.most, s.charged, s.dollars, s.clients)
	}
	w.Flush()
	return out.String()
}

// counts says how often each was done.
func counts(events []string) string {
	n := map[string]int{}
	for _, e := range events {
		n[e]++
	}
	return fmt.Sprint(n)
}
