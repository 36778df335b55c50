package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Identity is the number that tells this ledger from others of its kind.
func (s *Store) Identity(ctx context.Context) (id int64, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT value FROM facts WHERE name = 'identity'`).Scan(&id); err != nil {
		return 0, fmt.Errorf("read ledger: %w", s.dialect.Explain(err))
	}
	return id, nil
}

// Replay writes a batch of a writer that died before it had committed it, as far as it is known, and reports whether it did: one that is in the
// ledger already, or does not follow the last one of its slot, changes nothing. Which that was, it says, too; 0: there was none. It is for stores
// whose writer is the only one, and comes before Resume.
func (s *Store) Replay(ctx context.Context, b *ledger.Batch) (last int64, done bool, err error) {
	err = s.transact(ctx, "replay the journal of the ledger", func(t *tx) error {
		var oldest, seen int64
		err := t.queryRow(ctx, `SELECT COALESCE(MAX(batch), 0), COALESCE(MAX(oldest), 0), COALESCE(MAX(seen), 0) FROM writers WHERE slot = ?`, b.Slot).
			Scan(&last, &oldest, &seen)
		if err != nil {
			return err
		}
		if done = last > 0 && last == b.Number-1; !done {
			return nil
		}
		// The writer was alive when it queued these; and its oldest open exchange is no older than before, if it had one.
		for _, r := range b.Begins {
			seen = max(seen, r.Exchange.Time().UnixMicro())
			if oldest == 0 || int64(r.Exchange) < oldest {
				oldest = int64(r.Exchange)
			}
		}
		for _, r := range b.Ends {
			seen = max(seen, r.Seq.Time().UnixMicro())
		}
		for _, r := range b.Corrections {
			seen = max(seen, r.Seq.Time().UnixMicro())
		}
		if _, err := t.exec(ctx, `UPDATE writers SET batch = ?, oldest = ?, seen = ? WHERE slot = ?`, b.Number, oldest, seen, b.Slot); err != nil {
			return err
		}
		whole, err := t.withoutStrays(ctx, b)
		if err != nil {
			return err
		}
		return t.write(ctx, whole)
	})
	return last, done && err == nil, err
}

// withoutStrays is a batch without the draws and ends of exchanges that never began: a power loss may have taken their begin rows, which were
// in the journal earlier.
func (t *tx) withoutStrays(ctx context.Context, b *ledger.Batch) (*ledger.Batch, error) {
	began := make(map[ledger.ID]bool, len(b.Begins))
	for _, r := range b.Begins {
		began[r.Exchange] = true
	}
	var failed error
	stray := func(id ledger.ID) bool {
		if _, known := began[id]; !known && failed == nil {
			var n int
			failed = t.queryRow(ctx, `SELECT COUNT(*) FROM begins WHERE id = ?`, int64(id)).Scan(&n)
			began[id] = n > 0
		}
		return !began[id]
	}
	whole := *b
	whole.Draws = slices.DeleteFunc(slices.Clone(b.Draws), func(r *ledger.Draw) bool { return stray(r.Exchange) })
	whole.Ends = slices.DeleteFunc(slices.Clone(b.Ends), func(r *ledger.End) bool { return stray(r.Exchange) })
	return &whole, failed
}
