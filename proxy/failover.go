package proxy

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

const (
	// mostAttempts is how many upstreams one call is sent to.
	mostAttempts = 5

	// errorPatience is how long the text of an upstream's error may take that says it has done nothing for the call: without it all else is known.
	errorPatience = 5 * time.Second

	// statusOverloaded is what some providers answer who have too much to do.
	statusOverloaded = 529
)

// untaken reports whether an upstream that answers with this status has done nothing for the call: it had no room, was not well,
// did not know our key, or our account has no credit there. Other errors are the call's own, or come from somebody in between who does not know: those are not
// tried again.
func untaken(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded, http.StatusUnauthorized, http.StatusPaymentRequired:
		return true
	default:
		return false
	}
}

// untaken reports whether the upstream of this attempt cannot have done anything for the call.
func (x *exchange) untaken(failed error) bool {
	return untaken(x.status) || failed != nil && x.status == 0 && !x.written
}

// failure is an attempt that came to nothing, and what its upstream said, or that its upstream's own limits had no room.
type failure struct {
	attempt
	id   ledger.ID
	resp *http.Response
	err  error
	wait time.Duration // until there is room, or unknownWait; of a 429 and of a refusal; the longest there is: there never is any
}

// unknownWait stands for one that an upstream does not tell: whoever tells one that a client may wait for says more.
const unknownWait = longestRetry

// failed ends this attempt.
func (x *exchange) failed(resp *http.Response, err error) *failure {
	f := &failure{id: x.id, resp: resp, err: err}
	if err == nil {
		x.end(endedAnswer)
		f.wait = cmp.Or(retryAfter(resp.Header, time.Now()), unknownWait)
		if x.oversized {
			f.wait = math.MaxInt64
		}
	} else {
		x.end(endedBroken)
	}
	f.attempt = x.attempt
	return f
}

// noteShort keeps in mind that this attempt was refused by a limit of its upstream, where others may still be asked.
func (x *exchange) noteShort(err error) {
	if x.refusedByUpstream() && x.refused.room < limiter.Never {
		x.short = x.short.orBetter(&failure{attempt: x.attempt, id: x.id, err: err, wait: x.refused.room})
	}
}

// orBetter returns the failure that says more to the client: that there is no room, and soon will be; then that an upstream is not
// well; that it is not there; and last that it does not know our key, or that there is no credit.
func (f *failure) orBetter(other *failure) *failure {
	rank := func(f *failure) int {
		switch {
		case f.refused != nil, f.status == http.StatusTooManyRequests:
			return 0
		case f.status == http.StatusServiceUnavailable, f.status == statusOverloaded:
			return 1
		case f.status == 0:
			return 2
		default:
			return 3
		}
	}
	switch {
	case f == nil:
		return other
	case other == nil:
		return f
	case rank(other) < rank(f), rank(other) == rank(f) && other.wait < f.wait:
		return other
	default:
		return f
	}
}

// tellOf takes a failure up again, to be told to the client.
func (x *exchange) tellOf(f *failure) (*http.Response, error) {
	x.attempt, x.id, x.rec.id = f.attempt, f.id, f.id
	return f.resp, f.err
}

// askAnother begins an attempt with the next upstream that has room, if there is one. The attempt before has ended.
func (x *exchange) askAnother(r *http.Request) bool {
	x.cancel(nil)
	if x.request == nil || len(x.routes) == 0 || x.attempts >= mostAttempts || r.Context().Err() != nil || x.from != nil && x.from.Left() {
		return false
	}
	rise, err := x.server.sit(r.Context(), x.length)
	if err != nil {
		return false
	}
	defer rise()
	from := x.route.upstream.Name
	if x.admitSomewhere(r.Context(), x.request) != nil {
		return false
	}
	x.server.metrics.failover(from, x.route.upstream.Name)
	x.rec.failovers++
	if len(x.routes) == 0 {
		x.request = nil
	}
	return true
}

// tell lets the pool know how the upstream answered. A call can be the cause of a 403 or a 500, of a 402 if it is too large for what credit is
// left, and of a 429 that others would not get.
func (x *exchange) tell(status int, h http.Header) {
	u := x.route.upstream
	switch status {
	case http.StatusTooManyRequests:
		if x.oversized {
			u.Served()
		} else {
			u.Full(x.route.upstreamName(x.model), retryAfter(h, time.Now()))
		}
	case http.StatusPaymentRequired, http.StatusForbidden, http.StatusInternalServerError:
		u.Unclear()
	case http.StatusUnauthorized, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		x.rests(u.Failed(), status)
	default:
		u.Served()
	}
}

// tellUnanswered lets the pool know that the upstream did not answer at all. A call that is long can be the cause of that.
func (x *exchange) tellUnanswered(err error) {
	u := x.route.upstream
	switch e, ok := errors.AsType[*upstream.Error](err); {
	case ok && e.Hung:
		x.rests(u.Hung(), 0)
	case ok && e.Unread:
		u.Unclear()
	default:
		x.rests(u.Failed(), 0)
	}
}

// rests tells the operator that the upstream rests for so long from now on; 0: it does not.
func (x *exchange) rests(rest time.Duration, status int) {
	if rest == 0 {
		return
	}
	u := x.route.upstream
	x.server.metrics.rests.WithLabelValues(u.Name).Inc()
	x.server.options.Log.Warn("upstream fails", "upstream", u.Name, "status", status, "others_first_for", rest.String())
}
