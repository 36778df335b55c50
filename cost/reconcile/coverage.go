package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// coverage says which time a table of an export sums up, by day.
type coverage map[Date][]span

// span is a part of a day, in seconds since midnight.
type span struct {
	from, to int32
	width    int32 // of the buckets that it is made of
	source   int32
}

var errOtherDays = errors.New("it is not within one day in UTC: export by the day (bucket_width=1d) or hour, beginning at midnight UTC, not by the days of another time zone")

// cover notes that a table of a kind sums up the time from one instant to another, which must be within one day.
func (r *Reader) cover(kind string, from, to time.Time) error {
	date := DateOf(from)
	start := date.Start().Unix()
	s := span{from: int32(from.Unix() - start), source: int32(len(r.sources) - 1)}
	switch length := to.Unix() - from.Unix(); {
	case length <= 0:
		return fmt.Errorf("it ends before it begins: at %s", to.Format(time.RFC3339))
	case length > secondsOfDay || int64(s.from)+length > secondsOfDay:
		return errOtherDays
	default:
		s.width = int32(length)
		s.to = s.from + s.width
	}
	all := r.kinds[kind]
	if all == nil {
		all = coverage{}
		r.kinds[kind] = all
	}
	spans := all[date]
	if n := len(spans) - 1; n >= 0 && spans[n].width == s.width && spans[n].source == s.source {
		switch {
		case s.from >= spans[n].from && s.to <= spans[n].to:
			return nil
		case s.from == spans[n].to:
			spans[n].to = s.to
			return nil
		}
	}
	all[date] = append(spans, s)
	return nil
}

// whole lists the days that are covered from midnight to midnight, in order, and notes those that are covered in part.
func (r *Reader) whole(kind string) ([]Date, error) {
	var days []Date
	for _, date := range sortedDates(r.kinds[kind]) {
		spans := slices.Clone(r.kinds[kind][date])
		slices.SortFunc(spans, func(a, b span) int { return int(a.from) - int(b.from) })
		covered, gap := int32(0), false
		for i, s := range spans {
			if i > 0 && s.from < covered && s.width != spans[i-1].width {
				return nil, fmt.Errorf("%s of %s is in %s and, by another width, in %s, and would count twice: leave one of them out",
					kind, date, r.sources[spans[i-1].source], r.sources[s.source])
			}
			gap = gap || s.from > covered
			covered = max(covered, s.to)
		}
		if gap || covered < secondsOfDay {
			r.note("%s is only partly in the export (%s), so it was left out: export whole days, from midnight to midnight UTC", date, kind)
			continue
		}
		days = append(days, date)
	}
	return days, nil
}

func sortedDates(c coverage) []Date {
	days := make([]Date, 0, len(c))
	for d := range c {
		days = append(days, d)
	}
	slices.Sort(days)
	return days
}

// coverRange notes that a table of days alone covers everything from its first day to its last: what has no row was not
// used.
func (r *Reader) coverRange(kind string, first, last Date) error {
	if last-first >= maxRange {
		return fmt.Errorf("its days run from %s to %s: is one of them mistyped?", first, last)
	}
	for d := first; d <= last; d++ {
		if err := r.cover(kind, d.Start(), (d + 1).Start()); err != nil {
			return err
		}
	}
	return nil
}
