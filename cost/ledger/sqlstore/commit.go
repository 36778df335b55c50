package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Columns of the tables that are written in bulk.
const (
	beginColumns      = "id, series, model, label, retry, stream, estimate, input, output, other, reserved, price, charges"
	drawColumns       = "id, step, input, output, other, reserved, charges"
	endColumns        = "seq, id, status, ending, basis, served, input, cached, cache_write, output, reasoning, other, cost, took, first_token, upstream_id, charges"
	correctionColumns = "seq, id, series, model, served, label, was, basis, input, cached, cache_write, output, reasoning, other, cost, charges, reason"
	sumColumns        = "requests, failed, unreported, counted, retries, input, cached, cache_write, output, reasoning, images, milliseconds, characters, cost"
	hourColumns       = "hour, series, model, served, label, " + sumColumns
)

// keep makes a row that is there already stay as it is.
const keep = "ON CONFLICT DO NOTHING"

// Commit writes a batch.
func (s *Store) Commit(ctx context.Context, b *ledger.Batch) error {
	if err := s.dialect.Present(); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	now, again := time.Now(), false
	err := s.transact(ctx, "write ledger", func(t *tx) error {
		rolled := int64(0)
		if b.Rolled != nil {
			rolled = int64(b.Rolled.Upto)
		}
		result, err := t.exec(ctx, `UPDATE writers SET batch = ?, oldest = ?, seen = ?, rolled = CASE WHEN rolled < ? THEN ? ELSE rolled END
			WHERE slot = ? AND batch = ?`, b.Number, int64(b.Oldest), now.UnixMicro(), rolled, rolled, b.Slot, b.Number-1)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			again = true
			return t.committedBefore(ctx, b)
		}
		return t.write(ctx, b)
	})
	if err == nil && !again {
		s.life.signed(now)
	}
	return err
}

// committedBefore returns nil if the batch is in the ledger already.
func (t *tx) committedBefore(ctx context.Context, b *ledger.Batch) error {
	var last int64
	if err := t.queryRow(ctx, `SELECT batch FROM writers WHERE slot = ?`, b.Slot).Scan(&last); err != nil {
		return fmt.Errorf("find writer %d: %w", b.Slot, err)
	}
	switch {
	case last == b.Number:
		return nil
	case lifeOf(last) > lifeOf(b.Number):
		return fmt.Errorf("%w (it had slot %d)", ledger.ErrFenced, b.Slot)
	}
	return fmt.Errorf("%w: batch %d of writer %d does not follow batch %d; if the ledger was restored from a backup, restart this process", ledger.ErrLocked, b.Number, b.Slot, last)
}

// write writes all of a batch.
func (t *tx) write(ctx context.Context, b *ledger.Batch) error {
	if err := t.intern(ctx, b); err != nil {
		return err
	}
	if err := t.rows(ctx, b); err != nil {
		return err
	}
	return t.sums(ctx, b)
}

// rows writes the rows of a batch.
func (t *tx) rows(ctx context.Context, b *ledger.Batch) error {
	begins := newBulk("begins", beginColumns, keep, len(b.Begins))
	for _, r := range b.Begins {
		begins.add(int64(r.Exchange), t.series(r.Series), r.Model, r.Label, int64(r.Retry), bit(r.Stream), estimateOf(r.Estimate),
			r.Most.Input, r.Most.Output, otherOf(r.Most, false), int64(r.Reserved), r.Price, t.chargesOf(r.Charges))
	}
	draws := newBulk("draws", drawColumns, keep, len(b.Draws))
	for _, r := range b.Draws {
		draws.add(int64(r.Exchange), int64(r.Step), r.More.Input, r.More.Output, otherOf(r.More, false), int64(r.Reserved), t.chargesOf(r.Charges))
	}
	ends := newBulk("ends", endColumns, keep, len(b.Ends))
	for _, r := range b.Ends {
		u := r.Usage
		ends.add(int64(r.Seq), int64(r.Exchange), int64(r.Status), r.Ending, r.Basis, r.Served,
			u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning, otherOf(u, true),
			int64(r.Cost), r.Took.Microseconds(), r.FirstToken.Microseconds(), r.UpstreamID, t.chargesOf(r.Charges))
	}
	corrections := newBulk("corrections", correctionColumns, keep, len(b.Corrections))
	for _, r := range b.Corrections {
		u := r.Usage
		corrections.add(int64(r.Seq), int64(r.Exchange), t.series(r.Series), r.Model, r.Served, r.Label, r.Was, r.Basis,
			u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning, otherOf(u, true),
			int64(r.Cost), t.chargesOf(r.Charges), r.Reason)
	}
	refusals := newBulk("refusals", "hour, key_name, model, code, n", "ON CONFLICT (hour, key_name, model, code) DO UPDATE SET n = refusals.n + excluded.n", len(b.Refusals))
	for _, r := range slices.SortedFunc(slices.Values(b.Refusals), byNames) {
		refusals.add(r.Hour, r.Key, r.Model, r.Code, r.N)
	}
	notices := newBulk("notices", "budget, ends, threshold", keep, len(b.Notices))
	for _, n := range slices.SortedFunc(slices.Values(b.Notices), byNotice) {
		notices.add(n.Budget, n.Period, n.At)
	}
	owned := newBulk("owned", ownedColumns, keep, len(b.Owned))
	for _, o := range slices.SortedFunc(slices.Values(b.Owned), byOwned) {
		owned.add(o.ID, string(o.Kind), o.Key, o.Upstream, o.Of, o.Made.UnixMicro(), o.Tokens, int64(0))
	}
	for _, table := range []*bulk{begins, draws, ends, corrections, refusals, notices, owned} {
		if err := table.flush(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", table.table, err)
		}
	}
	return t.grow(ctx, b.Grown)
}
