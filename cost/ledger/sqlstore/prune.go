package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// noticesKept is for how long it is remembered that somebody was told of a period that has ended.
const noticesKept = 100 * 24 * time.Hour

// Prune drops the oldest exchanges, up to the first that is not in the sums yet.
func (s *Store) Prune(ctx context.Context, before time.Time, most int) (dropped int, err error) {
	most = max(0, most)
	err = s.transact(ctx, "prune ledger", func(t *tx) error {
		// Of several who prune, the others wait here, and then find that it was done.
		if _, err := t.exec(ctx, `UPDATE facts SET value = value WHERE name = 'kept'`); err != nil {
			return err
		}
		old := int64(ledger.At(before))
		limit, err := t.firstUnrolled(ctx, old)
		if err != nil {
			return err
		}
		var last int64
		err = t.queryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(seq), 0) FROM (SELECT seq FROM ends WHERE seq < ? ORDER BY seq LIMIT ?) AS oldest`, limit, most).Scan(&dropped, &last)
		if err != nil {
			return err
		}
		if dropped > 0 {
			if err := t.drop(ctx, last); err != nil {
				return err
			}
		}
		if dropped == most {
			return nil // there is more to drop, and time for the rest later
		}
		// Corrections of what was dropped before they came.
		if _, err := t.exec(ctx, `DELETE FROM corrections WHERE seq < ? AND NOT EXISTS (SELECT 1 FROM ends e WHERE e.id = corrections.id)
			AND seq <= (SELECT w.rolled FROM writers w WHERE w.slot = corrections.seq % 1024)`, old); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM notices WHERE ends > 0 AND ends < ?`, time.Now().Add(-noticesKept).Unix()); err != nil {
			return err
		}
		if err := t.forget(ctx); err != nil {
			return err
		}
		return t.compact(ctx)
	})
	return dropped, err
}

// firstUnrolled is the first end row that is not in the sums, or has a correction that is not; limit if there is none before
// that. Each writer says how far its own rows are: one that is idle holds up nobody.
func (t *tx) firstUnrolled(ctx context.Context, limit int64) (int64, error) {
	all, err := writers(ctx, t)
	if err != nil {
		return 0, err
	}
	for _, w := range all {
		if !w.held {
			continue
		}
		for _, query := range []string{
			`SELECT MIN(e.seq) FROM ends e WHERE e.seq > ? AND e.seq % 1024 = ?`,
			`SELECT MIN(e.seq) FROM corrections c JOIN ends e ON e.id = c.id WHERE c.seq > ? AND c.seq % 1024 = ?`,
		} {
			var first sql.NullInt64
			if err := t.queryRow(ctx, query, w.rolled, w.slot).Scan(&first); err != nil {
				return 0, err
			}
			if first.Valid {
				limit = min(limit, first.Int64)
			}
		}
	}
	return limit, nil
}

// drop drops the exchanges up to an end row.
func (t *tx) drop(ctx context.Context, last int64) error {
	const those = `IN (SELECT id FROM ends WHERE seq <= ?)`
	for _, statement := range []string{
		`DELETE FROM corrections WHERE id ` + those, `DELETE FROM draws WHERE id ` + those, `DELETE FROM begins WHERE id ` + those, `DELETE FROM ends WHERE seq <= ?`,
	} {
		if _, err := t.exec(ctx, statement, last); err != nil {
			return err
		}
	}
	kept := ledger.ID(last).Time().UnixMicro() + 1
	_, err := t.exec(ctx, `UPDATE facts SET value = ? WHERE name = 'kept' AND value < ?`, kept, kept)
	return err
}

// mostCompacted is how many budgets are looked at each time: a few milliseconds, however many slots there are.
const mostCompacted = 20

// compact sums up the slots that no period reaches, of the next few budgets: so long as it goes on, no call can begin.
func (t *tx) compact(ctx context.Context) error {
	budgets, err := t.nextBudgets(ctx)
	if err != nil {
		return err
	}
	for _, budget := range budgets {
		if err := t.compactBudget(ctx, budget); err != nil {
			return err
		}
	}
	return nil
}

// nextBudgets are those that were not looked at for longest.
func (t *tx) nextBudgets(ctx context.Context) (budgets []int64, err error) {
	rows, err := t.QueryContext(ctx, t.store.place(`SELECT id FROM budgets WHERE id > ? ORDER BY id LIMIT ?`), t.store.compacted, mostCompacted)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		budgets = append(budgets, id)
	}
	if t.store.compacted = 0; len(budgets) == mostCompacted {
		t.store.compacted = budgets[mostCompacted-1]
	}
	return budgets, rows.Err()
}

// compactBudget sums up the old slots of one budget. Another writer's correction may come to one meanwhile: what is summed up is
// set apart first, so that it is what is removed, and nothing else.
func (t *tx) compactBudget(ctx context.Context, budget int64) error {
	result, err := t.exec(ctx, `UPDATE spent SET slot = -slot WHERE budget = ? AND slot > 0 AND slot < ?`, budget, ledger.SlotOf(time.Now().Add(-ledger.SlotsKept)))
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var n int64
	sum := scanSums([]*int64{&n}, true)
	if err := t.queryRow(ctx, `SELECT `+sumOf("n", true)+` FROM spent WHERE budget = ? AND slot < 0`, budget).Scan(sum.columns()...); err != nil {
		return err
	}
	sum.add()
	summed := newBulk("spent", "budget, slot, n", "ON CONFLICT (budget, slot) DO UPDATE SET "+added("spent", "n"), 1)
	summed.add(budget, int64(0), n)
	if err := summed.flush(ctx, t); err != nil {
		return err
	}
	_, err = t.exec(ctx, `DELETE FROM spent WHERE budget = ? AND slot < 0`, budget)
	return err
}
