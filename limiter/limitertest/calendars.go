package limitertest

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones must be there on any machine

	"github.com/tokenfare/tokenfare/limiter"
)

// berlin is a place that sets its clocks forward in spring and back in autumn,
// in the night and not at midnight.
func berlin(t testing.TB) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func (d *desk) zone() *time.Location { return berlin(d) }

// until moves the clock on to an instant.
func (d *desk) until(t time.Time) {
	d.Helper()
	by := t.Sub(d.h.now(d))
	if by < 0 || by%d.h.Tick != 0 {
		d.Fatalf("no way from %v to %v in steps of %v", d.h.now(d), t, d.h.Tick)
	}
	if by > 0 {
		d.advance(by)
	}
}

// nextDay returns the first midnight in a zone, no earlier than an instant,
// at which a day begins that is as wanted.
func nextDay(from time.Time, in *time.Location, wanted func(day time.Time) bool) time.Time {
	y, m, d := from.In(in).Date()
	for {
		d++
		if day := time.Date(y, m, d, 0, 0, 0, 0, in); wanted(day) {
			return day
		}
	}
}

func lasts(d time.Duration) func(time.Time) bool {
	return func(day time.Time) bool { return day.AddDate(0, 0, 1).Sub(day) == d }
}

// spans spends a quota at the beginning of a period, and wants it back at the
// end of it and not a tick before.
func (d *desk) spans(name string, p limiter.Period, in *time.Location, want time.Duration) {
	d.Helper()
	b := d.Budget(name, limiter.CalendarQuota{Limit: 10, Period: p, Zone: in})
	if s := d.state(b); d.h.ticks(s.ResetAfter) != want {
		d.Fatalf("%s: whole after %v, want %v", name, s.ResetAfter, want)
	}
	d.passes(b, 10)
	d.waits(b, 1, want)
	d.counts(b, 0, 0)
	d.passes(b, 10)
	d.refused(b, 1)
}

var calendarStories = []story{
	{"starts over at the boundary and not before", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)))
		b := d.Budget("b", limiter.CalendarQuota{Limit: 10, Period: limiter.Day})
		d.advance(15 * time.Hour)
		d.passes(b, 4)
		d.passes(b, 6)
		if s := d.state(b); s.Remaining != 0 || s.Used != 10 || s.ResetAfter != 9*time.Hour {
			d.Fatalf("used up: %+v", s)
		}
		got, s := d.take(b, 4)
		if got.OK || got.HeldOnly || got.RetryAfter != 9*time.Hour || s.LeftAfterWaiting != 0 {
			d.Fatalf("used up: %+v, %+v", got, s)
		}
		d.waits(b, 10, 9*time.Hour)
		d.passes(b, 10)
		d.told(b, 1, 24*time.Hour)
	}},
	{"an hour", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)).Add(5*time.Hour + 20*time.Minute))
		d.spans("hour", limiter.Hour, nil, 40*time.Minute)
	}},
	{"a day of 23 hours", func(d *desk) {
		d.until(nextDay(d.h.now(d), d.zone(), lasts(23*time.Hour)))
		d.spans("day", limiter.Day, d.zone(), 23*time.Hour)
	}},
	{"a day of 25 hours", func(d *desk) {
		d.until(nextDay(d.h.now(d), d.zone(), lasts(25*time.Hour)))
		d.spans("day", limiter.Day, d.zone(), 25*time.Hour)
	}},
	{"an hour that clocks show twice is two", func(d *desk) {
		d.until(nextDay(d.h.now(d), d.zone(), lasts(25*time.Hour)).Add(2*time.Hour + 30*time.Minute))
		d.spans("hour", limiter.Hour, d.zone(), 30*time.Minute)
	}},
	{"a week with a change of clocks", func(d *desk) {
		monday := func(day time.Time) bool {
			return day.Weekday() == time.Monday && lasts(23*time.Hour)(day.AddDate(0, 0, 6))
		}
		d.until(nextDay(d.h.now(d), d.zone(), monday))
		d.spans("week", limiter.Week, d.zone(), (7*24-1)*time.Hour)
	}},
	{"a week begins on Monday", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, func(day time.Time) bool { return day.Weekday() == time.Saturday }))
		d.spans("week", limiter.Week, nil, 48*time.Hour)
	}},
	{"a month with a leap day", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, func(day time.Time) bool {
			return day.Month() == time.February && day.Day() == 1 && day.AddDate(0, 1, -1).Day() == 29
		}))
		d.spans("month", limiter.Month, nil, 29*24*time.Hour)
	}},
	{"a month of 28 days, in a zone", func(d *desk) {
		d.until(nextDay(d.h.now(d), d.zone(), func(day time.Time) bool {
			return day.Month() == time.February && day.Day() == 1 && day.AddDate(0, 1, -1).Day() == 28
		}))
		d.spans("month", limiter.Month, d.zone(), 28*24*time.Hour)
	}},
	{"a quarter over the change of clocks", func(d *desk) {
		first := nextDay(d.h.now(d), d.zone(), func(day time.Time) bool { return day.Month() == time.January && day.Day() == 1 })
		d.until(first)
		d.spans("quarter", limiter.Quarter, d.zone(), first.AddDate(0, 3, 0).Sub(first))
	}},
	{"the day of a zone, not of another", func(d *desk) {
		midnight := nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour))
		d.until(midnight)
		here := d.Budget("here", limiter.CalendarQuota{Limit: 10, Period: limiter.Day, Zone: d.zone()})
		there := d.Budget("there", limiter.CalendarQuota{Limit: 10, Period: limiter.Day})
		d.passes(here, 10)
		d.passes(there, 10)
		next := nextDay(midnight, d.zone(), func(time.Time) bool { return true })
		d.told(here, 1, next.Sub(midnight))
		d.told(there, 1, 24*time.Hour)
	}},
}
