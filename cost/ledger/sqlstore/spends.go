package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// spends reads what budgets were charged: old charges from the sums of slots, new ones from rows. Where the one ends and the
// other begins, `from`, is different for each budget that is asked for.
type spends struct {
	wants []ledger.Want
	from  []time.Time      // of each want: since then by row
	names map[string][]int // wants of each budget
	each  func(i int, at time.Time, n int64) error
}

// Spends reads what budgets were charged.
func (r *snapshot) Spends(ctx context.Context, wants []ledger.Want, each func(i int, at time.Time, n int64) error) error {
	if err := r.readTail(ctx); err != nil {
		return err
	}
	s := spends{wants: wants, from: make([]time.Time, len(wants)), names: map[string][]int{}, each: each}
	kept, err := r.Kept(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	rows := later(ledger.RowsSince(now), nextSlot(kept)) // slots that begin then have all their rows
	oldest := now
	for i, w := range wants {
		name := ledger.BudgetName(w.Budget)
		s.names[name] = append(s.names[name], i)
		id, known := r.numbers[name]
		if s.from[i] = never; w.Detail == ledger.ByRow {
			s.from[i] = later(w.Since, rows)
			if known && s.from[i].Before(oldest) {
				oldest = s.from[i]
			}
		}
		if known {
			if err := r.slots(ctx, &s, i, id); err != nil {
				return err
			}
		}
	}
	roll, err := r.roll(ctx)
	if err != nil {
		return err
	}
	for slot, n := range roll.Slots {
		for _, i := range s.names[slot.Budget.Name] {
			if err := s.slot(i, slot.Start, n); err != nil {
				return err
			}
		}
	}
	open, err := r.Unfinished(ctx)
	if err != nil {
		return err
	}
	all, err := writers(ctx, r.tx)
	if err != nil {
		return r.explain(err)
	}
	seen := map[int]time.Time{}
	for _, w := range all {
		seen[w.slot] = w.seenBy(now)
	}
	for _, x := range open {
		if err := s.unfinished(x.Crash(), seen[x.Begin.Exchange.Slot()]); err != nil {
			return err
		}
	}
	if !oldest.Before(now) {
		return nil
	}
	since := int64(ledger.At(oldest))
	if err := r.names(ctx); err != nil {
		return err
	}
	err = r.each(ctx, func(rows *sql.Rows) error { // of an hour there may be millions, and nothing else of them is wanted
		var seq, id ledger.ID
		var column string
		if err := rows.Scan(&seq, &id, &column); err != nil {
			return r.explain(err)
		}
		charges, err := readCharges(column, r.budgets)
		if err != nil {
			return err
		}
		return s.rows(charges, id.Time(), seq.Time())
	}, `SELECT seq, id, charges FROM ends WHERE seq >= ?`, since)
	if err != nil {
		return err
	}
	return r.corrections(ctx, func(c *ledger.Correction) error { return s.rows(c.Charges, c.Exchange.Time(), c.Seq.Time()) }, `WHERE c.id >= ?`, since)
}

// never is later than anything.
var never = time.Unix(1<<40, 0)

// nextSlot is the first beginning of a slot that is not before an instant.
func nextSlot(t time.Time) time.Time {
	return time.Unix(ledger.SlotOf(t.Add(ledger.SlotLength-1)), 0)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// slots reads the sums of a budget's slots.
func (r *snapshot) slots(ctx context.Context, s *spends, i int, id int64) error {
	if !s.wants[i].Since.Before(s.from[i]) {
		return nil
	}
	return r.each(ctx, func(rows *sql.Rows) error {
		var start, n int64
		if err := rows.Scan(&start, &n); err != nil {
			return r.explain(err)
		}
		return s.slot(i, start, n)
	}, `SELECT slot, n FROM spent WHERE budget = ? AND slot >= ?`, id, slotOf(s.wants[i].Since))
}

// slotOf is the slot of an instant; the zero time is before all.
func slotOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return ledger.SlotOf(t)
}

// slot passes on the sum of one slot.
func (s *spends) slot(i int, start, n int64) error {
	w := s.wants[i]
	end := time.Unix(start, 0).Add(ledger.SlotLength)
	switch {
	case n == 0, start < slotOf(w.Since), !time.Unix(start, 0).Before(s.from[i]), !w.Since.Before(s.from[i]):
		return nil
	case w.Detail == ledger.Sum:
		return s.each(i, w.Since, n)
	default:
		return s.each(i, end, n)
	}
}

// rows passes on what is wanted by row of what was charged at the beginning and at the end of one exchange. All else is in
// the sums of slots.
func (s *spends) rows(charges []ledger.Charge, begin, end time.Time) error {
	for _, c := range charges {
		for _, i := range s.names[c.Budget.Name] {
			if err := s.row(i, begin, c.N); err != nil {
				return err
			}
			if err := s.row(i, end, c.Late); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spends) row(i int, at time.Time, n int64) error {
	if n == 0 || at.Before(s.from[i]) {
		return nil
	}
	return s.each(i, at, n)
}

// unfinished passes on what one exchange has reserved, at its beginning, and drawn, which was no later than the last sign of life of
// its writer. It is in no sum yet, and counts where it will be if it is never ended.
func (s *spends) unfinished(e *ledger.End, seen time.Time) error {
	for _, c := range e.Charges {
		for _, part := range []struct {
			at time.Time
			n  int64
		}{{e.Exchange.Time(), c.N}, {seen, c.Late}} {
			for _, i := range s.names[c.Budget.Name] {
				if err := s.open(i, part.at, part.n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// open passes on a part of what one exchange has that is not ended.
func (s *spends) open(i int, at time.Time, n int64) error {
	switch w := s.wants[i]; {
	case w.Detail != ledger.ByRow:
		return s.slot(i, ledger.SlotOf(at), n)
	case n != 0 && !at.Before(w.Since):
		return s.each(i, at, n)
	}
	return nil
}

// Slots reads sums of slots.
func (r *snapshot) Slots(ctx context.Context, from, to time.Time, each func(ledger.Slot, int64) error) error {
	roll, err := r.roll(ctx)
	if err != nil {
		return err
	}
	first, last := ledger.SlotOf(from), ledger.SlotOf(to)
	err = r.each(ctx, func(rows *sql.Rows) error {
		var budget, start, n int64
		if err := rows.Scan(&budget, &start, &n); err != nil {
			return r.explain(err)
		}
		return each(ledger.Slot{Budget: r.budgets[budget], Start: start}, n)
	}, `SELECT s.budget, s.slot, s.n FROM budgets b CROSS JOIN spent s WHERE s.budget = b.id AND s.slot >= ? AND s.slot < ?`, first, last) // in the order of spent's key: budget by budget
	if err != nil {
		return err
	}
	for slot, n := range roll.Slots {
		if slot.Start >= first && slot.Start < last {
			if err := each(slot, n); err != nil {
				return err
			}
		}
	}
	return nil
}
