package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// What is read of an exchange. Without an end row its columns are NULL.
const exchangeColumns = `b.id, b.series, b.model, b.label, b.retry, b.stream, b.estimate, b.input, b.output, b.other, b.reserved, b.price, b.charges,
	e.seq, e.status, e.ending, e.basis, e.served, e.input, e.cached, e.cache_write, e.output, e.reasoning, e.other, e.cost, e.took, e.first_token, e.upstream_id, e.charges`

// exchange reads one row of them.
func (r *snapshot) exchange(rows *sql.Rows) (*ledger.Exchange, error) {
	var (
		x                                             ledger.Exchange
		b                                             = &x.Begin
		series                                        int64
		estimate, most, charges                       string
		end                                           ledger.End
		seq                                           sql.NullInt64
		status, took, first                           sql.NullInt64
		ending, basis, served, other, upstream, spent sql.NullString
	)
	u := &end.Usage
	err := rows.Scan(&b.Exchange, &series, &b.Model, &b.Label, &b.Retry, &b.Stream, &estimate, &b.Most.Input, &b.Most.Output, &most, &b.Reserved, &b.Price, &charges,
		&seq, &status, &ending, &basis, &served, nullable{&u.Input}, nullable{&u.CachedInput}, nullable{&u.CacheWrite}, nullable{&u.Output}, nullable{&u.Reasoning}, &other,
		nullable{(*int64)(&end.Cost)}, &took, &first, &upstream, &spent)
	if err != nil {
		return nil, r.explain(err)
	}
	b.Series = r.series[series]
	if b.Estimate, err = readEstimate(estimate); err != nil {
		return nil, err
	}
	if err := readOther(most, &b.Most); err != nil {
		return nil, err
	}
	if b.Charges, err = readCharges(charges, r.budgets); err != nil {
		return nil, err
	}
	if !seq.Valid {
		return &x, nil
	}
	end.Exchange, end.Seq, end.Status = b.Exchange, ledger.ID(seq.Int64), int(status.Int64)
	end.Ending, end.Basis, end.Served, end.UpstreamID = ending.String, basis.String, served.String, upstream.String
	end.Took, end.FirstToken = time.Duration(took.Int64)*time.Microsecond, time.Duration(first.Int64)*time.Microsecond
	if err := readOther(other.String, &end.Usage); err != nil {
		return nil, err
	}
	if end.Charges, err = readCharges(spent.String, r.budgets); err != nil {
		return nil, err
	}
	x.End = &end
	return &x, nil
}

// exchanges calls f for what a query for exchangeColumns finds.
func (r *snapshot) exchanges(ctx context.Context, f func(*ledger.Exchange) error, query string, args ...any) error {
	if err := r.names(ctx); err != nil {
		return err
	}
	return r.each(ctx, func(rows *sql.Rows) error {
		x, err := r.exchange(rows)
		if err != nil {
			return err
		}
		return f(x)
	}, "SELECT "+exchangeColumns+" "+query, args...)
}

// Ended reads exchanges by when their end was recorded.
func (r *snapshot) Ended(ctx context.Context, from, to time.Time, each func(*ledger.Exchange) error) error {
	return r.exchanges(ctx, each, `FROM ends e JOIN begins b ON b.id = e.id WHERE e.seq >= ? AND e.seq < ? ORDER BY e.seq`, int64(ledger.At(from)), int64(ledger.At(to)))
}

// Began reads exchanges by when they began.
func (r *snapshot) Began(ctx context.Context, from, to time.Time, each func(*ledger.Exchange) error) error {
	return r.exchanges(ctx, each, `FROM begins b LEFT JOIN ends e ON e.id = b.id WHERE b.id >= ? AND b.id < ? ORDER BY b.id`, int64(ledger.At(from)), int64(ledger.At(to)))
}

// Find reads one exchange.
func (r *snapshot) Find(ctx context.Context, id ledger.ID) (found *ledger.Exchange, err error) {
	err = r.exchanges(ctx, func(x *ledger.Exchange) error {
		found = x
		return nil
	}, `FROM begins b LEFT JOIN ends e ON e.id = b.id WHERE b.id = ?`, int64(id))
	if err == nil && found != nil {
		err = r.draws(ctx, found)
	}
	return found, err
}

// draws reads those of an exchange.
func (r *snapshot) draws(ctx context.Context, x *ledger.Exchange) error {
	return r.each(ctx, func(rows *sql.Rows) error {
		d := ledger.Draw{Exchange: x.Begin.Exchange}
		var most, charges string
		if err := rows.Scan(&d.Step, &d.More.Input, &d.More.Output, &most, &d.Reserved, &charges); err != nil {
			return r.explain(err)
		}
		if err := readOther(most, &d.More); err != nil {
			return err
		}
		var err error
		if d.Charges, err = readCharges(charges, r.budgets); err != nil {
			return err
		}
		x.Draws = append(x.Draws, d)
		return nil
	}, `SELECT step, input, output, other, reserved, charges FROM draws WHERE id = ? ORDER BY step`, int64(x.Begin.Exchange))
}

// corrections calls f for what a query finds.
func (r *snapshot) corrections(ctx context.Context, f func(*ledger.Correction) error, query string, args ...any) error {
	if err := r.names(ctx); err != nil {
		return err
	}
	return r.each(ctx, func(rows *sql.Rows) error {
		var c ledger.Correction
		var series int64
		var u usageColumns
		var charges string
		err := rows.Scan(&c.Seq, &c.Exchange, &series, &c.Model, &c.Served, &c.Label, &c.Was, &c.Basis,
			&u.u.Input, &u.u.CachedInput, &u.u.CacheWrite, &u.u.Output, &u.u.Reasoning, &u.other, &c.Cost, &charges, &c.Reason)
		if err != nil {
			return r.explain(err)
		}
		c.Series = r.series[series]
		if c.Usage, err = u.read(); err != nil {
			return err
		}
		if c.Charges, err = readCharges(charges, r.budgets); err != nil {
			return err
		}
		return f(&c)
	}, `SELECT c.seq, c.id, c.series, c.model, c.served, c.label, c.was, c.basis, c.input, c.cached, c.cache_write, c.output, c.reasoning, c.other, c.cost, c.charges, c.reason
		FROM corrections c `+query, args...)
}

// Corrections reads those of exchanges that began in an interval.
func (r *snapshot) Corrections(ctx context.Context, from, to time.Time, each func(*ledger.Correction) error) error {
	return r.corrections(ctx, each, `WHERE c.id >= ? AND c.id < ? ORDER BY c.seq`, int64(ledger.At(from)), int64(ledger.At(to)))
}

// usageColumns are the columns of a usage.
type usageColumns struct {
	u     cost.Usage
	other string
}

func (c *usageColumns) read() (cost.Usage, error) {
	err := readOther(c.other, &c.u)
	return c.u, err
}

// nullable reads NULL as 0.
type nullable struct{ n *int64 }

func (n nullable) Scan(v any) error {
	var null sql.NullInt64
	if err := null.Scan(v); err != nil {
		return err
	}
	*n.n = null.Int64
	return nil
}
