package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// interned are the numbers of what many rows have in common.
type interned struct {
	series  map[ledger.Series]int64
	budgets map[string]int64
	prices  map[string]bool
}

func newInterned() interned {
	return interned{map[ledger.Series]int64{}, map[string]int64{}, map[string]bool{}}
}

// mostKnown bounds what is remembered. Beyond it all is looked up again: there are never so many, unless configurations come
// and go.
const mostKnown = 200_000

func (n *interned) take(fresh interned) {
	if len(n.series)+len(n.budgets) > mostKnown {
		*n = newInterned()
	}
	maps.Copy(n.series, fresh.series)
	maps.Copy(n.budgets, fresh.budgets)
	maps.Copy(n.prices, fresh.prices)
}

// intern gives numbers to whatever a batch speaks of.
func (t *tx) intern(ctx context.Context, b *ledger.Batch) error {
	n := t.unknown(b)
	for _, s := range slices.SortedFunc(maps.Keys(n.series), bySeries) {
		if err := t.internSeries(ctx, s); err != nil {
			return fmt.Errorf("series: %w", err)
		}
	}
	for _, b := range slices.SortedFunc(maps.Keys(n.budgets), byBudget) {
		if err := t.internBudget(ctx, b); err != nil {
			return fmt.Errorf("budgets: %w", err)
		}
	}
	if err := t.internPrices(ctx, b.Prices); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	return nil
}

// unknown is what has no number yet.
type unknown struct {
	series  map[ledger.Series]bool
	budgets map[ledger.Budget]bool
}

// unknown finds what a batch speaks of that has no number yet.
func (t *tx) unknown(b *ledger.Batch) unknown {
	n := unknown{map[ledger.Series]bool{}, map[ledger.Budget]bool{}}
	series := func(s ledger.Series) {
		if t.series(s) == 0 {
			n.series[s] = true
		}
	}
	charged := func(list []ledger.Charge) {
		for _, c := range list {
			if t.budget(c.Budget) == 0 {
				n.budgets[c.Budget] = true
			}
		}
	}
	for _, r := range b.Begins {
		series(r.Series)
		charged(r.Charges)
	}
	for _, r := range b.Draws {
		charged(r.Charges)
	}
	for _, r := range b.Ends {
		charged(r.Charges)
	}
	for _, r := range b.Corrections {
		series(r.Series)
		charged(r.Charges)
	}
	if b.Rolled != nil {
		for h := range b.Rolled.Hours {
			series(h.Series)
		}
		for s := range b.Rolled.Slots {
			charged([]ledger.Charge{{Budget: s.Budget}})
		}
	}
	return n
}

func (t *tx) internSeries(ctx context.Context, s ledger.Series) error {
	args := []any{s.Key, s.Groups, s.Endpoint, s.Upstream}
	if _, err := t.exec(ctx, `INSERT INTO series (key_name, group_names, endpoint, upstream) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, args...); err != nil {
		return err
	}
	var id int64
	if err := t.queryRow(ctx, `SELECT id FROM series WHERE key_name = ? AND group_names = ? AND endpoint = ? AND upstream = ?`, args...).Scan(&id); err != nil {
		return err
	}
	t.fresh.series[s] = id
	return nil
}

func (t *tx) series(s ledger.Series) int64 {
	if id := t.known.series[s]; id != 0 {
		return id
	}
	return t.fresh.series[s]
}

func (t *tx) internBudget(ctx context.Context, b ledger.Budget) error {
	if _, err := t.exec(ctx, `INSERT INTO budgets (name, unit) VALUES (?, ?) ON CONFLICT DO NOTHING`, b.Name, b.Unit); err != nil {
		return err
	}
	var id int64
	if err := t.queryRow(ctx, `SELECT id FROM budgets WHERE name = ?`, b.Name).Scan(&id); err != nil {
		return err
	}
	t.fresh.budgets[b.Name] = id
	return nil
}

func (t *tx) budget(b ledger.Budget) int64 {
	if id := t.known.budgets[b.Name]; id != 0 {
		return id
	}
	return t.fresh.budgets[b.Name]
}

func (t *tx) internPrices(ctx context.Context, cards []ledger.PriceCard) error {
	for _, p := range slices.SortedFunc(slices.Values(cards), byVersion) {
		if t.known.prices[p.Version] || t.fresh.prices[p.Version] {
			continue
		}
		if _, err := t.exec(ctx, `INSERT INTO prices (version, card) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.Version, p.Card); err != nil {
			return err
		}
		t.fresh.prices[p.Version] = true
	}
	return nil
}
