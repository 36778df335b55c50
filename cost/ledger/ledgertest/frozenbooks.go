package ledgertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// books are what a ledger says, with what the frozen one can be asked besides.
type books struct {
	All    everything
	Found  []ledger.Exchange           // those of Began, with their draws
	Days   map[ledger.Hour]ledger.Sums // by day of UTC and series, of the frozen ledger's time
	Spent  map[string]int64            // by budget
	Late   map[string]int64            // the part of Spent since the last of those days
	Prices map[string]string
	Kept   int64 // microseconds
}

var (
	frozenDays = ledger.HourQuery{From: made("02-27 00:00:00").Time(), To: made("03-11 00:00:00").Time(), Day: time.UTC, Series: true}
	frozenLate = made("03-10 00:00:00").Time()
)

// read asks a ledger for all that b has.
func (b *books) read(v view) *books {
	v.t.Helper()
	got := &books{
		All: v.everything(), Days: v.hours(frozenDays), Spent: map[string]int64{}, Late: map[string]int64{}, Prices: map[string]string{},
		Kept: v.kept().UnixMicro(),
	}
	for _, id := range ids(got.All.Began) {
		got.Found = append(got.Found, *v.find(id))
	}
	for name := range b.Spent {
		n := v.spent(ledger.Want{Budget: name}, ledger.Want{Budget: name, Since: frozenLate, Detail: ledger.BySlot})
		got.Spent[name], got.Late[name] = n[0], n[1]
	}
	for version := range b.Prices {
		card, err := v.s.Price(v.t.Context(), version)
		v.must("price", err)
		got.Prices[version] = card
	}
	got.sort()
	return got
}

// sort puts rows in order that come in any.
func (b *books) sort() {
	slices.SortFunc(b.All.Corrections, func(a, b ledger.Correction) int { return cmp.Compare(a.Seq, b.Seq) })
	slices.SortFunc(b.All.Refusals, func(a, b ledger.Refusal) int {
		return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Code, b.Code))
	})
	slices.SortFunc(b.All.Notices, func(a, b ledger.Notice) int {
		return cmp.Or(cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Period, b.Period), cmp.Compare(a.At, b.At))
	})
}

// frozenBooks are what the frozen ledger says.
func frozenBooks() *books {
	b := &books{
		Days: frozenDaySums(), Spent: map[string]int64{}, Late: map[string]int64{},
		Prices: map[string]string{"p1": `{"input":"0.15","output":"0.6"}`, "p2": `{"input":"1.25","cached_input":"0.125","output":"10"}`, "p3": ""},
		Kept:   made("02-27 10:05:05").Time().UnixMicro() + 1,
	}
	b.All.Hours, b.All.Slots = frozenHourSums(), map[ledger.Slot]int64{}
	for _, one := range frozenSpent() {
		b.All.Slots[one.slot] = one.n
	}
	for budget, n := range frozenTotals() {
		b.Spent[budget.Name], b.Late[budget.Name] = n[0], n[1]
	}
	for _, x := range slices.Concat(aliceCalls(), bobCalls()) {
		b.row(x)
	}
	open, _ := unended()
	b.row(open)
	b.All.Corrections = amended()
	hour := func(at string) int64 { return made(at).Time().Unix() }
	b.All.Refusals = []ledger.Refusal{
		{Hour: hour("03-09 23:00:00"), Key: "alice", Model: "gpt-4o-mini", Code: "rate_limit_exceeded", N: 3},
		{Hour: hour("03-10 09:00:00"), Key: "alice", Model: "gpt-5", Code: "request_exceeds_budget", N: 1},
		{Hour: hour("03-10 09:00:00"), Key: "bob", Model: "gpt-5", Code: "insufficient_quota", N: 2},
		{Hour: hour("03-10 12:00:00"), Key: "bob", Model: "gpt-5", Code: "insufficient_quota", N: 1},
	}
	b.All.Notices = []ledger.Notice{
		{Budget: dollarsOfMonth.Name, Period: hour("04-01 00:00:00"), At: "80%"},
		{Budget: dollarsOfBob.Name, At: "50%"},
	}
	b.sort()
	return b
}

// row adds the rows of an exchange, and nothing to any sum.
func (b *books) row(x ledger.Exchange) {
	plain := x
	plain.Draws = nil
	byID := func(a, b ledger.Exchange) int { return cmp.Compare(a.Begin.Exchange, b.Begin.Exchange) }
	b.All.Began, b.Found = append(b.All.Began, plain), append(b.Found, x)
	slices.SortFunc(b.All.Began, byID)
	slices.SortFunc(b.Found, byID)
	if x.End == nil {
		b.All.Unfinished = append(b.All.Unfinished, x)
		return
	}
	b.All.Ended = append(b.All.Ended, plain)
	slices.SortFunc(b.All.Ended, func(a, b ledger.Exchange) int { return cmp.Compare(a.End.Seq, b.End.Seq) })
}

// crash gives the exchange that is open its end row, and adds it to the sums. To what was spent it belonged before.
func (b *books) crash(seq ledger.ID) {
	x, end := unended()
	end.Seq = seq
	x.End = &end
	is := func(other ledger.Exchange) bool { return other.Begin.Exchange == x.Begin.Exchange }
	b.All.Began, b.Found, b.All.Unfinished = slices.DeleteFunc(b.All.Began, is), slices.DeleteFunc(b.Found, is), nil
	b.row(x)
	b.sum(x)
}

// add adds an exchange that began after all others, with a correction.
func (b *books) add(x ledger.Exchange, c ledger.Correction) {
	b.row(x)
	b.All.Corrections = append(b.All.Corrections, c)
	b.sum(x, c)
	for _, charge := range slices.Concat(x.End.Charges, c.Charges) {
		b.Spent[charge.Budget.Name] += charge.N + charge.Late
		b.Late[charge.Budget.Name] += charge.N + charge.Late
	}
	b.sort()
}

// sum adds to the sums what an exchange and its corrections come to.
func (b *books) sum(x ledger.Exchange, corrections ...ledger.Correction) {
	for q, sums := range map[*ledger.HourQuery]map[ledger.Hour]ledger.Sums{&apart: b.All.Hours, &frozenDays: b.Days} {
		for h, s := range sumUp(*q, []ledger.Exchange{x}, corrections) {
			s.Add(sums[h])
			sums[h] = s
		}
	}
	slot := func(budget ledger.Budget, at ledger.ID, n int64) {
		s := ledger.Slot{Budget: budget, Start: ledger.SlotOf(at.Time())}
		if b.All.Slots[s] += n; b.All.Slots[s] == 0 {
			delete(b.All.Slots, s)
		}
	}
	for _, c := range x.End.Charges {
		slot(c.Budget, x.Begin.Exchange, c.N)
		slot(c.Budget, x.End.Seq, c.Late)
	}
	for _, r := range corrections {
		for _, c := range r.Charges {
			slot(c.Budget, x.Begin.Exchange, c.N)
		}
	}
}
