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
	spends   map[*budget]*spends         // of those that refill bit by bit
}

// spends is what a ledger dates to instants, before and after.
type spends struct{ was, is, early []limiter.Spend }

// Amend begins an amendment. What was charged until then must be in the ledger by the time it is read.
func (r *Restorer) Amend() (*Amendment, error) {
	a := &Amendment{
		restorer: r, marks: map[*budget]limiter.Mark{}, changes: map[*budget][]limiter.Spend{},
		spends: map[*budget]*spends{},
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
			a.spends[b] = &spends{}
		}
	}
	if len(wants) == 0 {
		return nil
	}
	err := s.Spends(ctx, wants, func(i int, at time.Time, n int64) error {
		of := a.spends[buckets[i]]
		of.was = append(of.was, limiter.Spend{At: at, N: n})
		return nil
	})
	if err != nil {
		return fmt.Errorf("correct budgets: %w", err)
	}
	for i, b := range buckets {
		of := a.spends[b]
		of.is = slices.Clone(of.was)
		for _, c := range a.changes[b] {
			if c.At = dated(c.At, now); c.At.After(wants[i].Since) {
				of.is = append(of.is, c)
			}
		}
		for _, one := range of.is {
			of.early = append(of.early, limiter.Spend{At: early(one.At, now), N: one.N})
		}
		of.was, of.is, of.early = netted(of.was), netted(of.is), netted(of.early)
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
		if of := a.spends[b]; of != nil {
			if err := memory.Recount(b.handle, a.marks[b], of.was, of.is, of.early); err != nil {
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
