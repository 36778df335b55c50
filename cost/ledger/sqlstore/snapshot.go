package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// snapshot is a transaction that reads.
type snapshot struct {
	tx     *sql.Tx
	store  *Store
	within bool // a transaction that writes, which explains its errors itself

	budgets map[int64]ledger.Budget // nil until they are read
	numbers map[string]int64        // of budgets, by name
	series  map[int64]ledger.Series // nil until they are read
	tail    *tail                   // nil until it is read
}

// Snapshot begins a transaction that reads.
func (s *Store) Snapshot(ctx context.Context) (ledger.Snapshot, error) { return s.snapshot(ctx) }

func (s *Store) snapshot(ctx context.Context) (*snapshot, error) {
	tx, err := s.read.BeginTx(ctx, s.dialect.Reading())
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", s.dialect.Explain(err))
	}
	r := &snapshot{tx: tx, store: s}
	if _, err := r.Kept(ctx); err != nil { // databases take the snapshot with the first statement
		_ = tx.Rollback() // the first error is the one to tell
		return nil, err
	}
	return r, nil
}

// Close ends it. It may have ended with its context, or been closed already.
func (r *snapshot) Close() error {
	err := r.tx.Rollback()
	if err != nil && !errors.Is(err, sql.ErrTxDone) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("read ledger: %w", r.store.dialect.Explain(err))
	}
	return nil
}

// each runs a query and calls f for each of its rows.
func (r *snapshot) each(ctx context.Context, f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := r.tx.QueryContext(ctx, r.store.place(query), args...)
	if err != nil {
		return r.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return r.explain(rows.Err())
}

func (r *snapshot) explain(err error) error {
	if err == nil || r.within {
		return err
	}
	return fmt.Errorf("read ledger: %w", r.store.dialect.Explain(err))
}

// Refusals reads those of some hours.
func (r *snapshot) Refusals(ctx context.Context, from, to time.Time, each func(ledger.Refusal) error) error {
	return r.each(ctx, func(rows *sql.Rows) error {
		var f ledger.Refusal
		if err := rows.Scan(&f.Hour, &f.Key, &f.Model, &f.Code, &f.N); err != nil {
			return r.explain(err)
		}
		return each(f)
	}, `SELECT hour, key_name, model, code, n FROM refusals WHERE hour >= ? AND hour < ?`, ledger.HourOf(from), ledger.HourOf(to))
}

// Writers reads who writes to the ledger, or has.
func (r *snapshot) Writers(ctx context.Context) (list []ledger.Life, err error) {
	all, err := writers(ctx, r.tx)
	for _, w := range all {
		last := ledger.ID(w.rolled).Time()
		if seen := time.UnixMicro(w.seen); seen.After(last) {
			last = seen
		}
		list = append(list, ledger.Life{Slot: w.slot, Last: last})
	}
	return list, r.explain(err)
}

// Notices reads all that are kept.
func (r *snapshot) Notices(ctx context.Context) (list []ledger.Notice, err error) {
	err = r.each(ctx, func(rows *sql.Rows) error {
		var n ledger.Notice
		if err := rows.Scan(&n.Budget, &n.Period, &n.At); err != nil {
			return r.explain(err)
		}
		list = append(list, n)
		return nil
	}, `SELECT budget, ends, threshold FROM notices`)
	return list, err
}

// Kept is the instant from which on rows are kept.
func (r *snapshot) Kept(ctx context.Context) (time.Time, error) {
	var micros int64
	err := r.tx.QueryRowContext(ctx, `SELECT value FROM facts WHERE name = 'kept'`).Scan(&micros)
	return time.UnixMicro(micros), r.explain(err)
}

// names reads what numbers stand for.
func (r *snapshot) names(ctx context.Context) error {
	if r.series != nil {
		return nil
	}
	r.budgets, r.numbers = map[int64]ledger.Budget{}, map[string]int64{}
	err := r.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var b ledger.Budget
		if err := rows.Scan(&id, &b.Name, &b.Unit); err != nil {
			return r.explain(err)
		}
		r.budgets[id], r.numbers[b.Name] = b, id
		return nil
	}, `SELECT id, name, unit FROM budgets`)
	if err != nil {
		return err
	}
	series := map[int64]ledger.Series{}
	err = r.each(ctx, func(rows *sql.Rows) error {
		var id int64
		var s ledger.Series
		if err := rows.Scan(&id, &s.Key, &s.Groups, &s.Endpoint, &s.Upstream); err != nil {
			return r.explain(err)
		}
		series[id] = s
		return nil
	}, `SELECT id, key_name, group_names, endpoint, upstream FROM series`)
	r.series = series
	return err
}
