package ledger

import "time"

// DayOf is the day of a zone in which an hour of UTC begins: the first of its hours, and the first of the next day. In zones
// that are off by a part of an hour that is not their midnight, but the first full hour after it.
func DayOf(hour int64, zone *time.Location) (first, next int64) {
	const step = 3600
	day := dateOf(hour, zone)
	for first = hour; dateOf(first-step, zone) == day; first -= step {
	}
	for next = hour + step; dateOf(next, zone) == day; next += step {
	}
	return first, next
}

type date struct{ year, month, day int }

func dateOf(hour int64, zone *time.Location) date {
	y, m, d := time.Unix(hour, 0).In(zone).Date()
	return date{y, int(m), d}
}
