package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// periods are the words for the beginning of the period that runs now.
var periods = map[string]limiter.Period{
	"day": limiter.Day, "today": limiter.Day, "week": limiter.Week, "month": limiter.Month, "quarter": limiter.Quarter,
}

// mostBack is how many days or hours may be counted back.
const mostBack = 36_600

// Of other years there is no ledger, and some are further away than limits can tell.
const (
	firstYear = 1970
	lastYear  = 2200
)

// hoursForm is a time ago that is no whole number of hours.
var hoursForm = regexp.MustCompile(`^[0-9]{1,5}h[0-9]{1,2}m$`)

// instantOf reads what -since and -until take. Days begin in the zone.
func instantOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	begin := func(p limiter.Period, at time.Time) time.Time {
		return limiter.CalendarQuota{Limit: 1, Period: p, Zone: zone}.Begin(at).In(zone)
	}
	day := func(y int, m time.Month, d int) time.Time {
		return begin(limiter.Day, time.Date(y, m, d, 12, 0, 0, 0, zone)) // clocks skip midnights, and no noon
	}
	if text == "hour" {
		return now.Truncate(time.Hour).In(zone), nil
	}
	if p, ok := periods[text]; ok {
		return begin(p, now), nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if y, m, d := t.Date(); y < firstYear || y > lastYear {
			return time.Date(y, m, d, 0, 0, 0, 0, zone), nil
		}
		return day(t.Date()), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.In(zone), nil
	}
	if d, err := time.ParseDuration(text); err == nil && hoursForm.MatchString(text) {
		return now.Add(-d).Truncate(time.Hour).In(zone), nil
	}
	if text != "" {
		number, unit := text[:len(text)-1], text[len(text)-1]
		if n, err := strconv.Atoi(number); err == nil && 0 < n && n <= mostBack {
			switch y, m, d := now.In(zone).Date(); unit {
			case 'w':
				return day(y, m, d-7*n), nil
			case 'd':
				return day(y, m, d-n), nil
			case 'h':
				return now.Add(-time.Duration(n) * time.Hour).Truncate(time.Hour).In(zone), nil
			}
		}
	}
	fix := "write 7d, 24h, month, or a date such as " + now.In(zone).Format(time.DateOnly)
	if near := nearest(strings.ToLower(text), append(slices.Sorted(maps.Keys(periods)), "hour")); near != "" {
		fix = "did you mean " + near + "?"
	}
	return time.Time{}, fmt.Errorf("%q is no time: %s", text, fix)
}

// span is the stretch of time that is reported. The ledger has sums of whole hours of UTC: one belongs to where it begins.
type span struct {
	from, to time.Time // full hours, but for the end of one that is open; to is not part of it
	open     bool      // nobody asked for an end: it is now
	zone     *time.Location
	asked    string // what was asked for, where that is something else
}

// spanOf reads both ends. An empty until is now.
func spanOf(since, until string, now time.Time, zone *time.Location) (span, error) {
	s := span{to: now.In(zone), open: until == "", zone: zone}
	var err error
	if s.from, err = instantOf(since, now, zone); err != nil {
		return s, fmt.Errorf("-since: %w", err)
	}
	if !s.from.Before(now) {
		return s, fmt.Errorf("-since: %s has not come yet", stamp(s.from))
	}
	if s.open {
		return s.full(), nil
	}
	if s.to, err = instantOf(until, now, zone); err != nil {
		return s, fmt.Errorf("-until: %w", err)
	}
	if !s.from.Before(s.to) {
		return s, fmt.Errorf("-until: %s is not after -since, %s; a date is the midnight with which it begins", stamp(s.to), stamp(s.from))
	}
	return s.full(), nil
}

// full is the span of the hours that begin in this one, or of the only one that it is part of.
func (s span) full() span {
	earliest, latest := time.Unix(0, 0), time.Date(lastYear+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	up := func(t time.Time) time.Time {
		switch {
		case t.Before(earliest):
			return earliest.In(s.zone)
		case t.After(latest):
			return latest.In(s.zone)
		}
		return t.Add(time.Hour - time.Nanosecond).Truncate(time.Hour).In(s.zone)
	}
	f := s
	if f.from = up(s.from); !s.open {
		f.to = up(s.to)
	}
	if !f.from.Before(f.to) {
		f.from = s.from.Truncate(time.Hour).In(s.zone)
	}
	if !f.from.Equal(s.from) || !f.to.Equal(s.to) {
		const exact = "2006-01-02 15:04:05"
		f.asked = s.from.Format(exact)
		if !s.open {
			f.asked += " to " + s.to.Format(exact)
		}
	}
	return f
}

// hours are the first hour of UTC that belongs to the span, and the first after it.
func (s span) hours() (from, to time.Time) {
	if to = s.to.UTC(); s.open {
		to = to.Add(2*time.Hour - time.Nanosecond).Truncate(time.Hour) // the clock of who writes may be ahead
	}
	return s.from.UTC(), to
}

// note says where the span is not the one that was asked for; empty: it is.
func (s span) note() string {
	if s.asked == "" {
		return ""
	}
	return fmt.Sprintf("the ledger has sums of full hours of UTC: what follows is of %s, and %s was asked for", s, s.asked)
}

// String says the span in the zone, to the minute.
func (s span) String() string {
	end := " to "
	if s.open {
		end = " until now, "
	}
	return stamp(s.from) + end + stamp(s.to) + ", " + s.zone.String()
}

// stamp is an instant as people read it.
func stamp(t time.Time) string { return t.Format("2006-01-02 15:04") }
