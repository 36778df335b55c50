package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Hours reads the hourly sums. Where hours need not be told apart, most of them come from the sums of days, which are a tenth as
// many.
func (r *snapshot) Hours(ctx context.Context, q ledger.HourQuery, each func(ledger.Hour, ledger.Sums) error) error {
	roll, err := r.roll(ctx)
	if err != nil {
		return err
	}
	from, to := ledger.HourOf(q.From), ledger.HourOf(q.To)
	switch {
	case q.Hour && q.Day == nil:
		err = r.sums(ctx, perHour, q, from, to, each)
	case q.Day != nil:
		err = r.localDays(ctx, q, from, to, each)
	default:
		err = r.span(ctx, q, from, to, each)
	}
	if err != nil {
		return err
	}
	for h, s := range roll.Hours {
		if h.Start >= from && h.Start < to {
			if err := each(q.Only(h), *s); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumTable is one of the tables of sums.
type sumTable struct{ name, start string }

var (
	perHour = sumTable{"hours", "hour"}
	perDay  = sumTable{"days", "day"}
)

// day is how long a day of UTC is, in seconds.
const day = 24 * 3600

// span reads sums that go over all hours of an interval.
func (r *snapshot) span(ctx context.Context, q ledger.HourQuery, from, to int64, each func(ledger.Hour, ledger.Sums) error) error {
	first, last := (from+day-1)/day*day, to/day*day
	if first >= last {
		return r.sums(ctx, perHour, q, from, to, each)
	}
	if err := r.sums(ctx, perHour, q, from, first, each); err != nil {
		return err
	}
	if err := r.sums(ctx, perDay, q, first, last, each); err != nil {
		return err
	}
	return r.sums(ctx, perHour, q, last, to, each)
}

// localDays reads sums of the days of a zone.
func (r *snapshot) localDays(ctx context.Context, q ledger.HourQuery, from, to int64, each func(ledger.Hour, ledger.Sums) error) error {
	d := localDays{snapshot: r, query: q}
	d.query.Hour = false // by its parts nobody asks
	var oldest sql.NullInt64
	if err := r.tx.QueryRowContext(ctx, r.store.place(`SELECT MIN(hour) FROM hours WHERE hour >= ?`), from).Scan(&oldest); err != nil || !oldest.Valid {
		return r.explain(err)
	}
	for from = oldest.Int64; from < to; {
		first, next := ledger.DayOf(from, q.Day)
		sums, err := d.read(ctx, from, min(next, to))
		if err != nil {
			return err
		}
		for h, s := range sums {
			h.Start = first
			if err := each(h, *s); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// localDays reads days of a zone, one after the other.
type localDays struct {
	*snapshot
	query ledger.HourQuery

	// The hours that were read last. What one day takes from a day of UTC, the next gives back.
	from, to int64
	hours    map[ledger.Hour]ledger.Sums
}

// read adds up the hours of a day, or of a part of it. Most of it is a day of UTC: the sums of that are taken, and hours that
// only one of the two has are added or taken off, as long as these are fewer than the hours there are.
func (d *localDays) read(ctx context.Context, from, to int64) (map[ledger.Hour]*ledger.Sums, error) {
	sums := map[ledger.Hour]*ledger.Sums{}
	add := func(h ledger.Hour, s ledger.Sums) error {
		if sums[h] == nil {
			sums[h] = new(ledger.Sums)
		}
		sums[h].Add(s)
		return nil
	}
	utc := (from + day/2) / day * day
	if abs(from-utc)+abs(to-utc-day) >= to-from {
		return sums, d.sums(ctx, perHour, d.query, from, to, add)
	}
	if err := d.sums(ctx, perDay, d.query, utc, utc+day, add); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		from, to int64
		surplus  bool
	}{{from, utc, false}, {utc, from, true}, {to, utc + day, true}, {utc + day, to, false}} { // of each pair, one is empty
		hours, err := d.part(ctx, part.from, part.to)
		if err != nil {
			return nil, err
		}
		for h, s := range hours {
			if part.surplus {
				s = s.Negated()
			}
			_ = add(h, s) // is never refused
		}
	}
	for h, s := range sums {
		if *s == (ledger.Sums{}) {
			delete(sums, h) // it was in none of our hours
		}
	}
	return sums, nil
}

// part reads the hours that are in one day of ours and in another day of UTC.
func (d *localDays) part(ctx context.Context, from, to int64) (map[ledger.Hour]ledger.Sums, error) {
	switch {
	case from >= to:
		return nil, nil
	case d.hours != nil && d.from == from && d.to == to:
		return d.hours, nil
	}
	hours := map[ledger.Hour]ledger.Sums{}
	err := d.sums(ctx, perHour, d.query, from, to, func(h ledger.Hour, s ledger.Sums) error {
		hours[h] = s
		return nil
	})
	d.from, d.to, d.hours = from, to, hours
	return hours, err
}

func abs(n int64) int64 { return max(n, -n) }

// sums reads a table of sums.
func (r *snapshot) sums(ctx context.Context, table sumTable, q ledger.HourQuery, from, to int64, each func(ledger.Hour, ledger.Sums) error) error {
	if from >= to {
		return nil
	}
	list, err := r.sumsOf(ctx, table, q, from, to, false)
	if err != nil && ctx.Err() == nil {
		// SQLite does not add up what does not fit in 64 bits. In halves it does, and takes twice as long.
		if halves, bad := r.sumsOf(ctx, table, q, from, to, true); bad == nil {
			list, err = halves, nil
		}
	}
	if err != nil {
		return err
	}
	for i := range list {
		if err := each(list[i].Hour, list[i].Sums); err != nil {
			return err
		}
	}
	return nil
}

type hourSums struct {
	ledger.Hour
	ledger.Sums
}

func (r *snapshot) sumsOf(ctx context.Context, table sumTable, q ledger.HourQuery, from, to int64, halves bool) (list []hourSums, err error) {
	var columns, by []string
	column := func(wanted bool, name, otherwise string) {
		if wanted {
			by = append(by, name)
			otherwise = name
		}
		columns = append(columns, otherwise)
	}
	// Told apart by their beginnings, too, sums by series come in the order of the table, and need not be sorted.
	column(q.Hour || q.Series && table == perDay, table.start, "0")
	column(q.Series, "series", "0")
	column(q.Model, "model", "''")
	column(q.Model, "served", "''")
	column(q.Label, "label", "''")
	for c := range strings.SplitSeq(sumColumns, ", ") {
		columns = append(columns, sumOf(c, halves))
	}
	query := "SELECT COUNT(*), " + strings.Join(columns, ", ") + " FROM " + table.name + " WHERE " + table.start + " >= ? AND " + table.start + " < ?"
	if len(by) > 0 {
		query += " GROUP BY " + strings.Join(by, ", ")
	}
	err = r.each(ctx, func(rows *sql.Rows) error {
		var n, series int64
		var h hourSums
		into := []any{&n, &h.Start, &series, &h.Model, &h.Served, &h.Label}
		sums := scanSums(sumsIn(&h.Sums), halves)
		if err := rows.Scan(append(into, sums.columns()...)...); err != nil {
			return r.explain(err)
		}
		if n == 0 {
			return nil // without names there is one row though there are none
		}
		sums.add()
		if !q.Hour {
			h.Start = 0
		}
		h.Series = r.series[series]
		list = append(list, h)
		return nil
	}, query, from, to)
	return list, err
}

// sumsIn are the figures of sumColumns.
func sumsIn(s *ledger.Sums) []*int64 {
	return []*int64{
		&s.Requests, &s.Failed, &s.Unreported, &s.Counted, &s.Retries, &s.Input, &s.CachedInput, &s.CacheWrite, &s.Output, &s.Reasoning,
		&s.Images, &s.Milliseconds, &s.Characters, (*int64)(&s.Cost),
	}
}
