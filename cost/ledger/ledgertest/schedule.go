package ledgertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// step does the next thing that happens to some key.
func (w *world) step() {
	i := w.rand.IntN(len(w.left))
	s := w.left[i]
	if s.steps--; s.steps == 0 {
		w.left = slices.Delete(w.left, i, i+1)
	}
	switch n := w.rand.IntN(10); {
	case len(s.runs) == 0 || n < 3:
		w.begin(s)
	case n < 5:
		w.draw(s)
	case n < 9:
		w.finish(s)
	default:
		w.correct(s)
	}
}

// amount is a number of tokens: small ones, none and large ones.
func (w *world) amount() int64 {
	switch w.rand.IntN(8) {
	case 0:
		return 0
	case 1:
		return w.rand.Int64N(1 << 40)
	default:
		return 1 + w.rand.Int64N(5000)
	}
}

func (w *world) usage() cost.Usage {
	u := cost.Usage{Input: w.amount(), Output: w.amount()}
	if w.oneIn(4) {
		u.CachedInput, u.CacheWrite, u.Reasoning, u.Images, u.Milliseconds, u.Characters = w.amount(), w.amount(), w.amount(), w.amount(), w.amount(), w.amount()
	}
	return u
}

// charges are those of a key's own budgets, and of one that all keys share.
func (w *world) charges(s *schedule, late bool) []ledger.Charge {
	list := []ledger.Charge{{Budget: tokens(s.key), N: w.amount()}}
	if w.oneIn(2) {
		list = append(list, ledger.Charge{Budget: tokens("all"), N: w.amount()})
	}
	if w.oneIn(4) {
		list = append(list, ledger.Charge{Budget: ledger.Budget{Name: s.key + "/money", Unit: "nano-dollars"}, N: w.amount()})
	}
	for i := range list {
		if late && w.oneIn(3) {
			list[i].Late = w.amount()
		}
	}
	return list
}

func (w *world) begin(s *schedule) {
	c := w.someone()
	if c == nil {
		return
	}
	b := &ledger.Begin{
		Series: ledger.Series{Key: s.key, Groups: []string{"", "staff"}[w.rand.IntN(2)]}, Model: fmt.Sprint("model", w.rand.IntN(2)),
		Label: []string{"", "label"}[w.rand.IntN(2)], Retry: w.rand.IntN(2), Most: w.usage(), Reserved: cost.NanoUSD(w.amount()), Charges: w.charges(s, w.oneIn(9)),
	}
	s.runs = append(s.runs, &run{begin: c.begin(b, w.now), clerk: c})
}

func (w *world) some(s *schedule) *run { return s.runs[w.rand.IntN(len(s.runs))] }

func (w *world) draw(s *schedule) {
	r := w.some(s)
	r.draws++
	r.clerk.draw(&ledger.Draw{
		Exchange: r.begin.Exchange, Step: r.draws, More: cost.Usage{Output: w.amount()}, Reserved: cost.NanoUSD(w.amount()), Charges: w.charges(s, true),
	})
}

var bases = []string{ledger.Nothing, ledger.Reported, ledger.Counted, ledger.Unreported, ledger.Distrusted}

func (w *world) finish(s *schedule) {
	r := w.some(s)
	s.runs = slices.DeleteFunc(s.runs, func(o *run) bool { return o == r })
	r.clerk.end(&ledger.End{
		Exchange: r.begin.Exchange, Status: 200, Ending: "complete", Basis: bases[w.rand.IntN(len(bases))], Served: []string{"", "served"}[w.rand.IntN(2)],
		Usage: w.usage(), Cost: cost.NanoUSD(w.amount()), Charges: w.charges(s, true),
	}, w.now.Add(time.Duration(w.rand.Int64N(int64(time.Second)))))
}

// correct corrects some exchange of the key that has ended, durably, whether or not its rows are still kept.
func (w *world) correct(s *schedule) {
	c := w.someone()
	k := w.ref.some(s.key, w.rand)
	if c == nil || k == nil {
		return
	}
	b, e := &k.Begin, k.End
	more, less := w.amount(), w.amount()
	r := &ledger.Correction{
		Exchange: b.Exchange, Series: b.Series, Model: b.Model, Served: e.Served, Label: b.Label, Was: e.Basis, Basis: bases[w.rand.IntN(len(bases))],
		Usage: w.usage(), Cost: cost.NanoUSD(more - less), Charges: w.charges(s, false), Reason: "bill",
	}
	for i := range r.Charges {
		r.Charges[i].N -= w.amount()
	}
	c.correct(r, w.now)
}
