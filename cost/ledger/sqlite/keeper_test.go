package sqlite_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// keeper keeps a ledger of calls that somebody might have made, at instants of its own choice.
type keeper struct {
	t      testing.TB
	path   string
	store  ledger.Store
	random *rand.Rand
	keys   int

	number   int64
	last     ledger.ID
	batch    *ledger.Batch
	ended    []ledger.Exchange // not in the sums yet
	revised  []ledger.Correction
	open     []*ledger.Begin
	finished []ledger.Exchange // some of those that can be corrected
}

func newKeeper(t testing.TB, seed uint64, keys int) *keeper {
	t.Helper()
	k := &keeper{
		t: t, path: filepath.Join(t.TempDir(), "usage.db"), random: rand.New(rand.NewPCG(seed, 1)), keys: keys,
		batch: &ledger.Batch{},
	}
	store, err := sqlite.Open(t.Context(), k.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.store, k.number = store, past.Batch
	card, err := json.Marshal(price)
	if err != nil {
		t.Fatal(err)
	}
	k.batch.Prices = []ledger.PriceCard{{Version: "p1", Card: string(card)}}
	return k
}

// id makes an ID no earlier than at.
func (k *keeper) id(at time.Time) ledger.ID {
	k.last = max(ledger.At(at), k.last+ledger.Slots)
	return k.last
}

// price is what everything costs here.
var price = cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{
	cost.Input: cost.NanoUSD(150_000_000), cost.CachedInput: cost.NanoUSD(75_000_000), cost.Output: cost.NanoUSD(600_000_000),
}}}

// budgets are those of a key: its own, its group's, and one that only observes. Some keys have one for a model alone.
func (k *keeper) budgets(key int, model string) (drawn, observed []ledger.Budget) {
	name := fmt.Sprintf("key k%d: ", key)
	drawn = []ledger.Budget{
		{Name: name + "dollars each month", Unit: "dollars"},
		{Name: name + "tokens per minute", Unit: "tokens"},
		{Name: name + "requests in any minute", Unit: "requests"},
		{Name: fmt.Sprintf("group g%d: dollars in total", key%3), Unit: "dollars"},
	}
	if model == "gpt-b" && key%2 == 0 {
		drawn = append(drawn, ledger.Budget{Name: name + "dollars each day on gpt-b", Unit: "dollars"})
	}
	observed = []ledger.Budget{
		{Name: name + "uncached input tokens each day", Unit: "uncached input tokens"},
		{Name: name + "output tokens each week", Unit: "output tokens"},
		{Name: name + "input tokens each hour", Unit: "input tokens"},
	}
	return drawn, observed
}

// begin records that a call begins.
func (k *keeper) begin(at time.Time) *ledger.Begin {
	key, model := k.random.IntN(k.keys), []string{"gpt-a", "gpt-b"}[k.random.IntN(2)]
	most := cost.Usage{Input: 1 + k.random.Int64N(2000), Output: 1 + k.random.Int64N(500)}
	b := &ledger.Begin{
		Exchange: k.id(at), Model: model, Most: most, Reserved: price.Cost(most), Price: "p1",
		Series:   ledger.Series{Key: fmt.Sprintf("k%d", key), Groups: fmt.Sprintf("g%d", key%3), Endpoint: "chat", Upstream: "up"},
		Label:    []string{"", "", "batch"}[k.random.IntN(3)],
		Retry:    max(0, k.random.IntN(10)-8),
		Estimate: cost.Estimate{Input: most.Input, MaxOutput: most.Output},
	}
	drawn, observed := k.budgets(key, model)
	whole := ledger.Account{Basis: ledger.Unreported, Usage: most, Cost: b.Reserved}
	for _, budget := range drawn {
		n, _ := whole.Figure(budget.Unit)
		b.Charges = append(b.Charges, ledger.Charge{Budget: budget, N: n})
	}
	for _, budget := range observed {
		n, _ := whole.Figure(budget.Unit)
		b.Charges = append(b.Charges, ledger.Charge{Budget: budget, Late: n})
	}
	k.batch.Begins = append(k.batch.Begins, b)
	k.open = append(k.open, b)
	return b
}

// end records how a call ended: mostly as reported, with more than was reserved at times, or in other ways.
func (k *keeper) end(b *ledger.Begin, at time.Time) *ledger.End {
	e := &ledger.End{Exchange: b.Exchange, Seq: k.id(at), Status: 200, Ending: "complete", Basis: ledger.Reported, Took: at.Sub(b.Exchange.Time())}
	switch k.random.IntN(20) {
	case 0:
		e.Basis, e.Ending, e.Status = ledger.Nothing, "upstream_error", 500
	case 1:
		e.Basis, e.Ending, e.Usage, e.Cost = ledger.Unreported, "broken", b.Most, b.Reserved
	case 2:
		e.Basis, e.Ending, e.Usage = ledger.Counted, "broken_stream", cost.Usage{Input: b.Most.Input, Output: k.random.Int64N(b.Most.Output)}
	case 3:
		e.Usage = cost.Usage{Input: b.Most.Input, Output: b.Most.Output + k.random.Int64N(200)}
	default:
		input := 1 + k.random.Int64N(b.Most.Input)
		e.Usage = cost.Usage{Input: input, CachedInput: k.random.Int64N(input), Output: k.random.Int64N(b.Most.Output + 1)}
		e.Served = []string{"", "", "gpt-a-2026"}[k.random.IntN(3)]
	}
	if e.Basis != ledger.Nothing && e.Cost == 0 {
		e.Cost = price.Cost(e.Usage)
	}
	account := ledger.Account{Basis: e.Basis, Usage: e.Usage, Cost: e.Cost}
	for _, c := range b.Charges {
		n, _ := account.Figure(c.Budget.Unit)
		if charge := (ledger.Charge{Budget: c.Budget, N: min(n, c.N), Late: max(0, n-c.N)}); n > 0 {
			e.Charges = append(e.Charges, charge)
		}
	}
	k.open = slices.DeleteFunc(k.open, func(o *ledger.Begin) bool { return o == b })
	k.batch.Ends = append(k.batch.Ends, e)
	x := ledger.Exchange{Begin: *b, End: e}
	k.ended = append(k.ended, x)
	if k.random.IntN(8) == 0 {
		k.finished = append(k.finished, x)
	}
	return e
}

// correct corrects one of those that were not corrected before, perhaps more than once.
func (k *keeper) correct(at time.Time) {
	if len(k.finished) == 0 {
		return
	}
	x := k.finished[0]
	k.finished = k.finished[1:]
	var before []ledger.Correction
	for range 1 + k.random.IntN(3) {
		to := ledger.Account{Basis: ledger.Nothing}
		if k.random.IntN(2) == 0 {
			to.Basis, to.Usage = ledger.Reported, cost.Usage{Input: k.random.Int64N(3000), Output: k.random.Int64N(100)}
			to.Cost = price.Cost(to.Usage)
		}
		c, err := x.Correct(before, to, "as the provider says")
		if err != nil {
			k.t.Fatal(err)
		}
		if c == nil {
			continue
		}
		c.Seq = k.id(at)
		before = append(before, *c)
		k.batch.Corrections = append(k.batch.Corrections, c)
		k.revised = append(k.revised, *c)
	}
}

// commit writes what was recorded; rolled: with what is not in the sums yet.
func (k *keeper) commit(rolled bool) {
	k.t.Helper()
	b := k.batch
	k.batch = &ledger.Batch{}
	k.number++
	b.Number = k.number
	if len(k.open) > 0 {
		b.Oldest = slices.MinFunc(k.open, func(a, b *ledger.Begin) int { return cmp.Compare(a.Exchange, b.Exchange) }).Exchange
	}
	if rolled {
		b.Rolled = ledger.RollOf(k.ended, k.revised)
		b.Rolled.Upto = max(b.Rolled.Upto, k.last)
		k.ended, k.revised = nil, nil
	}
	if err := k.store.Commit(context.WithoutCancel(k.t.Context()), b); err != nil {
		k.t.Fatal(err)
	}
}

// work records a number of calls over a time, and leaves some of them open and some not in the sums.
func (k *keeper) work(calls int, from time.Time, over time.Duration) {
	k.t.Helper()
	for i := range calls {
		at := from.Add(over / time.Duration(calls) * time.Duration(i))
		k.begin(at)
		for len(k.open) > 3 && k.random.IntN(3) > 0 {
			k.end(k.open[k.random.IntN(len(k.open))], at.Add(time.Second))
		}
		if k.random.IntN(10) == 0 {
			k.correct(at)
		}
		if len(k.batch.Begins) >= 200 {
			k.commit(k.random.IntN(2) == 0)
		}
	}
	k.commit(false)
}

// report verifies the ledger.
func (k *keeper) report(o ledger.VerifyOptions) *ledger.Report {
	k.t.Helper()
	s, err := k.store.Snapshot(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	defer s.Close()
	r, err := ledger.Verify(k.t.Context(), s, o)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}
