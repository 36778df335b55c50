package sqlstore

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Prune drops the oldest exchanges, but for those that are not in the sums yet.
func (s *Store) Prune(ctx context.Context, before time.Time, most int) (dropped int, err error) {
	err = s.transact(ctx, "prune ledger", func(t *tx) error {
		// What every writer has rolled up is in the sums.
		var rolled, last int64
		if err := t.queryRow(ctx, `SELECT COALESCE(MIN(rolled), 0) FROM writers`).Scan(&rolled); err != nil {
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
			return t.compact(ctx)
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

// compact sums up the slots that no period reaches.
func (t *tx) compact(ctx context.Context) error {
	old := ledger.SlotOf(time.Now().Add(-ledger.SlotsKept))
	_, err := t.exec(ctx, `INSERT INTO spent (budget, slot, n) SELECT budget, 0, SUM(n) FROM spent WHERE slot > 0 AND slot < ? GROUP BY budget
		ON CONFLICT (budget, slot) DO UPDATE SET n = spent.n + excluded.n`, old)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `DELETE FROM spent WHERE slot > 0 AND slot < ?`, old)
	return err
}
