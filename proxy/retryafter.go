package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostWait is how long an upstream may say that it has no room.
const mostWait = time.Hour

// retryAfter is how long an upstream says that it has no room; 0: it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, name := range []string{headRetryMillis, headRetryAfter} {
		if wait, _ := plainWait(name, h.Values(name), now); wait > 0 {
			return min(wait, mostWait)
		}
	}
	return 0
}

// plainWait reads a wait that every client reads alike, and returns as what it is passed on; 0 if there is none, or one that is over. In seconds
// it is digits, or a date to come (RFC 9110, section 10.2.3); in milliseconds digits, and those behind a point are rounded up. Of signs,
// exponents, fractions of a second and dates that are over some clients make no wait at all, and some a long one.
func plainWait(name string, values []string, now time.Time) (wait time.Duration, passed string) {
	if len(values) != 1 {
		return 0, ""
	}
	value, unit := values[0], time.Second
	if name == headRetryMillis {
		unit = time.Millisecond
	}
	whole, fraction, pointed := strings.Cut(value, ".")
	if n, ok := plainDigits(whole); ok {
		if pointed && (unit == time.Second || fraction == "" || strings.Trim(fraction, digits) != "") {
			return 0, ""
		}
		if strings.Trim(fraction, "0") != "" {
			n++
		}
		if n == 0 {
			return 0, ""
		}
		return time.Duration(n) * unit, strconv.FormatInt(n, 10)
	}
	if at, err := http.ParseTime(value); err == nil && unit == time.Second && at.After(now) {
		return at.Sub(now), value
	}
	return 0, ""
}

const digits = "0123456789"

// plainDigits reads a number of at most nine digits and nothing else.
func plainDigits(s string) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 9 || strings.Trim(s, digits) != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
