package proxy

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// Waits longer than these are not worth a retry: SDKs either ignore them and knock at once, or sleep through them in silence.
// openai-go waits at most eight seconds, whatever it is told, and knocks then.
const (
	longestRetry   = 60 * time.Second
	longestRetryGo = 8 * time.Second
)

// refusal is the answer to a call that does not fit. It is the only way this proxy says no for want of budget.
type refusal struct {
	answer   wire.Error
	wait     time.Duration // 0: no Retry-After
	noRetry  bool
	promised time.Duration // what to hold an early retry against
	budget   *budget
	estimate cost.Estimate // as counted, before an output bound was chosen
}

// Error is the message the client gets.
func (f *refusal) Error() string { return f.answer.Message }

// write sets the headers that tell a client when to come back.
func (f *refusal) write(h http.Header) {
	if f.wait > 0 {
		ms := int64((f.wait + time.Millisecond - 1) / time.Millisecond)
		h.Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
		h.Set("retry-after-ms", strconv.FormatInt(ms, 10))
	}
	if f.noRetry {
		h.Set("x-should-retry", "false")
	}
	h.Set("x-tokenfare-budget", headerText(f.budget))
}

// shortage is one budget that has no room for a call now.
type shortage struct {
	budget   *budget
	state    limiter.State
	need     int64
	wait     time.Duration // limiter.Never: until somebody changes the limit
	heldOnly bool          // there would be room if everything reserved came back
}

// usedUp reports whether only the turn of a period, or nothing, brings room: what was spent is spent.
func (s shortage) usedUp() bool { return !s.budget.refills() && !s.heldOnly }

// refuse builds the 429 for a reservation that failed. Which budget to name and how long to wait is asked of each budget
// alone: a call may be short of several, for different reasons.
func (x *exchange) refuse(ctx context.Context, d limiter.Decision) error {
	short, err := x.shortages(ctx, d)
	if err != nil {
		return err
	}
	worst, wait := short[0], short[0].wait
	for _, s := range short {
		if s.need > s.state.Limit { // its limit was lowered while this call was on its way
			return x.neverFits(s.budget, s.need)
		}
		if s.usedUp() != worst.usedUp() && s.usedUp() || s.usedUp() == worst.usedUp() && s.wait > worst.wait {
			worst = s
		}
		wait = max(wait, s.wait)
	}
	f := &refusal{budget: worst.budget, estimate: x.estimate}
	f.answer.Status = http.StatusTooManyRequests
	figures := fmt.Sprintf("%s of your team's proxy (not OpenAI's): Limit %s, Used %s,%s Requested %s.", worst.budget,
		worst.budget.amountText(worst.state.Limit), worst.budget.amountText(worst.state.Used), worst.heldText(), worst.budget.amountText(worst.need))
	if worst.usedUp() {
		f.answer.Type, f.answer.Code = "insufficient_quota", "insufficient_quota"
		f.noRetry = true
		what, until := "Budget used up", ", and it does not refill,"
		if worst.state.Remaining > 0 {
			what = "Not enough budget left"
		}
		if wait != limiter.Never {
			f.wait = roundUp(wait)
			until = " until " + x.server.wallTime(wait).In(x.policy.zone).Format("Monday 2 January 2006 15:04 MST")
		}
		f.answer.Message = fmt.Sprintf("%s%s for %s: %s%s%s", what, until, x.model, figures, x.smaller(), x.help())
	} else {
		f.answer.Type, f.answer.Code = "tokens", "rate_limit_exceeded"
		if worst.budget.limit.Unit == limit.Requests {
			f.answer.Type = "requests"
		}
		again := "What it owes takes longer to refill than can be told."
		if wait != limiter.Never {
			f.wait = roundUp(wait)
			again = fmt.Sprintf("Please try again in %s.", f.wait)
		}
		f.noRetry = wait > longestRetry || x.sdk == "go" && wait > longestRetryGo
		if !worst.budget.refills() {
			again = fmt.Sprintf("What is held comes back when those calls end; please try again in %s (a guess).", f.wait)
		}
		f.answer.Message = fmt.Sprintf("Rate limit reached for %s: %s %s%s%s", x.model, figures, again, x.smaller(), x.help())
	}
	f.promised = f.wait
	x.refused = f
	return f
}

// shortages are the budgets without room, at least one. A refusal is about one that is used up before one that refills, then
// about the longest wait; its own wait is the longest of all.
func (x *exchange) shortages(ctx context.Context, d limiter.Decision) ([]shortage, error) {
	var short []shortage
	for i := range x.draws.charges {
		charge := x.draws.charges[i : i+1]
		alone, err := x.server.options.Limiter.Peek(ctx, charge)
		if err != nil {
			return nil, fmt.Errorf("read budgets: %w", err)
		}
		if !alone.OK {
			short = append(short, x.draws.short(i, alone.RetryAfter))
		}
	}
	if len(short) == 0 {
		// Room came back between the refusal and this second look: what the refusal said still holds, and is soon true.
		short = append(short, x.draws.short(d.Refused, d.RetryAfter))
	}
	return short, nil
}

func (d *draws) short(i int, wait time.Duration) shortage {
	s := shortage{budget: d.budgets[i], state: d.charges[i].State, need: d.charges[i].N, wait: wait}
	s.heldOnly = s.need <= s.state.Limit-s.state.Used
	if s.heldOnly && !s.budget.refills() {
		// When running calls will end is not ours to know: the guess grows with how many there are, from 1 to 10 seconds.
		s.wait = time.Duration(min(10, max(1, s.state.Open))) * time.Second
	}
	return s
}

func (s shortage) heldText() string {
	switch {
	case s.state.Held == 0:
		return ""
	case s.state.Open == 1:
		return fmt.Sprintf(" Held %s by 1 running call,", s.budget.amountText(s.state.Held))
	default:
		return fmt.Sprintf(" Held %s by %d running calls,", s.budget.amountText(s.state.Held), s.state.Open)
	}
}

// smaller says which output limit would pass at once, if any does.
func (x *exchange) smaller() string {
	left := x.draws.outputLeft(x.estimate.Input, x) / x.choices
	if left < 1 || left >= x.estimate.MaxOutput/x.choices {
		return ""
	}
	return fmt.Sprintf(" A call with %s of at most %d would pass now.", x.member, left)
}

// fits refuses a call that no wait will ever admit, naming the part at fault.
func (x *exchange) fits(output int64) error {
	for _, b := range x.draws.budgets {
		need := b.reserve(x.estimate.Input, output, x.facts.Price)
		if need <= b.limit.Capacity() {
			continue
		}
		x.size(output)
		return x.neverFits(b, need)
	}
	return nil
}

func (x *exchange) neverFits(b *budget, need int64) error {
	f := &refusal{budget: b, estimate: x.estimate, noRetry: true, promised: math.MaxInt64}
	f.answer.Status = http.StatusBadRequest
	f.answer.Type, f.answer.Code = "invalid_request_error", "request_exceeds_budget"
	most := b.outputWithin(b.limit.Capacity(), x.estimate.Input, x.facts.Price)
	var fault string
	switch {
	case most >= x.choices:
		f.answer.Param = x.member
		fault = fmt.Sprintf("Lower %s to at most %d.", f.answer.Param, most/x.choices)
		if x.choices > 1 {
			fault = fmt.Sprintf("Lower %s to at most %d, or n (%d).", f.answer.Param, most/x.choices, x.choices)
		}
	case b.limit.Unit == limit.Requests:
		fault = "Its capacity is less than one request; the operator of this proxy must raise it."
	default:
		f.answer.Param = "messages"
		if x.caller.tooLongAs != "" {
			f.answer.Code = x.caller.tooLongAs
		}
		fault = fmt.Sprintf("The prompt alone is at least %d tokens: shorten it%s.", x.estimate.Input, x.tooLongBy(b))
	}
	f.answer.Message = fmt.Sprintf("Request too large for %s: %s of your team's proxy (not OpenAI's): Limit %s, Requested %s. It can never pass, "+
		"so waiting does not help. %s%s", x.model, b, b.amountText(b.limit.Capacity()), b.amountText(need), fault, x.help())
	x.refused = f
	x.server.metrics.never(b)
	return f
}

// tooLongBy says by how many tokens the prompt must shrink for one token of output to fit.
func (x *exchange) tooLongBy(b *budget) string {
	low, high := int64(0), x.estimate.Input
	for low < high {
		middle := (low + high + 1) / 2
		if b.reserve(middle, x.choices, x.facts.Price) <= b.limit.Capacity() {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if low == 0 {
		return ""
	}
	return fmt.Sprintf(" by at least %d", x.estimate.Input-low)
}

func (x *exchange) help() string {
	if x.policy.help == "" {
		return ""
	}
	return " " + x.policy.help
}

// roundUp rounds a wait up to whole milliseconds, the unit of retry-after-ms, and to at least one.
func roundUp(d time.Duration) time.Duration {
	if d > math.MaxInt64-time.Millisecond {
		return d
	}
	return max(time.Millisecond, (d + time.Millisecond - 1).Truncate(time.Millisecond))
}

// headerText makes a budget's name fit for a header: printable ASCII only.
func headerText(b *budget) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, b.owner.String()+": "+b.limit.Text)
}
