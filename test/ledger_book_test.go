package test

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// book is what a ledger holds at one instant.
type book struct {
	t          testing.TB
	all        []ledger.Exchange           // in the order in which they began; those that never ended as if they had crashed
	byName     map[string]*ledger.Exchange // by label
	unfinished int
	hours      ledger.Sums
	slots      map[string]int64 // by budget
}

// readBook reads the ledger in a file, which others may write to.
func readBook(t testing.TB, path string) *book {
	t.Helper()
	store, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return readStore(t, store)
}

// readStore reads a ledger and closes it. No label is in it twice.
func readStore(t testing.TB, store ledger.Store) *book {
	t.Helper()
	defer store.Close()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := &book{t: t, byName: map[string]*ledger.Exchange{}, slots: map[string]int64{}}
	first, last := time.Unix(0, 0), time.Now().Add(24*time.Hour)
	ctx := context.WithoutCancel(t.Context())
	err = s.Began(ctx, first, last, func(x *ledger.Exchange) error {
		if x.End == nil {
			x.End = x.Crash()
			b.unfinished++
		}
		b.all = append(b.all, *x)
		return nil
	})
	if err == nil {
		err = s.Hours(ctx, ledger.HourQuery{From: first, To: last}, func(_ ledger.Hour, sums ledger.Sums) error {
			b.hours.Add(sums)
			return nil
		})
	}
	if err == nil {
		err = s.Slots(ctx, first, last, func(slot ledger.Slot, n int64) error {
			b.slots[slot.Budget.Name] += n
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.all {
		x := &b.all[i]
		if x.Begin.Label == "" {
			continue
		}
		if b.byName[x.Begin.Label] != nil {
			t.Errorf("the ledger has %s twice", x.Begin.Label)
		}
		b.byName[x.Begin.Label] = x
	}
	return b
}

// copyBook copies the files of a ledger as they are, and reads the copy: what a crash at this instant would leave behind.
func copyBook(t testing.TB, path string) *book {
	t.Helper()
	return readBook(t, copyFiles(t, path))
}

func copyFiles(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	for _, part := range []string{"", "-wal", "-tail0", "-tail1"} {
		if err := copyFile(to+part, path+part); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return to
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		return err
	}
	return target.Close()
}

// newest is when the newest row of the book was made.
func (b *book) newest() time.Time {
	var last ledger.ID
	for _, x := range b.all {
		last = max(last, x.Begin.Exchange, x.End.Seq)
	}
	return last.Time()
}

// got is what a client has of an answer, at least: the prompt was read for it, and so many words were written.
type got struct {
	tokens  int64
	dollars cost.NanoUSD
}

// tally is what clients have of answers now, by the names of their attempts. It is read before the ledger that it is compared with.
func tally(t testing.TB, attempts map[string]*attempt, up *fakeopenai.Server) map[string]got {
	t.Helper()
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	heard := map[string]int64{}
	for name, a := range attempts {
		if status, anything, words := a.received(); status == 200 && anything {
			heard[name] = words
		}
	}
	calls, list := callsByName(t, up), map[string]got{} // now, as there may be new ones
	for name, words := range heard {
		call := calls[name]
		if call == nil {
			t.Errorf("%s got an answer that the upstream has not been asked for", name)
			continue
		}
		usage := cost.Usage{Input: call.Prompt, Output: words}
		list[name] = got{call.Prompt + words, catalog.Model(call.Model).Price.Cost(usage)}
	}
	return list
}

// callsByName are the upstream's calls by the names of the attempts they belong to.
func callsByName(t testing.TB, up *fakeopenai.Server) map[string]*fakeopenai.Call {
	t.Helper()
	list := map[string]*fakeopenai.Call{}
	for _, c := range up.Calls() {
		name := nameOf(c.Header)
		if list[name] != nil {
			t.Errorf("the upstream was asked for %s twice", name)
		}
		list[name] = c
	}
	return list
}

// coversAll fails the test unless every client was charged for what it has, attempt by attempt and key by key, in tokens and in
// dollars. It returns both sums.
func (b *book) coversAll(had map[string]got, attempts map[string]*attempt) (have, charged got) {
	b.t.Helper()
	byKey := map[string]got{}
	for name, g := range had {
		x := b.byName[name]
		if x == nil {
			b.t.Errorf("%s has %d tokens of an answer, and the ledger does not know it", name, g.tokens)
			continue
		}
		if u := x.End.Usage; u.Input+u.Output < g.tokens || x.End.Cost < g.dollars {
			b.t.Errorf("%s has %d tokens for %s, and is charged %d for %s (%s)", name, g.tokens, g.dollars, u.Input+u.Output, x.End.Cost, x.End.Ending)
		}
		key := attempts[name].Key
		if x.Begin.Series.Key != key {
			b.t.Errorf("%s of key %s is charged to key %s", name, key, x.Begin.Series.Key)
		}
		byKey[key] = got{byKey[key].tokens + g.tokens, byKey[key].dollars + g.dollars}
		have = got{have.tokens + g.tokens, have.dollars + g.dollars}
	}
	sums := map[string]got{}
	for _, x := range b.all {
		s, u := sums[x.Begin.Series.Key], x.End.Usage
		sums[x.Begin.Series.Key] = got{s.tokens + u.Input + u.Output, s.dollars + x.End.Cost}
		charged = got{charged.tokens + u.Input + u.Output, charged.dollars + x.End.Cost}
	}
	for key, g := range byKey {
		if sums[key].tokens < g.tokens || sums[key].dollars < g.dollars {
			b.t.Errorf("key %s has %d tokens for %s, and is charged %d for %s", key, g.tokens, g.dollars, sums[key].tokens, sums[key].dollars)
		}
	}
	return have, charged
}

// knowsNobody fails the test if there are rows of calls that nobody made.
func (b *book) knowsNobody(attempts map[string]*attempt) {
	b.t.Helper()
	for name := range b.byName {
		if attempts[name] == nil {
			b.t.Errorf("the ledger has an exchange called %q, and no client made it", name)
		}
	}
}

// missing are the calls of the upstream's that have no row. Such a call was cut off before anything of its answer reached its
// client; and it was admitted after everything that the ledger knows, as rows become durable in the order of admission.
func (b *book) missing(calls map[string]*fakeopenai.Call, attempts map[string]*attempt) (names []string) {
	b.t.Helper()
	for name, c := range calls {
		if b.byName[name] != nil {
			continue
		}
		names = append(names, name)
		if status, _, _ := attempts[name].received(); status != 0 {
			b.t.Errorf("%s got status %d, and the ledger does not know it", name, status)
		}
		if newest := b.newest(); c.Arrived.Before(newest) {
			b.t.Errorf("%s reached the upstream %s before the ledger's newest row was made, and has none", name, newest.Sub(c.Arrived))
		}
	}
	return names
}

// period is when the budget's current period has begun; the zero time for a total.
func (o budgetOf) period(now time.Time) time.Time {
	periods := map[limit.Period]limiter.Period{limit.Day: limiter.Day, limit.Week: limiter.Week, limit.Month: limiter.Month, limit.Quarter: limiter.Quarter}
	if o.limit.Kind != limit.Each {
		return time.Time{}
	}
	return limiter.CalendarQuota{Limit: 1, Period: periods[o.limit.Period]}.Begin(now)
}

// spent is what was charged to a budget, by its rows.
func (b *book) spent(name string, since time.Time) (n int64) {
	for _, x := range b.all {
		for _, c := range x.End.Charges {
			if c.Budget.Name != name {
				continue
			}
			if x.Begin.Exchange.Time().After(since) {
				n += c.N
			}
			if x.End.Seq.Time().After(since) || x.End.Seq == 0 && x.Begin.Exchange.Time().After(since) {
				n += c.Late
			}
		}
	}
	return n
}

// addsUp fails the test unless the sums of a ledger whose exchanges have all ended are those of its rows.
func (b *book) addsUp() {
	b.t.Helper()
	if b.unfinished > 0 {
		b.t.Errorf("%d exchanges never ended", b.unfinished)
	}
	var sums ledger.Sums
	slots := map[string]int64{}
	for _, x := range b.all {
		sums.Add(ledger.SumsOf(&x.Begin, x.End))
		for _, c := range x.End.Charges {
			slots[c.Budget.Name] += c.N + c.Late
		}
	}
	if sums != b.hours {
		b.t.Errorf("the rows come to %+v, and the hourly sums to %+v", sums, b.hours)
	}
	if !maps.Equal(slots, b.slots) {
		b.t.Errorf("the rows come to %v, and the sums of budgets to %v", slots, b.slots)
	}
}

// budgetOf is a limit of an owner, "key tight" or "group all", as the ledger and the metrics name it.
type budgetOf struct {
	owner, label, text string
	limit              limit.Limit
}

func (o budgetOf) name() string { return o.owner + ": " + o.limit.ID() }

func budgetsOf(t testing.TB, owner string, sentences ...string) (list []budgetOf) {
	t.Helper()
	kind, name, _ := strings.Cut(owner, " ")
	label := name
	if kind != "key" {
		label = kind + ":" + name
	}
	for _, text := range sentences {
		l, err := limit.Parse(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, budgetOf{owner, label, text, l})
	}
	return list
}

// counted is what a running program says that a budget has counted, used and held.
func (o budgetOf) counted(t testing.TB, m harness.Metrics) int64 {
	t.Helper()
	left, found := m.Sum("rate_limit_tokens", "key", o.label, "budget", o.text)
	debt, _ := m.Sum("rate_limit_debt", "key", o.label, "budget", o.text)
	if !found {
		t.Fatalf("the metrics do not show %s, %q", o.owner, o.text)
	}
	return o.limit.Capacity() - int64(left) + int64(debt)
}

// jitter is the longest that may lie between the making of an exchange's id and that of its reservation, on a busy machine.
const jitter = 300 * time.Millisecond

// neverOver fails the test if there is an interval in which more was charged to a refilling budget than it had and got back.
func (b *book) neverOver(o budgetOf) {
	b.t.Helper()
	var spends []limiter.Spend
	for _, x := range b.all {
		for _, c := range x.End.Charges {
			if c.Budget.Name != o.name() {
				continue
			}
			spends = append(spends, limiter.Spend{At: x.Begin.Exchange.Time(), N: c.N})
			if c.Late != 0 {
				b.t.Errorf("%s used more than it had reserved of %s", x.Begin.Label, o.name())
			}
		}
	}
	slices.SortFunc(spends, func(a, b limiter.Spend) int { return a.At.Compare(b.At) })
	sum, from := int64(0), 0
	for i, s := range spends {
		if o.limit.Kind == limit.Per { // what is missing in the bucket
			if i > 0 {
				refill := int64(float64(o.limit.Amount) * float64(s.At.Sub(spends[i-1].At)) / float64(o.limit.Every))
				sum = max(0, sum-refill-1)
			}
		} else {
			for ; s.At.Sub(spends[from].At) > o.limit.Every-jitter; from++ {
				sum -= spends[from].N
			}
		}
		sum += s.N
		most := o.limit.Capacity()
		if o.limit.Kind == limit.Per {
			most += int64(float64(o.limit.Amount) * float64(jitter) / float64(o.limit.Every))
		}
		if sum > most {
			b.t.Errorf("%s: %d are charged up to %s, and there were %d", o.name(), sum, s.At.Format(time.StampMilli), most)
			return
		}
	}
}

// eventually is harness.Eventually, for conditions that take a while to look at.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	harness.Eventually(t, what, condition)
}
