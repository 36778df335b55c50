package sqlstore

import (
	"context"
	"maps"

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
	charged := func(list []ledger.Charge) error {
		for _, c := range list {
			if err := t.internBudget(ctx, c.Budget); err != nil {
				return err
			}
		}
		return nil
	}
	for _, begin := range b.Begins {
		if err := t.internSeries(ctx, begin.Series); err != nil {
			return err
		}
		if err := charged(begin.Charges); err != nil {
			return err
		}
	}
	for _, d := range b.Draws {
		if err := charged(d.Charges); err != nil {
			return err
		}
	}
	for _, e := range b.Ends {
		if err := charged(e.Charges); err != nil {
			return err
		}
	}
	for _, c := range b.Corrections {
		if err := t.internSeries(ctx, c.Series); err != nil {
			return err
		}
		if err := charged(c.Charges); err != nil {
			return err
		}
	}
	if b.Rolled != nil {
		for h := range b.Rolled.Hours {
			if err := t.internSeries(ctx, h.Series); err != nil {
				return err
			}
		}
		for s := range b.Rolled.Slots {
			if err := t.internBudget(ctx, s.Budget); err != nil {
				return err
			}
		}
	}
	return t.internPrices(ctx, b.Prices)
}

func (t *tx) internSeries(ctx context.Context, s ledger.Series) error {
	if t.series(s) != 0 {
		return nil
	}
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
	if id := t.store.known.series[s]; id != 0 {
		return id
	}
	return t.fresh.series[s]
}

func (t *tx) internBudget(ctx context.Context, b ledger.Budget) error {
	if t.budget(b) != 0 {
		return nil
	}
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
	if id := t.store.known.budgets[b.Name]; id != 0 {
		return id
	}
	return t.fresh.budgets[b.Name]
}

func (t *tx) internPrices(ctx context.Context, cards []ledger.PriceCard) error {
	for _, p := range cards {
		if t.store.known.prices[p.Version] || t.fresh.prices[p.Version] {
			continue
		}
		if _, err := t.exec(ctx, `INSERT INTO prices (version, card) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.Version, p.Card); err != nil {
			return err
		}
		t.fresh.prices[p.Version] = true
	}
	return nil
}
