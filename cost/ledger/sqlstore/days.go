package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// dayColumns are those of hours, but for the name of the first.
const dayColumns = "day, series, model, served, label, " + sumColumns

// days adds to the sums of days what a roll adds to those of hours.
func (t *tx) days(ctx context.Context, roll *ledger.Roll) error {
	sums := map[ledger.Hour]*ledger.Sums{}
	for h, s := range roll.Hours {
		h.Start -= h.Start % day
		if sums[h] == nil {
			sums[h] = new(ledger.Sums)
		}
		sums[h].Add(*s)
	}
	list := slices.SortedFunc(maps.Keys(sums), byHour)
	days := newBulk("days", dayColumns, "ON CONFLICT (day, series, model, served, label) DO UPDATE SET "+added("days", sumColumns), len(list))
	for _, h := range list {
		s := sums[h]
		days.add(h.Start, t.series(h.Series), h.Model, h.Served, h.Label, s.Requests, s.Failed, s.Unreported, s.Counted, s.Retries,
			s.Input, s.CachedInput, s.CacheWrite, s.Output, s.Reasoning, s.Images, s.Milliseconds, s.Characters, int64(s.Cost))
	}
	if err := days.flush(ctx, t); err != nil {
		return fmt.Errorf("days: %w", err)
	}
	return nil
}
