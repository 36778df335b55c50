package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Resume takes the first slot that is to be had. Of several who want the same, one gets it, and the others look again.
func (s *Store) Resume(ctx context.Context) (*ledger.Past, error) {
	pace := s.dialect.Pace()
	look := newWatch(pace.Grace)
	for began := time.Now(); ; {
		all, err := writers(ctx, s.write)
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", s.dialect.Explain(err))
		}
		if w, ok := s.vacant(all, look.dead(all)); ok {
			past, err := s.claim(ctx, w)
			if err != nil {
				return nil, err
			}
			if past != nil {
				s.begin(ctx, past)
				return past, nil
			}
			continue
		}
		if time.Since(began) > 2*pace.Grace {
			return nil, fmt.Errorf("%w: all of its %d slots for writers are taken", ledger.ErrLocked, ledger.Slots)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a slot of the ledger: %w", ctx.Err())
		case <-time.After(pace.Beat):
		}
	}
}

// vacant is the store's own slot, or the first that nobody has, or else that of a dead writer.
func (s *Store) vacant(all, dead []writer) (writer, bool) {
	if own := s.life.slot.Load(); own != nil || s.dialect.Pace().Beat == 0 {
		for _, w := range all {
			if own == nil || w.slot == *own {
				return w, true
			}
		}
	}
	for slot := range ledger.Slots {
		// Rows are never removed, so there is none from the first that is missing on.
		if slot == len(all) {
			return writer{slot: slot}, true
		}
		if w := all[slot]; !w.held || w.seen == 0 {
			return w, true
		}
	}
	if len(dead) > 0 {
		return dead[0], true
	}
	return writer{}, false
}
