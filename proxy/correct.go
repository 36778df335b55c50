package proxy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
)

// Amendment changes what budgets have counted by corrections, so that each counts what a start would make of the ledger: [Restorer.Amend]
// makes it, Read tells it of the corrections, and Apply carries them out. It belongs to the restorer's goroutine.
type Amendment struct {
	restorer *Restorer
	marks    map[*budget]limiter.Mark
	changes  map[*budget][]limiter.Spend // dated to the beginning of the exchange; N may be negative
	was, is  map[*budget][]limiter.Spend // of those that refill bit by bit
}

// Amend begins an amendment. What was charged until then must be in the ledger by the time it is read.
func (r *Restorer) Amend() (*Amendment, error) {
	a := &Amendment{
		restorer: r, marks: map[*budget]limiter.Mark{}, changes: map[*budget][]limiter.Spend{},
		was: map[*budget][]limiter.Spend{}, is: map[*budget][]limiter.Spend{},
	}
	for _, b := range r.known {
		if !b.isBucket() {
			continue
		}
		mark, err := r.memory.Mark(b.handle)
		if err != nil {
			return nil, fmt.Errorf("correct %s: %w", b, err)
		}
		a.marks[b] = mark
	}
	return a, nil
}

// Read finds out what corrections come to that the snapshot does not have yet. Nothing changes.
func (a *Amendment) Read(ctx context.Context, s ledger.Snapshot, list []*ledger.Correction) error {
	byName := map[string][]*budget{}
	for _, b := range a.restorer.known {
		byName[b.entry.Name] = append(byName[b.entry.Name], b)
	}
	for _, c := range list {
		for _, charge := range c.Charges {
			for _, b := range byName[charge.Budget.Name] {
				a.changes[b] = append(a.changes[b], limiter.Spend{At: c.Exchange.Time(), N: charge.N})
			}
		}
	}
	now := time.Now()
	var wants []ledger.Want
	var buckets []*budget
	for b := range a.changes {
		if b.isBucket() {
			wants = append(wants, b.history(now))
			buckets = append(buckets, b)
		}
	}
	if len(wants) == 0 {
		return nil
	}
	err := s.Spends(ctx, wants, func(i int, at time.Time, n int64) error {
		a.was[buckets[i]] = append(a.was[buckets[i]], limiter.Spend{At: at, N: n})
		return nil
	})
	if err != nil {
		return fmt.Errorf("correct budgets: %w", err)
	}
	for i, b := range buckets {
		is := slices.Clone(a.was[b])
		for _, c := range a.changes[b] {
			if c.At = dated(c.At, now); c.At.After(wants[i].Since) {
				is = append(is, c)
			}
		}
		a.was[b], a.is[b] = netted(a.was[b]), netted(is)
	}
	return nil
}

// dated is how a ledger dates what was charged at an instant, when it is read by row.
func dated(at, now time.Time) time.Time {
	if at.Before(ledger.RowsSince(now)) {
		return time.Unix(ledger.SlotOf(at), 0).Add(ledger.SlotLength)
	}
	return at
}

// Apply changes the budgets.
func (a *Amendment) Apply() error {
	memory := a.restorer.memory
	for b, changes := range a.changes {
		if b.isBucket() {
			if err := memory.Recount(b.handle, a.marks[b], a.was[b], a.is[b]); err != nil {
				return fmt.Errorf("correct %s: %w", b, err)
			}
			continue
		}
		for _, c := range changes {
			if err := memory.Correct(b.handle, c.At, c.N); err != nil {
				return fmt.Errorf("correct %s: %w", b, err)
			}
		}
	}
	return nil
}

func (b *budget) isBucket() bool {
	_, is := b.rule.(limiter.TokenBucket)
	return is
}
