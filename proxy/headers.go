package proxy

import (
	"context"
	"net/http"
	"strconv"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// returned are the only answer headers that come back. The upstream's limits, organisation and cookies describe the shared
// account and stay here.
var returned = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Disposition", "Cache-Control", "Date",
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
	if b, s := d.tightest((*budget).limitsTokens); b != nil {
		writeLimit(h, "tokens", s)
	}
	if b, s := d.tightest((*budget).limitsRequests); b != nil {
		writeLimit(h, "requests", s)
	}
	running, s := d.tightest((*budget).atOnce)
	if running != nil {
		h.Set("x-ratelimit-limit-at-once", strconv.FormatInt(s.Limit, 10))
		h.Set("x-ratelimit-remaining-at-once", strconv.FormatInt(s.Remaining, 10))
	}
	b, _ := d.tightest((*budget).limitsUse)
	if b == nil {
		b = running
	}
	if b != nil && h.Get("x-tokenfare-budget") == "" {
		h.Set("x-tokenfare-budget", headerText(b))
	}
	if x.begun && len(x.draws.budgets) > 0 {
		h.Set("x-tokenfare-reserved", strconv.FormatInt(x.boundTokens(), 10))
	}
	if x.begun && x.inserted > 0 {
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

// tightest returns the budget, among those wanted, with the smallest share left.
func (d *draws) tightest(wanted func(*budget) bool) (*budget, limiter.State) {
	var found *budget
	var state limiter.State
	for i, b := range d.budgets {
		s := d.charges[i].State
		if !wanted(b) || s.Limit <= 0 {
			continue
		}
		// Shares are compared in floating point: they only choose what to show.
		if found == nil || float64(s.Remaining)/float64(s.Limit) < float64(state.Remaining)/float64(state.Limit) {
			found, state = b, s
		}
	}
	return found, state
}

// limitsUse reports whether what is left of the budget says how much more can be used. Of calls at once a share is left as long
// as they run, and all of it a moment later: clients that pace themselves by x-ratelimit-remaining-requests must not see it there.
func (b *budget) limitsUse() bool { return !b.atOnce() }

func (b *budget) limitsRequests() bool { return b.limitsUse() && b.limit.Unit == limit.Requests }
func (b *budget) limitsTokens() bool {
	return b.limit.Unit != limit.Requests && b.limit.Unit != limit.Dollars
}
