package proxy

import (
	"net/http"
	"strconv"
	"time"
)

// untaken reports whether an upstream that answers with this status has done nothing for the call: it had no room, was not well,
// or did not know our key. Other errors are the call's own, or come from somebody in between who does not know: those are not
// tried again.
func untaken(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded, http.StatusUnauthorized, http.StatusForbidden:
		return true
	default:
		return false
	}
}

// statusOverloaded is what some providers answer who have too much to do.
const statusOverloaded = 529

// askAnother ends this attempt and begins one with the next upstream that has room, if that is safe: nothing was passed on, and
// this upstream cannot have done anything for the call. If there is none, this attempt stands.
func (x *exchange) askAnother(r *http.Request, failed error) bool {
	if x.request == nil || r.Context().Err() != nil || !untaken(x.status) && (failed == nil || x.written) {
		x.request = nil
		return false
	}
	if failed != nil {
		x.end(endedBroken)
	} else {
		x.end(endedAnswer)
	}
	last, id := x.attempt, x.id
	x.cancel(nil)
	if x.admitSomewhere(r.Context(), x.request) == nil {
		x.server.metrics.failover(last.route.upstream.Name, x.route.upstream.Name)
		x.rec.attempts++
		if len(x.routes) == 0 {
			x.request = nil
		}
		return true
	}
	x.end(endedRefused)
	x.attempt, x.id, x.rec.id, x.request = last, id, id, nil
	return false
}

// tell lets the pool know how the upstream answered; 0: not at all. Statuses of 500 are left out: a call can be the cause of
// those.
func (x *exchange) tell(status int, h http.Header) {
	u := x.route.upstream
	switch status {
	case http.StatusTooManyRequests:
		u.Full(retryAfter(h, time.Now()))
	case 0, http.StatusUnauthorized, http.StatusForbidden, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		if rest := u.Failed(); rest > 0 {
			x.server.metrics.rests.WithLabelValues(u.Name).Inc()
			x.server.options.Log.Warn("upstream fails", "upstream", u.Name, "status", status, "others_first_for", rest.String())
		}
	default:
		u.Served()
	}
}

// retryAfter is how long an upstream says that it has no room; 0: it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = time.Hour
	if ms, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); err == nil && ms > 0 {
		return min(time.Duration(min(ms, most.Milliseconds()))*time.Millisecond, most)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(max(0, min(s, int64(most/time.Second)))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), most))
	}
	return 0
}
