package limiter

import "time"

// Begin returns the instant at which the period began that holds the given
// one: the boundary at or before it.
func (r CalendarQuota) Begin(at time.Time) time.Time {
	ns := at.UnixNano()
	longest := map[Period]time.Duration{Hour: 0, Day: 1, Week: 7, Month: 31, Quarter: 92}[r.Period]*24*time.Hour + 26*time.Hour
	begin := r.boundaryAfter(ns - int64(longest))
	for next := r.boundaryAfter(begin); next <= ns; next = r.boundaryAfter(begin) {
		begin = next
	}
	return time.Unix(0, begin)
}
