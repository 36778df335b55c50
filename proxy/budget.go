package proxy

import (
	"fmt"
	"math"
	"sort"
	"sync/atomic"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	limitmetrics "github.com/tokenfare/tokenfare/limiter/metrics"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// budget is one limit of one owner, with its counter.
type budget struct {
	owner  owner
	limit  limit.Limit     // as it holds: raised by what its extra says
	extra  *extra          // nil: nothing ever raises it
	rule   limiter.Rule    // nil for "per request" limits, which count nothing
	handle *limiter.Budget // likewise
	entry  ledger.Budget   // as the ledger knows it; likewise

	refusedIn *atomic.Int64 // end of the period in which a call was last refused because it was used up, Unix seconds; 0: there was none

	series *limitmetrics.Series // set by the server that runs the policy
}

// CheckLimit reports why a limit cannot be counted: its numbers do not fit the arithmetic.
func CheckLimit(l limit.Limit, zone *time.Location) error {
	if l.Kind == limit.PerRequest {
		return nil
	}
	_, err := ruleOf(l, zone)
	return err
}

// ruleOf says a limit in the limiter's terms.
func ruleOf(l limit.Limit, zone *time.Location) (limiter.Rule, error) {
	var rule interface {
		limiter.Rule
		Validate() error
	}
	switch l.Kind {
	case limit.Per:
		rule = limiter.TokenBucket{Size: l.Capacity(), Refill: l.Amount, Every: l.Every}
	case limit.InAny:
		// A thousandth of the window bounds the entries kept; a charge leaves by that much late, never early.
		rule = limiter.SlidingWindow{Limit: l.Amount, Window: l.Every, Grain: l.Every / 1000}
	case limit.Each:
		rule = limiter.CalendarQuota{Limit: l.Amount, Period: periodOf[l.Period], Zone: zone}
	case limit.InTotal:
		rule = limiter.Total{Limit: l.Amount}
	case limit.AtOnce:
		rule = limiter.AtOnce{Limit: l.Amount}
		if l.Observe {
			rule = limiter.AtOnce{Limit: everybody} // the calls must be held to be counted, and none may be refused
		}
	default:
		return nil, fmt.Errorf("kind %v has no rule", l.Kind)
	}
	return rule, rule.Validate()
}

// everybody is more calls than there can ever be at once.
const everybody = 1 << 40

var periodOf = map[limit.Period]limiter.Period{
	limit.Hour: limiter.Hour, limit.Day: limiter.Day, limit.Week: limiter.Week,
	limit.Month: limiter.Month, limit.Quarter: limiter.Quarter,
}

// name is the name of the budget's counter: by meaning, so that a limit that moves or changes its amount keeps what was consumed.
func (b *budget) name() string { return b.owner.String() + ": " + b.limit.ID() }

// counts reports whether the budget has a counter.
func (b *budget) counts() bool { return b.rule != nil }

// String names the budget in full, as the log does, and messages do of those that callers may know: key alice, budget "200k tokens
// per minute".
func (b *budget) String() string {
	return fmt.Sprintf("%s, budget %q%s", b.owner, b.limit.Text, b.raisedBy(" "))
}

// told names the budget to whoever calls: of a provider's share no more than whose it is.
func (b *budget) told() string {
	if b.ofUpstream() {
		return "the provider's share behind this proxy (" + b.owner.String() + ")"
	}
	return b.String()
}

// label names the budget to whoever calls where there is little room: key alice: 200k tokens per minute.
func (b *budget) label() string {
	if b.ofUpstream() {
		return b.owner.String()
	}
	return b.owner.String() + ": " + b.sentence()
}

// sentence is the limit as it was written, and what raises it now.
func (b *budget) sentence() string { return b.limit.Text + b.raisedBy(", ") }

// refills reports whether waiting a while gives room again, rather than the turn of a period or nothing.
func (b *budget) refills() bool { return b.limit.Kind == limit.Per || b.limit.Kind == limit.InAny }

// atOnce reports whether the budget limits calls at once: whoever waits for it waits for one of them to end.
func (b *budget) atOnce() bool { return b.limit.Kind == limit.AtOnce }

// asLimited is a state as the limit would have it: one that only observes calls at once has a counter with room for everybody.
func (b *budget) asLimited(s limiter.State) limiter.State {
	if b.atOnce() {
		s.Limit = b.limit.Amount
		s.Remaining = max(0, s.Limit-s.Held)
	}
	return s
}

// ofUpstream reports whether the budget is a provider's share: whoever calls knows neither what it holds nor who uses it.
func (b *budget) ofUpstream() bool { return b.owner.kind == upstreamKind }

// expired reports whether the limit's "until" date has passed.
func (b *budget) expired(now time.Time) bool {
	return !b.limit.Until.IsZero() && !now.Before(b.limit.Until)
}

// boundsOutput reports whether more output costs this budget more.
func (b *budget) boundsOutput() bool {
	switch b.limit.Unit {
	case limit.Tokens, limit.OutputTokens, limit.Dollars:
		return true
	default:
		return false
	}
}

// reserve returns what a call within that bound may cost this budget, in the budget's unit.
func (b *budget) reserve(most cost.Bound, price cost.Price) int64 {
	switch b.limit.Unit {
	case limit.Tokens:
		return addSaturating(most.Input, most.Output)
	case limit.InputTokens, limit.UncachedInputTokens:
		return most.Input
	case limit.OutputTokens:
		return most.Output
	case limit.Dollars:
		return int64(price.Ceiling(most))
	default:
		return 1
	}
}

// charge returns what a call cost this budget, in the budget's unit.
func (b *budget) charge(u cost.Usage, price cost.Price) int64 {
	switch b.limit.Unit {
	case limit.Tokens:
		return addSaturating(u.Input, u.Output)
	case limit.InputTokens:
		return u.Input
	case limit.UncachedInputTokens:
		return max(0, u.Input-u.CachedInput)
	case limit.OutputTokens:
		return u.Output
	case limit.Dollars:
		return int64(price.Cost(u))
	default:
		return 1
	}
}

// outputWithin returns by how much the output of a call can grow, all choices together, for its reservation to be at most
// available; -1 if it does not fit as it is. An output that the budget does not bound is math.MaxInt64.
func (b *budget) outputWithin(available int64, call cost.Bound, price cost.Price) int64 {
	const most = 1 << 40 // tokens; beyond any model
	if b.limit.Unit == limit.Dollars {
		if n := price.OutputWithin(cost.NanoUSD(available), call, most); n < most {
			return n
		}
		return math.MaxInt64
	}
	with := func(more int64) int64 {
		grown := call
		grown.Output = addSaturating(grown.Output, more)
		return b.reserve(grown, price)
	}
	if with(0) > available {
		return -1
	}
	if with(most) <= available {
		return math.MaxInt64
	}
	tooMuch := sort.Search(most, func(n int) bool { return with(int64(n)) > available })
	return int64(tooMuch) - 1
}

func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
