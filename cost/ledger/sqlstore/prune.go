package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// slotsKept is for how long slots are told apart: longer than any period of a budget. What is older counts for budgets that
// have no period only, and is summed up.
const slotsKept = 100 * 24 * time.Hour

// Prune drops the oldest exchanges, but for those that are not in the sums yet.
func (s *Store) Prune(ctx context.Context, before time.Time, most int) (dropped int, err error) {
	err = s.transact(ctx, "prune ledger", func(t *tx) error {
		// Of several who prune, the others wait here, and then find that it was done.
		if _, err := t.exec(ctx, `UPDATE facts SET value = value WHERE name = 'kept'`); err != nil {
			return err
		}
		// What every writer has rolled up is in the sums.
		var rolled, last int64
		if err := t.queryRow(ctx, `SELECT COALESCE(MIN(rolled), 0) FROM writers WHERE held = 1`).Scan(&rolled); err != nil {
			return err
		}
		var unrolled int64
		if err := t.queryRow(ctx, `SELECT COUNT(*) FROM corrections WHERE seq > ?`, rolled).Scan(&unrolled); err != nil || unrolled > 0 {
			return err // they are in the sums in a moment
		}
		limit := min(int64(ledger.At(before)), rolled)
		err := t.queryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(seq), 0) FROM (SELECT seq FROM ends WHERE seq < ? ORDER BY seq LIMIT ?) AS oldest`, limit, most).Scan(&dropped, &last)
		if err != nil {
			return err
		}
		if dropped == 0 {
			return t.compact(ctx, most)
		}
		const those = `IN (SELECT id FROM ends WHERE seq <= ?)`
		for _, statement := range []string{
			`DELETE FROM corrections WHERE id ` + those, `DELETE FROM draws WHERE id ` + those, `DELETE FROM begins WHERE id ` + those, `DELETE FROM ends WHERE seq <= ?`,
		} {
			if _, err := t.exec(ctx, statement, last); err != nil {
				return err
			}
		}
		_, err = t.exec(ctx, `UPDATE facts SET value = ? WHERE name = 'kept'`, ledger.ID(last).Time().UnixMicro()+1)
		return err
	})
	return dropped, err
}

// compact sums up slots that no period reaches, at most that many. Each is taken as it was read: another writer's correction may change it
// meanwhile, and then it is for the next time.
func (t *tx) compact(ctx context.Context, most int) error {
	old, err := t.slotsBefore(ctx, ledger.SlotOf(time.Now().Add(-slotsKept)), most)
	if err != nil {
		return err
	}
	sums := map[int64]int64{}
	for _, s := range old {
		result, err := t.exec(ctx, `DELETE FROM spent WHERE budget = ? AND slot = ? AND n = ?`, s.budget, s.slot, s.n)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 1 {
			sums[s.budget] += s.n
		}
	}
	for _, budget := range slices.Sorted(maps.Keys(sums)) {
		_, err = t.exec(ctx, `INSERT INTO spent (budget, slot, n) VALUES (?, 0, ?) ON CONFLICT (budget, slot) DO UPDATE SET n = spent.n + excluded.n`, budget, sums[budget])
		if err != nil {
			return err
		}
	}
	return nil
}

type oldSlot struct{ budget, slot, n int64 }

func (t *tx) slotsBefore(ctx context.Context, end int64, most int) (list []oldSlot, err error) {
	rows, err := t.QueryContext(ctx, t.store.place(`SELECT budget, slot, n FROM spent WHERE slot > 0 AND slot < ? ORDER BY budget, slot LIMIT ?`), end, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s oldSlot
		if err := rows.Scan(&s.budget, &s.slot, &s.n); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
