package sqlstore

import (
	"context"
	"fmt"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// adopt settles what a dead writer left behind, and frees its slot: what it never ended is ended, and what is missing in the
// sums is added. All that is one transaction, so of several who adopt the same writer, one does. It returns how many
// exchanges had to be ended.
func (s *Store) adopt(ctx context.Context, w writer) (crashed int, err error) {
	err = s.transactBeside(ctx, fmt.Sprintf("adopt writer %d of the ledger", w.slot), func(t *tx) error {
		if won, err := t.take(ctx, &w); err != nil || !won {
			return err
		}
		last, err := t.last(ctx, w)
		if err != nil {
			return err
		}
		newest, n, err := t.settle(ctx, w)
		if err != nil {
			return err
		}
		crashed = n
		rolled := ledger.NewIDs(w.slot, max(last, newest)).Next()
		_, err = t.exec(ctx, `UPDATE writers SET held = 0, rolled = ?, oldest = 0 WHERE slot = ?`, int64(rolled), w.slot)
		return err
	})
	if err != nil {
		return 0, err
	}
	return crashed, nil
}

// settle writes what is missing after a writer's death. It returns the newest row's ID, and how many exchanges had to be ended.
func (t *tx) settle(ctx context.Context, w writer) (newest ledger.ID, crashed int, err error) {
	r := t.reader()
	var rest tail
	if err := r.tailOf(ctx, w, &rest); err != nil {
		return 0, 0, err
	}
	unfinished, err := r.unfinishedOf(ctx, w, nil)
	if err != nil {
		return 0, 0, err
	}
	newest = w.died(&rest, unfinished)
	ids := ledger.NewIDs(w.slot, newest)
	b := &ledger.Batch{}
	for _, x := range unfinished {
		newest = ids.Following()
		x.End = x.Crash()
		x.End.Seq = newest
		b.Ends = append(b.Ends, x.End)
		rest.ended = append(rest.ended, x)
	}
	b.Rolled = ledger.RollOf(rest.ended, rest.corrected)
	return newest, len(unfinished), t.write(ctx, b)
}
