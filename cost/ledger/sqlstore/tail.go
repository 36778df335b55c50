package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// tail is what is not in the sums yet.
type tail struct {
	ended      []ledger.Exchange
	corrected  []ledger.Correction
	unfinished []ledger.Exchange
}

// Rows that are newer than the newest of their writer's that is in the sums.
const (
	unrolledEnds = `FROM writers w JOIN ends e ON e.seq > w.rolled AND e.seq % 1024 = w.slot JOIN begins b ON b.id = e.id
		ORDER BY e.seq`
	unrolledCorrections = `JOIN writers w ON c.seq > w.rolled AND c.seq % 1024 = w.slot ORDER BY c.seq`
)

func (r *snapshot) readTail(ctx context.Context) error {
	if r.tail != nil {
		return nil
	}
	var t tail
	err := r.exchanges(ctx, func(x *ledger.Exchange) error {
		t.ended = append(t.ended, *x)
		return nil
	}, unrolledEnds)
	if err != nil {
		return err
	}
	err = r.corrections(ctx, func(c *ledger.Correction) error {
		t.corrected = append(t.corrected, *c)
		return nil
	}, unrolledCorrections)
	if err != nil {
		return err
	}
	if t.unfinished, err = r.Unfinished(ctx); err != nil {
		return err
	}
	r.tail = &t
	return nil
}

// roll is what the tail adds to the sums.
func (r *snapshot) roll(ctx context.Context) (*ledger.Roll, error) {
	if err := r.readTail(ctx); err != nil {
		return nil, err
	}
	return ledger.RollOf(r.tail.ended, r.tail.corrected), nil
}

// Resume takes a slot, and reads what was left there.
func (s *Store) Resume(ctx context.Context) (*ledger.Past, error) {
	slot, dead, err := s.dialect.Claim(ctx, s.write)
	if err != nil {
		return nil, s.dialect.Explain(err)
	}
	if err := s.transact(ctx, "register writer", func(t *tx) error { return t.register(ctx, slot, dead) }); err != nil {
		return nil, err
	}
	r, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	past := &ledger.Past{Slot: slot}
	if err := r.readTail(ctx); err != nil {
		return nil, err
	}
	gone := map[int]bool{slot: true}
	for _, d := range dead {
		if d != slot {
			gone[d], past.Dead = true, append(past.Dead, d)
		}
	}
	for _, x := range r.tail.ended {
		if gone[x.End.Seq.Slot()] {
			past.Tail = append(past.Tail, x)
		}
	}
	for _, c := range r.tail.corrected {
		if gone[c.Seq.Slot()] {
			past.Corrected = append(past.Corrected, c)
		}
	}
	for _, x := range r.tail.unfinished {
		if gone[x.Begin.Exchange.Slot()] {
			past.Unfinished = append(past.Unfinished, x)
		}
	}
	query := `SELECT w.batch, COALESCE((SELECT MAX(id) FROM begins), 0), COALESCE((SELECT MAX(seq) FROM ends), 0), COALESCE((SELECT MAX(seq) FROM corrections), 0),
		(SELECT MAX(rolled) FROM writers) FROM writers w WHERE w.slot = ?`
	var begin, end, correction, rolled ledger.ID
	if err := r.tx.QueryRowContext(ctx, s.place(query), slot).Scan(&past.Batch, &begin, &end, &correction, &rolled); err != nil {
		return nil, fmt.Errorf("resume writer %d: %w", slot, s.dialect.Explain(err))
	}
	past.Last = max(begin, end, correction, rolled) // rows that are gone, too: what is older than rolled is in the sums
	return past, nil
}

// register takes slots away from those who had them. Should one of them be alive after all, its next batch does not follow,
// and neither is it taken for one that was committed.
func (t *tx) register(ctx context.Context, slot int, dead []int) error {
	_, err := t.exec(ctx, `INSERT INTO writers (slot, batch, rolled, oldest, seen) VALUES (?, 0, (SELECT COALESCE(MAX(seq), 0) FROM ends), 0, ?)
		ON CONFLICT DO NOTHING`, slot, time.Now().UnixMicro())
	if err != nil {
		return err
	}
	for _, taken := range slices.Compact(slices.Sorted(slices.Values(append([]int{slot}, dead...)))) {
		if _, err := t.exec(ctx, `UPDATE writers SET batch = batch + 2 WHERE slot = ?`, taken); err != nil {
			return err
		}
	}
	return nil
}
