package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// sums adds to the sums what is rolled up.
func (t *tx) sums(ctx context.Context, b *ledger.Batch) error {
	if b.Rolled == nil {
		return nil
	}
	hours := newBulk("hours", hourColumns, "ON CONFLICT (hour, series, model, served, label) DO UPDATE SET "+added("hours", sumColumns), len(b.Rolled.Hours))
	for _, h := range slices.SortedFunc(maps.Keys(b.Rolled.Hours), byHour) {
		s := b.Rolled.Hours[h]
		hours.add(h.Start, t.series(h.Series), h.Model, h.Served, h.Label, s.Requests, s.Failed, s.Unreported, s.Counted, s.Retries,
			s.Input, s.CachedInput, s.CacheWrite, s.Output, s.Reasoning, s.Images, s.Milliseconds, s.Characters, int64(s.Cost))
	}
	spent := newBulk("spent", "budget, slot, n", "ON CONFLICT (budget, slot) DO UPDATE SET "+added("spent", "n"), len(b.Rolled.Slots))
	list := slotsByNumber(b.Rolled.Slots, t.budget)
	for _, s := range slices.SortedFunc(maps.Keys(list), bySlot) {
		spent.add(s.budget, s.start, list[s])
	}
	for _, table := range []*bulk{hours, spent} {
		if err := table.flush(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", table.table, err)
		}
	}
	return t.days(ctx, b.Rolled)
}

// numbered is a slot of the budget with that number.
type numbered struct{ budget, start int64 }

// slotsByNumber is what slots are charged by the number of their budget: one whose unit was changed has one number, and one
// statement must not change a row twice.
func slotsByNumber(slots map[ledger.Slot]int64, number func(ledger.Budget) int64) map[numbered]int64 {
	list := make(map[numbered]int64, len(slots))
	for s, n := range slots {
		of := numbered{number(s.Budget), s.Start}
		list[of] = saturatingAdd(list[of], n)
	}
	return list
}
