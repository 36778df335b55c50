package main

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTimesOfAReport(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 40, 30, 0, time.UTC) // a Saturday; in Berlin it is Sunday already
	for _, c := range []struct{ zone, text, want string }{
		{"UTC", "7d", "2026-11-14T00:00:00Z"},
		{"Europe/Berlin", "7d", "2026-11-15T00:00:00+01:00"},
		{"Europe/Berlin", "30d", "2026-10-23T00:00:00+02:00"}, // its clocks went back meanwhile
		{"Europe/Berlin", "2w", "2026-11-08T00:00:00+01:00"},
		{"Europe/Berlin", "24h", "2026-11-21T00:00:00+01:00"},
		{"Europe/Berlin", "hour", "2026-11-22T00:00:00+01:00"},
		{"Europe/Berlin", "day", "2026-11-22T00:00:00+01:00"},
		{"Europe/Berlin", "today", "2026-11-22T00:00:00+01:00"},
		{"UTC", "week", "2026-11-16T00:00:00Z"},
		{"Europe/Berlin", "month", "2026-11-01T00:00:00+01:00"},
		{"America/New_York", "quarter", "2026-10-01T00:00:00-04:00"},
		{"Europe/Berlin", "2026-07-01", "2026-07-01T00:00:00+02:00"},
		{"Europe/Berlin", "2026-07-01T12:30:00Z", "2026-07-01T14:30:00+02:00"},
		{"America/Santiago", "2026-09-06", "2026-09-06T01:00:00-03:00"}, // there is no midnight
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},     // there is no such day
		{"Asia/Kolkata", "day", "2026-11-22T00:00:00+05:30"},
		{"Asia/Kolkata", "3h", "2026-11-22T01:30:00+05:30"},
		{"UTC", "1h30m", "2026-11-21T22:00:00Z"},
		{"UTC", "0h59m", "2026-11-21T22:00:00Z"},
		{"UTC", "0001-01-01", "0001-01-01T00:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := instantOf(c.text, now, zone)
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("%s in %s: %s %v, want %s", c.text, c.zone, got.Format(time.RFC3339), err, c.want)
		}
	}
	for _, text := range []string{"", "d", "0d", "-1d", "1.5d", "1.5h", "1h30", "1h30m5s", "90s", "99999999d", "7 d", "7D", "7m", "2026-02-30", "26-01-01", "2026-1-1", "month 1", "\x1b[2J"} {
		if got, err := instantOf(text, now, time.UTC); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
}

// TestDaysHaveTheirHours: with a call in every hour, the days of a report have as many as they have hours. An hour of UTC belongs
// to the day in which it begins.
func TestDaysHaveTheirHours(t *testing.T) {
	for _, c := range []struct {
		zone, from, until string
		want              map[string]int
	}{
		{"UTC", "2026-10-24", "2026-10-26", map[string]int{"2026-10-24": 24, "2026-10-25": 24}},
		{"Europe/Berlin", "2026-10-24", "2026-10-27", map[string]int{"2026-10-24": 24, "2026-10-25": 25, "2026-10-26": 24}},
		{"Europe/Berlin", "2026-03-28", "2026-03-31", map[string]int{"2026-03-28": 24, "2026-03-29": 23, "2026-03-30": 24}},
		{"America/New_York", "2026-11-01", "2026-11-03", map[string]int{"2026-11-01": 25, "2026-11-02": 24}},
		{"America/Santiago", "2026-09-05", "2026-09-08", map[string]int{"2026-09-05": 24, "2026-09-06": 23, "2026-09-07": 24}},
		{"Australia/Lord_Howe", "2026-04-04", "2026-04-07", map[string]int{"2026-04-04": 24, "2026-04-05": 25, "2026-04-06": 24}},
		{"Asia/Kolkata", "2026-06-01", "2026-06-03", map[string]int{"2026-06-01": 24, "2026-06-02": 24}},
		{"Pacific/Kiritimati", "2026-06-01", "2026-06-02", map[string]int{"2026-06-01": 24}},
		{"America/Los_Angeles", "2026-06-01T05:30:00-07:00", "2026-06-03", map[string]int{"2026-06-01": 18, "2026-06-02": 24}},
	} {
		u := newUsageBook(t)
		u.write("config.yaml", "timezone: "+c.zone+"\n")
		first, err := time.Parse(time.DateOnly, c.from[:10])
		if err != nil {
			t.Fatal(err)
		}
		for hour := range 24 * 6 {
			u.call(first.Add(time.Duration(hour-30)*time.Hour), "alice", "", "m", "", nil)
		}
		u.keep()
		got := map[string]int{}
		_, printed, _ := u.run("-by", "day", "-csv", "-since", c.from, "-until", c.until)
		for line := range strings.SplitSeq(printed, "\r\n") {
			if fields := strings.Split(line, ","); len(fields) > 2 && fields[0] != "day" {
				got[fields[0]], _ = strconv.Atoi(fields[1])
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.zone, got, c.want)
		}
		for day, n := range c.want {
			if got[day] != n {
				t.Errorf("%s: %v, want %v", c.zone, got, c.want)
			}
		}
	}
}

// TestAReportSaysWhichHoursItHas: the figures are those of the span that stands above them, and whoever asked for another is told.
func TestAReportSaysWhichHoursItHas(t *testing.T) {
	u := newUsageBook(t)
	u.write("config.yaml", "timezone: Europe/Berlin\n")
	u.call(time.Date(2026, 11, 21, 0, 0, 37, 0, time.UTC), "alice", "", "m", "", nil) // at 01:00:37 in Berlin
	u.keep()
	for _, c := range []struct {
		since, until       string
		title, from, to    string
		requests, mentions string
	}{
		{"2026-11-21T00:59:00+01:00", "2026-11-21T01:00:38+01:00", "2026-11-21 01:00 to 2026-11-21 02:00, Europe/Berlin", "2026-11-21T01:00:00+01:00", "2026-11-21T02:00:00+01:00", "1", "2026-11-21 00:59:00 to 2026-11-21 01:00:38 was asked for"},
		{"2026-11-21T01:10:00+01:00", "2026-11-21T01:20:00+01:00", "2026-11-21 01:00 to 2026-11-21 02:00, Europe/Berlin", "2026-11-21T01:00:00+01:00", "2026-11-21T02:00:00+01:00", "1", "2026-11-21 01:10:00 to 2026-11-21 01:20:00 was asked for"},
		{"2026-11-21T01:00:00+01:00", "2026-11-22", "2026-11-21 01:00 to 2026-11-22 00:00, Europe/Berlin", "2026-11-21T01:00:00+01:00", "2026-11-22T00:00:00+01:00", "1", ""},
		{"2026-11-21T00:30:00+01:00", "", "2026-11-21 01:00 until now, ", "2026-11-21T01:00:00+01:00", "", "1", "2026-11-21 00:30:00 was asked for"},
		{"0001-01-01", "9999-12-31", "1970-01-01 01:00 to 2201-01-01 01:00, Europe/Berlin", "1970-01-01T01:00:00+01:00", "2201-01-01T01:00:00+01:00", "1", "0001-01-01 00:00:00 to 9999-12-31 00:00:00 was asked for"},
	} {
		args := []string{"-by", "model", "-since", c.since}
		if c.until != "" {
			args = append(args, "-until", c.until)
		}
		code, table, said := u.run(args...)
		if code != 0 || !strings.HasPrefix(table, c.title) || !strings.Contains(strings.Join(strings.Fields(table), " "), " m "+c.requests+" ") {
			t.Errorf("%v: exit code %d, want %s and %s requests:\n%s", args, code, c.title, c.requests, table)
		}
		if (c.mentions == "") != (said == "") || !strings.Contains(said, c.mentions) {
			t.Errorf("%v: it says %q, want %q", args, said, c.mentions)
		}
		_, line, _ := u.run(append(args, "-json")...)
		if !strings.Contains(line, `"from":"`+c.from+`"`) || c.to != "" && !strings.Contains(line, `"to":"`+c.to+`"`) {
			t.Errorf("%v: want from %s to %s: %s", args, c.from, c.to, line)
		}
	}
}
