package limiter

import (
	"os"
	"testing"
	"time"
	_ "time/tzdata" // the zones must be there on any machine

	"pgregory.net/rapid"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestBoundaries(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		period     Period
		at, want   string
	}{
		{"a day", "UTC", Day, "2026-11-20T15:04:05Z", "2026-11-21T00:00:00Z"},
		{"a boundary belongs to the period it begins", "UTC", Day, "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"a day of 23 hours", "Europe/Berlin", Day, "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"a day of 25 hours", "Europe/Berlin", Day, "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{"a day without midnight", "Africa/Cairo", Day, "2024-04-25T12:00:00+02:00", "2024-04-26T01:00:00+03:00"},
		{"a day whose last hour comes twice", "Africa/Cairo", Day, "2024-10-31T23:30:00+03:00", "2024-11-01T00:00:00+02:00"},
		{"a midnight that comes twice ends the day the first time", "America/Havana", Day, "2024-11-02T12:00:00-04:00", "2024-11-03T00:00:00-04:00"},
		{"and not the second time", "America/Havana", Day, "2024-11-03T00:30:00-04:00", "2024-11-04T00:00:00-05:00"},
		{"a minute of the new day before clocks go back to the old one", "America/St_Johns", Day, "2010-11-06T23:30:00-03:30", "2010-11-08T00:00:00-03:30"},
		{"a day that was left out", "Pacific/Apia", Day, "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"a week ends before Monday", "Europe/Berlin", Week, "2026-11-22T23:59:59+01:00", "2026-11-23T00:00:00+01:00"},
		{"a week from Monday", "Europe/Berlin", Week, "2026-11-23T00:00:00+01:00", "2026-11-30T00:00:00+01:00"},
		{"a week over new year", "UTC", Week, "2026-12-30T10:00:00Z", "2027-01-04T00:00:00Z"},
		{"a month of 28 days", "UTC", Month, "2026-02-03T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"a month of 29 days", "UTC", Month, "2028-02-29T23:00:00Z", "2028-03-01T00:00:00Z"},
		{"the 31st", "UTC", Month, "2026-01-31T12:00:00Z", "2026-02-01T00:00:00Z"},
		{"December", "America/New_York", Month, "2026-12-31T23:59:59-05:00", "2027-01-01T00:00:00-05:00"},
		{"a month in the zone, not in UTC", "Asia/Tokyo", Month, "2026-10-31T16:00:00Z", "2026-12-01T00:00:00+09:00"},
		{"a quarter", "UTC", Quarter, "2026-11-20T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"a quarter over the change of clocks", "Europe/Berlin", Quarter, "2026-03-31T23:00:00+02:00", "2026-04-01T00:00:00+02:00"},
		{"an hour", "UTC", Hour, "2026-11-20T15:04:05.5Z", "2026-11-20T16:00:00Z"},
		{"an hour where clocks are 45 minutes off", "Asia/Kathmandu", Hour, "2026-11-20T15:10:00+05:45", "2026-11-20T16:00:00+05:45"},
		{"the hour before the repeated one", "Europe/Berlin", Hour, "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00"},
		{"the repeated hour", "Europe/Berlin", Hour, "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"},
		{"the hour before the one left out", "Europe/Berlin", Hour, "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"an hour and a half", "Australia/Lord_Howe", Hour, "2026-04-05T01:15:00+11:00", "2026-04-05T02:00:00+10:30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339Nano, c.at)
			if err != nil {
				t.Fatal(err)
			}
			r := CalendarQuota{Limit: 1, Period: c.period, Zone: zone(t, c.zone)}
			if got := time.Unix(0, r.boundaryAfter(at.UnixNano())).In(r.Zone).Format(time.RFC3339Nano); got != c.want {
				t.Errorf("after %s: %s, want %s", c.at, got, c.want)
			}
		})
	}
}

// TestBoundariesPartitionTime checks that whoever starts in a period agrees on
// where it ends, and that clocks then show a new one.
func TestBoundariesPartitionTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{
			"UTC", "Europe/Berlin", "America/New_York", "America/Havana", "America/Sao_Paulo", "Asia/Beirut",
			"Africa/Cairo", "Australia/Lord_Howe", "Pacific/Apia", "America/Asuncion", "Asia/Kathmandu",
		}).Draw(t, "zone")
		r := CalendarQuota{Limit: 1, Period: Period(rapid.IntRange(int(Hour), int(Quarter)).Draw(t, "period")), Zone: zone(t, name)}
		at := rapid.Int64Range(0, 60*365*24*3600).Draw(t, "at") * int64(time.Second)
		end := r.boundaryAfter(at)
		if end <= at {
			t.Fatalf("boundary %v not after %v", time.Unix(0, end), time.Unix(0, at))
		}
		between := rapid.Int64Range(at, end-1).Draw(t, "between")
		if got := r.boundaryAfter(between); got != end {
			t.Fatalf("boundary %v from %v, %v from %v", time.Unix(0, end), time.Unix(0, at), time.Unix(0, got), time.Unix(0, between))
		}
		before, after := time.Unix(0, end-1).In(r.Zone), time.Unix(0, end).In(r.Zone)
		if r.Period != Hour && before.Day() == after.Day() {
			t.Fatalf("still the same day at %v", after)
		}
		if longest := map[Period]time.Duration{Hour: 90 * time.Minute, Day: 49 * time.Hour, Week: 8 * 24 * time.Hour, Month: 32 * 24 * time.Hour, Quarter: 93 * 24 * time.Hour}[r.Period]; time.Duration(end-at) > longest {
			t.Fatalf("a %v of more than %v", r.Period, time.Duration(end-at))
		}
	})
}

func TestClockSetBack(t *testing.T) {
	r := CalendarQuota{Limit: 10, Period: Day}
	at := func(s string) instant {
		when, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return instant{wall: when.UnixNano()}
	}
	c := newCalendar(r, at("2026-11-20T23:00:00Z").wall)
	c.spend(10)
	c.advance(at("2026-11-21T00:00:01Z"))
	c.spend(10)
	c.advance(at("2026-11-20T23:59:59Z"))
	if d := c.wait(1); d != 24*time.Hour+time.Second {
		t.Fatalf("waits %v, want to the end of the period that had begun", d)
	}
	c.advance(at("2026-11-21T00:00:00Z"))
	if d := c.wait(1); d != 24*time.Hour {
		t.Fatalf("waits %v: the period began twice", d)
	}
}

// TestBoundariesOfLeapYears works out the new year of every leap year in sight
// with zones as Go brings them, whose list of changes ends early: from there on
// ZoneBounds has named ends in the past (golang/go#81583). The system's zones
// list more, and hide that.
func TestBoundariesOfLeapYears(t *testing.T) {
	for _, name := range []string{"Berlin", "New_York", "Sydney"} {
		data, err := os.ReadFile("testdata/zones/" + name)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			t.Fatal(err)
		}
		for year := 2000; year < 2100; year++ {
			for _, period := range []Period{Day, Week, Month, Quarter} {
				late := time.Date(year, 12, 31, 13, 0, 0, 0, zone)
				end := time.Unix(0, CalendarQuota{Limit: 1, Period: period, Zone: zone}.boundaryAfter(late.UnixNano())).In(zone)
				want := time.Date(year+1, 1, 1, 0, 0, 0, 0, zone)
				if period == Week {
					want = time.Date(year, 12, 31+1+(7-int(late.Weekday()))%7, 0, 0, 0, 0, zone)
				}
				if !end.Equal(want) {
					t.Fatalf("%s, %v after %v ends at %v, want %v", name, period, late, end, want)
				}
			}
		}
	}
}
