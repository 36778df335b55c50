package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// tail is what is not in the sums yet: rows that are newer than the newest of their writer's that is.
type tail struct {
	ended     []ledger.Exchange
	corrected []ledger.Correction

	roll *ledger.Roll // nil until it is asked for
}

// readTail reads the tail of all writers, once.
func (r *snapshot) readTail(ctx context.Context) error {
	if r.tail != nil {
		return nil
	}
	all, err := writers(ctx, r.tx)
	if err != nil {
		return r.explain(err)
	}
	var t tail
	for _, w := range all {
		if err := r.tailOf(ctx, w, &t); err != nil {
			return err
		}
	}
	r.tail = &t
	return nil
}

// tailOf adds the tail of one writer. Each is asked for by itself, so that the database begins to read at this writer's own
// place, however far behind another is.
func (r *snapshot) tailOf(ctx context.Context, w writer, t *tail) error {
	if !w.held {
		return nil // whoever took over has summed it up
	}
	err := r.exchanges(ctx, func(x *ledger.Exchange) error {
		t.ended = append(t.ended, *x)
		return nil
	}, `FROM ends e JOIN begins b ON b.id = e.id WHERE e.seq > ? AND e.seq % 1024 = ? ORDER BY e.seq`, w.rolled, w.slot)
	if err != nil {
		return err
	}
	return r.corrections(ctx, func(c *ledger.Correction) error {
		t.corrected = append(t.corrected, *c)
		return nil
	}, `WHERE c.seq > ? AND c.seq % 1024 = ? ORDER BY c.seq`, w.rolled, w.slot)
}

// roll is what the tail adds to the sums, for reading.
func (r *snapshot) roll(ctx context.Context) (*ledger.Roll, error) {
	if err := r.readTail(ctx); err != nil {
		return nil, err
	}
	if r.tail.roll == nil {
		r.tail.roll = ledger.RollOf(r.tail.ended, r.tail.corrected)
	}
	return r.tail.roll, nil
}

// Unfinished reads the exchanges that have no end row.
func (r *snapshot) Unfinished(ctx context.Context) (list []ledger.Exchange, err error) {
	all, err := writers(ctx, r.tx)
	if err != nil {
		return nil, r.explain(err)
	}
	for _, w := range all {
		if list, err = r.unfinishedOf(ctx, w, list); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b ledger.Exchange) int { return cmp.Compare(a.Begin.Exchange, b.Begin.Exchange) })
	return list, nil
}

// unfinishedOf adds those of one writer: none is older than the oldest that it had open.
func (r *snapshot) unfinishedOf(ctx context.Context, w writer, list []ledger.Exchange) ([]ledger.Exchange, error) {
	if !w.held || w.oldest == 0 {
		return list, nil
	}
	first := len(list)
	err := r.exchanges(ctx, func(x *ledger.Exchange) error {
		list = append(list, *x)
		return nil
	}, `FROM begins b LEFT JOIN ends e ON e.id = b.id WHERE b.id >= ? AND b.id % 1024 = ? AND e.id IS NULL ORDER BY b.id`, w.oldest, w.slot)
	for i := first; i < len(list) && err == nil; i++ {
		err = r.draws(ctx, &list[i])
	}
	return list, err
}
