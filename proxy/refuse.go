package proxy

import (
	"context"
	"fmt"
	"math"
	"net/http"
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
	room     time.Duration // when there is room, as far as is known; limiter.Never
	budget   *budget
	figures  string        // of a budget that whoever called is told none of, for the log; empty: of another
	estimate cost.Estimate // as counted, before an output bound was chosen
}

// Error is the message the client gets.
func (f *refusal) Error() string { return f.answer.Message }

// write sets the headers that tell a client when to come back.
func (f *refusal) write(h http.Header) {
	w := fields{header: h}
	if f.wait > 0 {
		ms := int64((f.wait + time.Millisecond - 1) / time.Millisecond)
		w.setInt(headRetryAfter, (ms+999)/1000)
		w.setInt(headRetryMillis, ms)
	}
	if f.noRetry {
		w.set(headShouldRetry, "false")
	}
	w.set(headBudget, headerText(f.budget))
}

// refuse builds the 429 for a reservation that failed. Which budget to name and how long to wait is asked of each budget
// alone: a call may be short of several, for different reasons.
func (x *exchange) refuse(ctx context.Context, d limiter.Decision) error {
	short, err := x.shortages(ctx, d)
	if err != nil {
		return err
	}
	for _, s := range short {
		if s.tooBig { // its limit was lowered while this call was on its way
			return x.neverFits(s.budget, s.need)
		}
		s.noteRefused(x.server.wall())
	}
	worst, longest := gravest(short)
	f := &refusal{budget: worst.budget, estimate: x.estimate}
	if worst.budget.ofUpstream() {
		f.figures = worst.amounts()
	}
	f.answer.Status = http.StatusTooManyRequests
	switch {
	case worst.usedUp():
		f.usedUp(x, worst, longest)
	case worst.budget.atOnce():
		f.tooMany(x, worst)
	default:
		f.tooSoon(x, worst, short)
	}
	f.promised, f.room = f.wait, longest.wait
	x.refused = f
	return f
}

// usedUp is for what does not refill, and for what only the turn of a period refills. The date it says first is that of the budget
// it names; where another one has no room for longer, it says so of that one, and the headers tell the whole wait.
func (f *refusal) usedUp(x *exchange, worst, longest shortage) {
	f.answer.Type, f.answer.Code = "insufficient_quota", "insufficient_quota"
	f.noRetry = true
	what, until := "Budget used up", ", and it does not refill,"
	if worst.state.Remaining > 0 || worst.budget.ofUpstream() {
		what = "Not enough budget left"
	}
	if worst.wait != limiter.Never {
		until = " until " + x.date(worst.wait)
	}
	if longest.wait != limiter.Never {
		f.wait = roundUp(longest.wait)
	}
	besides := ""
	if longest.wait > worst.wait {
		besides = fmt.Sprintf(" Besides, %s, has no room %s: %s", longest.budget, x.lasts(longest), longest.amounts())
		if longest.budget.ofUpstream() {
			besides = fmt.Sprintf(" Besides, %s has no room %s.", longest.budget.told(), x.lasts(longest))
		}
	}
	f.answer.Message = fmt.Sprintf("%s%s for %s: %s%s%s%s", what, until, x.model, worst.figures(), besides, x.smaller(), x.help())
}

// lasts says how long a shortage goes on.
func (x *exchange) lasts(s shortage) string {
	switch {
	case s.wait == limiter.Never:
		return "for longer than can be told"
	case s.guessed():
		return "until " + x.date(s.wait) + " (a guess)"
	default:
		return "until " + x.date(s.wait)
	}
}

// date says when a wait is over.
func (x *exchange) date(wait time.Duration) string {
	return x.server.wallTime(wait).In(x.policy.zone).Format("Monday 2 January 2006 15:04 MST")
}

// tooMany is for limits of calls at once. It is always worth a retry, and nobody knows when.
func (f *refusal) tooMany(x *exchange, worst shortage) {
	f.answer.Type, f.answer.Code = "requests", "rate_limit_exceeded"
	f.wait = worst.wait
	figures := worst.figures()
	if !worst.budget.ofUpstream() {
		figures = fmt.Sprintf("%s of your team's proxy (not OpenAI's): Limit %d, %s.", worst.budget, worst.state.Limit, worst.running())
	}
	f.answer.Message = fmt.Sprintf("Too many requests at once for %s: %s Please try again in %s (a guess).%s", x.model, figures, f.wait, x.help())
}

// tooSoon is for what refills, and for what running calls hold and may give back.
func (f *refusal) tooSoon(x *exchange, worst shortage, short []shortage) {
	f.answer.Type, f.answer.Code = "tokens", "rate_limit_exceeded"
	if worst.budget.limit.Unit == limit.Requests {
		f.answer.Type = "requests"
	}
	again := "What it owes takes longer to refill than can be told."
	if worst.wait != limiter.Never {
		f.wait = roundUp(worst.wait)
		again = fmt.Sprintf("Please try again in %s.", f.wait)
	}
	f.noRetry = worst.wait > longestRetry || x.sdk == "go" && worst.wait > longestRetryGo
	if worst.guessed() {
		f.noRetry = false // held is not spent
		again = fmt.Sprintf("What is held comes back when those calls end; please try again in %s (a guess).", f.wait)
	}
	for _, s := range short {
		if s.budget.atOnce() && !s.budget.ofUpstream() {
			again += fmt.Sprintf(" Besides, under %q %s.", s.budget.limit.Text, s.running())
			break
		}
	}
	f.answer.Message = fmt.Sprintf("Rate limit reached for %s: %s %s%s%s", x.model, worst.figures(), again, x.smaller(), x.help())
}

// smaller says which output limit would pass at once, if any does, and if that does not tell what a provider has left.
func (x *exchange) smaller() string {
	if x.member == "" {
		return ""
	}
	all := x.draws.outputLeft(x, anyBudget)
	left := x.draws.outputLeft(x, func(b *budget) bool { return !b.ofUpstream() }) / x.choices
	if all < left*x.choices || left < x.least || left >= x.estimate.MaxOutput/x.choices {
		return ""
	}
	return fmt.Sprintf(" A call with %s of at most %d would pass now.", x.member, left)
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
	}, b.label())
}
