package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// writer is a row of the table of writers.
type writer struct {
	slot   int
	held   bool  // somebody has the slot, alive or dead; else nothing is left to do there
	batch  int64 // the last one's number; 0: there is no row yet
	rolled int64
	oldest int64
	seen   int64 // the last sign of life; 0: it has said that it ends
}

// batchBits are for the numbers of batches in one life of a slot: enough for a century of five hundred commits a second. The
// bits above them count the lives, so that a writer whose slot was taken never hits on the number of the next batch.
const batchBits = 41

func lifeOf(batch int64) int64 { return batch >> batchBits }

// seenBy is the writer's last sign of life, and now if it has said that it ends, or lives in the future.
func (w writer) seenBy(now time.Time) time.Time {
	if seen := time.UnixMicro(w.seen); w.seen != 0 && seen.Before(now) {
		return seen
	}
	return now
}

// died is when a dead writer was last seen, and no earlier than its rows.
func (w writer) died(t *tail, unfinished []ledger.Exchange) ledger.ID {
	at := max(ledger.At(w.seenBy(time.Now())), ledger.ID(w.rolled))
	for _, x := range t.ended {
		at = max(at, x.End.Seq)
	}
	for _, c := range t.corrected {
		at = max(at, c.Seq)
	}
	for _, x := range unfinished {
		at = max(at, x.Begin.Exchange)
	}
	return at
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// writers reads all rows, in the order of their slots.
func writers(ctx context.Context, q querier) (list []writer, err error) {
	rows, err := q.QueryContext(ctx, `SELECT slot, held, batch, rolled, oldest, seen FROM writers ORDER BY slot`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var w writer
		if err := rows.Scan(&w.slot, &w.held, &w.batch, &w.rolled, &w.oldest, &w.seen); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, rows.Err()
}

// take begins another life of a slot, in which whoever has it so far can write nothing more: either his last rows are there
// when take returns, or they never come. It returns false if the slot is not as it was any more, because its writer lives, or
// somebody else was faster. What w says is brought up to date.
func (t *tx) take(ctx context.Context, w *writer) (bool, error) {
	if w.batch == 0 {
		// Who makes the same row at the same time waits here, and finds it changed below.
		_, err := t.exec(ctx, `INSERT INTO writers (slot, held, batch, rolled, oldest, seen) VALUES (?, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING`, w.slot)
		if err != nil {
			return false, err
		}
	}
	next, seen := (lifeOf(w.batch)+1)<<batchBits, time.Now().UnixMicro()
	if t.store.dialect.Pace().Beat == 0 {
		seen = w.seen // nobody else looks at it, and until its ends are written it says when the last life died
	}
	result, err := t.exec(ctx, `UPDATE writers SET held = 1, batch = ?, seen = ? WHERE slot = ? AND batch = ? AND seen = ?`,
		next, seen, w.slot, w.batch, w.seen)
	if err != nil {
		return false, err
	}
	w.batch = next
	n, err := result.RowsAffected()
	return n == 1, err
}

// claim takes a slot for this store. The result is nil if somebody else was faster.
func (s *Store) claim(ctx context.Context, w writer) (past *ledger.Past, err error) {
	err = s.transactBeside(ctx, "take a slot of the ledger", func(t *tx) error {
		if won, err := t.take(ctx, &w); err != nil || !won {
			return err
		}
		last, err := t.last(ctx, w)
		if err != nil {
			return err
		}
		past = &ledger.Past{Slot: w.slot, Batch: w.batch, Last: last}
		if !w.held {
			_, err := t.exec(ctx, `UPDATE writers SET rolled = ? WHERE slot = ?`, int64(last), w.slot)
			return err
		}
		r := t.reader()
		var rest tail
		if err := r.tailOf(ctx, w, &rest); err != nil {
			return err
		}
		past.Tail, past.Corrected = rest.ended, rest.corrected
		past.Unfinished, err = r.unfinishedOf(ctx, w, nil)
		past.Died = w.died(&rest, past.Unfinished)
		return err
	})
	if err != nil {
		return nil, err
	}
	return past, nil
}

// last is an id that none in the ledger is larger than, nor what is said to be in the writer's sums.
func (t *tx) last(ctx context.Context, w writer) (ledger.ID, error) {
	var begin, end, correction ledger.ID
	err := t.queryRow(ctx, `SELECT COALESCE((SELECT MAX(id) FROM begins), 0), COALESCE((SELECT MAX(seq) FROM ends), 0), COALESCE((SELECT MAX(seq) FROM corrections), 0)`).
		Scan(&begin, &end, &correction)
	return max(begin, end, correction, ledger.ID(w.rolled)), err
}

// reader reads what is there within the transaction.
func (t *tx) reader() *snapshot { return &snapshot{tx: t.Tx, store: t.store, within: true} }
