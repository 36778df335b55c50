package proxy

import (
	"context"
	"net/http"
	"strconv"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// forwarded are the only request headers that go upstream. Everything else stays here: the caller's key, headers that name its
// organisation or project (with our key they would name somebody else's), idempotency keys, cookies, forwarding headers.
var forwarded = []string{"Traceparent", "Tracestate", "Openai-Beta"}

// returned are the only answer headers that come back. The upstream's limits, organisation and cookies describe the shared
// account and stay here.
var returned = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Cache-Control", "Date",
	"X-Request-Id", "Openai-Version", "Openai-Model", "Openai-Processing-Ms",
	"Retry-After", "Retry-After-Ms", "X-Should-Retry",
}

// pick returns a header with only the named fields of h.
func pick(h http.Header, names []string) http.Header {
	out := make(http.Header, len(names))
	for _, name := range names {
		if v := h[name]; len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// writeBudgets sets the headers every answer to a known caller carries: what is left of its tightest token and request
// budgets, which budget is the tightest of all, and what this call holds.
func (x *exchange) writeBudgets(ctx context.Context, h http.Header) {
	d := x.states(ctx)
	if b, s := d.tightest(isTokens); b != nil {
		writeLimit(h, "tokens", s)
	}
	if b, s := d.tightest(isRequests); b != nil {
		writeLimit(h, "requests", s)
	}
	if b, _ := d.tightest(isAny); b != nil && h.Get("x-tokenfare-budget") == "" {
		h.Set("x-tokenfare-budget", headerText(b))
	}
	if x.sent.begun && len(x.draws.budgets) > 0 {
		h.Set("x-tokenfare-reserved", strconv.FormatInt(addSaturating(x.estimate.Input, x.estimate.MaxOutput), 10))
	}
	if x.sent.begun && x.inserted > 0 {
		h.Set("x-tokenfare-output-limit", strconv.FormatInt(x.inserted, 10))
	}
}

func writeLimit(h http.Header, what string, s limiter.State) {
	h.Set("x-ratelimit-limit-"+what, strconv.FormatInt(s.Limit, 10))
	h.Set("x-ratelimit-remaining-"+what, strconv.FormatInt(s.Remaining, 10))
	if s.ResetAfter > 0 || s.Remaining == s.Limit { // a total is never full again
		h.Set("x-ratelimit-reset-"+what, roundUpZero(s.ResetAfter).String())
	}
}

// tightest returns the budget, among those of the units wanted, with the smallest share left.
func (d *draws) tightest(wanted func(limit.Unit) bool) (*budget, limiter.State) {
	var found *budget
	var state limiter.State
	for i, b := range d.budgets {
		s := d.charges[i].State
		if !wanted(b.limit.Unit) || s.Limit <= 0 {
			continue
		}
		// Shares are compared in floating point: they only choose what to show.
		if found == nil || float64(s.Remaining)/float64(s.Limit) < float64(state.Remaining)/float64(state.Limit) {
			found, state = b, s
		}
	}
	return found, state
}

func isAny(limit.Unit) bool        { return true }
func isRequests(u limit.Unit) bool { return u == limit.Requests }
func isTokens(u limit.Unit) bool   { return u != limit.Requests && u != limit.Dollars }
