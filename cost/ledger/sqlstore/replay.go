package sqlstore

import (
	"context"
	"fmt"

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
// ledger already, or does not follow the last one of its slot, changes nothing. It is for stores whose writer is the only one, and comes
// before Resume.
func (s *Store) Replay(ctx context.Context, b *ledger.Batch) (done bool, err error) {
	err = s.transact(ctx, "replay the journal of the ledger", func(t *tx) error {
		var last, oldest, seen int64
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
		return t.write(ctx, b)
	})
	return done && err == nil, err
}
