package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// byRow is for how long the instants of single charges are told.
const byRow = time.Hour

// spends reads what budgets were charged: old charges from the sums of slots, new ones from rows. Where the one ends and the
// other begins, `from`, is different for each budget that is asked for.
type spends struct {
	wants []ledger.Want
	from  []time.Time      // of each want: since then by row
	of    map[int64][]int  // wants of each budget, by its number
	names map[string][]int // likewise, by its name
	each  func(i int, at time.Time, n int64) error
}

// Spends reads what budgets were charged.
func (r *snapshot) Spends(ctx context.Context, wants []ledger.Want, each func(i int, at time.Time, n int64) error) error {
	if err := r.readTail(ctx); err != nil {
		return err
	}
	s := spends{wants: wants, from: make([]time.Time, len(wants)), of: map[int64][]int{}, names: map[string][]int{}, each: each}
	now := time.Now()
	recent := time.Unix(ledger.SlotOf(now.Add(-byRow)), 0)
	oldest := now
	for i, w := range wants {
		s.names[w.Budget] = append(s.names[w.Budget], i)
		id, known := r.numbers[w.Budget]
		if known {
			s.of[id] = append(s.of[id], i)
		}
		if s.from[i] = never; w.Detail == ledger.ByRow {
			s.from[i] = later(w.Since, recent)
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
	for _, x := range r.tail.unfinished {
		if err := s.exchange(x.Crash(), true); err != nil {
			return err
		}
	}
	if !oldest.Before(now) {
		return nil
	}
	return r.exchanges(ctx, func(x *ledger.Exchange) error { return s.exchange(x.End, false) },
		`FROM ends e JOIN begins b ON b.id = e.id WHERE e.seq >= ?`, int64(ledger.At(oldest)))
}

// never is later than anything.
var never = time.Unix(1<<40, 0)

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// slots reads the sums of a budget's slots.
func (r *snapshot) slots(ctx context.Context, s *spends, i int, id int64) error {
	since := s.wants[i].Since
	if s.wants[i].Detail == ledger.ByRow && !since.Before(s.from[i]) {
		return nil
	}
	return r.each(ctx, func(rows *sql.Rows) error {
		var start, n int64
		if err := rows.Scan(&start, &n); err != nil {
			return r.explain(err)
		}
		return s.slot(i, start, n)
	}, `SELECT slot, n FROM spent WHERE budget = ? AND slot >= ?`, id, slotOf(since))
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
	case n == 0, start < slotOf(w.Since), !time.Unix(start, 0).Before(s.from[i]):
		return nil
	case w.Detail == ledger.Sum:
		return s.each(i, w.Since, n)
	default:
		return s.each(i, end, n)
	}
}

// exchange passes on what one exchange was charged. Those that have ended are in the slots, too, so that only what is wanted
// by row is passed on; those that have not are nowhere else.
func (s *spends) exchange(e *ledger.End, unfinished bool) error {
	for _, c := range e.Charges {
		for _, i := range s.names[c.Budget.Name] {
			w := s.wants[i]
			for _, part := range []struct {
				at time.Time
				n  int64
			}{{e.Exchange.Time(), c.N}, {e.Seq.Time(), c.Late}} {
				if unfinished {
					part.at = later(part.at, e.Exchange.Time())
				}
				if part.n == 0 || part.at.Before(w.Since) || !unfinished && part.at.Before(s.from[i]) {
					continue
				}
				if w.Detail == ledger.Sum {
					part.at = w.Since
				}
				if err := s.each(i, part.at, part.n); err != nil {
					return err
				}
			}
		}
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
