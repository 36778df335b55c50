package limiter

import "time"

// calendar is the counter of a CalendarQuota. It goes by the wall clock, and
// only forward: should the clock be set back across a boundary, the period
// that had begun goes on until its own end, so nothing is handed out twice.
type calendar struct {
	rule   CalendarQuota
	wall   int64  // the clock as last read, Unix nanoseconds
	end    int64  // the boundary at which the period is over
	period uint64 // counts the periods, to tell which one a hold was charged to
	tally
}

func newCalendar(r CalendarQuota, wall int64) *calendar {
	return &calendar{rule: r, wall: wall, end: r.boundaryAfter(wall)}
}

// setTerms takes a newer quota. What the current period has counted counts on;
// another kind of period or zone moves the period's end.
func (c *calendar) setTerms(t *terms) {
	r := t.rule.(CalendarQuota)
	moved := r.Period != c.rule.Period || r.boundaryAfter(c.end-1) != c.end
	c.rule = r
	if moved {
		c.end = r.boundaryAfter(c.wall)
	}
}

func (c *calendar) advance(now instant) {
	c.wall = now.wall
	if c.wall >= c.end {
		c.end = c.rule.boundaryAfter(c.wall)
		c.period++
		c.used, c.held = 0, 0
	}
}

// current reports whether what was consumed at a time of the wall clock counts
// in the period that goes on now. Each period has its own, and the present one
// also what comes now, wherever the clock was set back to.
func (c *calendar) current(wall int64) bool {
	return wall >= c.wall || c.rule.boundaryAfter(wall) >= c.end
}

func (c *calendar) wait(n int64) time.Duration {
	if c.used+c.held <= c.rule.Limit-n {
		return 0
	}
	return time.Duration(c.end - c.wall)
}

func (c *calendar) after(d time.Duration) int64 {
	if int64(d) >= c.end-c.wall {
		return 0
	}
	return c.used + c.held
}

func (c *calendar) fitsWithoutHeld(n int64) bool { return c.used <= c.rule.Limit-n }

func (c *calendar) describe() (used, held int64, open int, untilWhole time.Duration) {
	return c.used, c.held, c.open, time.Duration(c.end - c.wall)
}

func (c *calendar) hold(h *hold) {
	h.place = c.period
	c.tally.hold(h)
}

// settle corrects the period the hold was charged to. If that is over, nothing
// goes back: the new period never paid for it.
func (c *calendar) settle(h *hold, used int64) {
	if h.place == c.period {
		c.tally.settle(h, used)
		return
	}
	c.open -= h.first()
}

func (r CalendarQuota) zone() *time.Location {
	if r.Zone == nil {
		return time.UTC
	}
	return r.Zone
}

// boundaryAfter returns the first boundary after an instant, both in Unix
// nanoseconds.
func (r CalendarQuota) boundaryAfter(wall int64) int64 {
	t := time.Unix(0, wall).In(r.zone())
	if r.Period == Hour {
		return nextHour(t).UnixNano()
	}
	y, m, d := t.Date()
	months, days := 0, 0
	switch r.Period {
	case Day:
		days = 1
	case Week:
		d -= (int(t.Weekday()) + 6) % 7 // back to Monday
		days = 7
	case Month:
		d, months = 1, 1
	case Quarter:
		m -= (m - time.January) % 3
		d, months = 1, 3
	}
	// The first candidate is after t except where clocks were set back across
	// midnight: that day, its week or its month began before t, at the first
	// midnight, and is not begun again.
	for i := 1; ; i++ {
		if at := firstInstant(y, m+time.Month(i*months), d+i*days, t.Location()); at.After(t) {
			return at.UnixNano()
		}
	}
}

// nextHour returns the first instant after t at which clocks show a full hour.
// An hour that clocks go through twice is two hours; a change by half an hour
// makes one longer.
func nextHour(t time.Time) time.Time {
	for {
		_, m, s := t.Clock()
		past := time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
		t = t.Add(time.Hour - past)
		if _, m, s := t.Clock(); m == 0 && s == 0 {
			return t
		}
	}
}

// firstInstant returns the first instant at which clocks in a zone show
// midnight of that day or later. time.Date alone will not do: where clocks are
// set forward at midnight, it may answer with an instant of the day before.
func firstInstant(y int, m time.Month, d int, zone *time.Location) time.Time {
	wall := time.Date(y, m, d, 0, 0, 0, 0, time.UTC) // what the clocks must show
	t := wall.Add(-26 * time.Hour)                   // earlier than that in any zone
	for {
		t = t.In(zone)
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		if !end.IsZero() && !end.After(t) {
			// At the end of leap years ZoneBounds may name an end that has
			// passed (golang/go#81583). Nothing is lost by looking again a
			// little later.
			end = t.Add(time.Hour)
		}
		at := wall.Add(-time.Duration(offset) * time.Second)
		if at.Before(t) {
			at = t
		}
		if end.IsZero() || at.Before(end) {
			return at.In(zone)
		}
		t = end
	}
}
