package proxy

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// returned are the only answer headers that come back. The upstream's limits, organisation and cookies describe the shared
// account and stay here.
var returned = [...]string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Disposition", "Cache-Control", "Date",
	"X-Request-Id", "Openai-Version", "Openai-Model", "Openai-Processing-Ms",
	"Retry-After", "Retry-After-Ms", "X-Should-Retry",
}

// keepReturned takes everything else out of an upstream's header, and what holds the upstream's key: a provider may put it anywhere.
func keepReturned(h http.Header, u *upstream.Upstream, now time.Time) {
	for name, values := range h {
		keep := slices.Contains(returned[:], name)
		for _, v := range values {
			keep = keep && !u.Holds(v)
		}
		if name == headRetryAfter || name == headRetryMillis {
			_, wait := plainWait(name, values, now)
			if keep = keep && wait != ""; keep {
				h[name] = []string{wait}
			}
		}
		if !keep {
			delete(h, name)
		}
	}
}

// writeBudgets sets the headers every answer to a known caller carries: what is left of its tightest token and request
// budgets, which budget is the tightest of all, and what this call holds.
func (x *exchange) writeBudgets(ctx context.Context, h http.Header) {
	d, f := x.states(ctx), fields{header: h}
	if b, s := d.tightest((*budget).limitsTokens); b != nil {
		f.limit(&headsTokens, s)
	}
	if b, s := d.tightest((*budget).limitsRequests); b != nil {
		f.limit(&headsRequests, s)
	}
	running, s := d.tightest((*budget).atOnce)
	if running != nil {
		f.setInt(headsAtOnce.limit, s.Limit)
		f.setInt(headsAtOnce.remaining, s.Remaining)
	}
	b, _ := d.tightest((*budget).limitsUse)
	if b == nil {
		b = running
	}
	if b != nil && len(h[headBudget]) == 0 {
		f.set(headBudget, headerText(b))
	}
	if x.begun && len(x.draws.budgets) > 0 {
		f.setInt(headReserved, x.boundTokens())
	}
	if x.begun && x.inserted > 0 {
		f.setInt(headOutputLimit, x.inserted)
	}
}

func (f *fields) limit(heads *limitHeads, s limiter.State) {
	f.setInt(heads.limit, s.Limit)
	f.setInt(heads.remaining, s.Remaining)
	if s.ResetAfter > 0 || s.Remaining == s.Limit { // a total is never full again
		f.set(heads.reset, roundUpZero(s.ResetAfter).String())
	}
}

// tightest returns the budget, among those wanted, with the smallest share left. What a provider allows, and what of that is left, is
// nothing that callers are shown.
func (d *draws) tightest(wanted func(*budget) bool) (*budget, limiter.State) {
	var found *budget
	var state limiter.State
	for i, b := range d.budgets {
		s := d.charges[i].State
		if b.ofUpstream() || !wanted(b) || s.Limit <= 0 {
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
