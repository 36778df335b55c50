package httplimit

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// Waits longer than these are not worth a retry: SDKs either ignore them and knock at once, or sleep through them in silence.
// openai-go waits at most eight seconds, whatever it is told, and knocks then.
const (
	longestRetry   = 60 * time.Second
	longestRetryGo = 8 * time.Second
)

// refusal is the answer to a request that is not passed on.
type refusal struct {
	answer  wire.Error
	wait    time.Duration // 0: no Retry-After
	noRetry bool
}

// refuse answers in place of the handler.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, seen *Outcome, f refusal) {
	seen.Status = f.answer.Status
	g.tell(r, *seen)
	h := w.Header()
	if f.wait > 0 {
		ms := roundUp(f.wait, time.Millisecond)
		h.Set("Retry-After", strconv.FormatInt(roundUp(f.wait, time.Second), 10))
		h.Set("Retry-After-Ms", strconv.FormatInt(ms, 10))
	}
	if f.noRetry {
		h.Set("X-Should-Retry", "false")
	}
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		// Or the server would wait for a body that nobody wants to read, for as long as its sender likes.
		h.Set("Connection", "close")
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(f.answer.Status)
	w.Write(f.answer.JSON()) //nolint:errcheck // a client that does not read its error has left
}

// overLimit builds the answer to a request that a client's limit refuses: the one of that rule, which waits longest.
func (g *gate) overLimit(r *http.Request, seen Outcome, rule limiter.Rule) refusal {
	s, d := seen.State, seen.Decision
	figures := fmt.Sprintf("Limit %d, Used %d, Requested %d.", s.Limit, s.Used, seen.Cost)
	if s.Held > 0 {
		figures = fmt.Sprintf("Limit %d, Used %d, Held %d by requests in progress, Requested %d.", s.Limit, s.Used, s.Held, seen.Cost)
	}
	f := refusal{answer: wire.Error{Status: http.StatusTooManyRequests, Type: "requests", Code: "rate_limit_exceeded"}}
	say := func(format string, args ...any) { f.answer.Message = fmt.Sprintf(format, args...) }
	whose := seen.Client.whose()
	_, quota := rule.(limiter.CalendarQuota)
	_, slots := rule.(limiter.AtOnce)
	switch {
	case d.TooBig:
		f.answer.Status, f.answer.Type, f.answer.Code = http.StatusBadRequest, "invalid_request_error", "request_exceeds_budget"
		f.noRetry = true
		say("Request too large for the limit of %s: %s It can never pass, so waiting does not help.", whose, figures)
	case slots:
		f.wait = d.RetryAfter
		say("Too many requests in progress for the limit of %s: %s One of them must end first; please try again in %s (a guess).", whose, figures, inWords(f.wait))
	case d.HeldOnly && !g.own && (quota || d.RetryAfter == limiter.Never):
		// What others hold comes back when those requests end, which is not ours to know: a guess that grows with how many there
		// are. What we hold ourselves is used in full.
		f.wait = time.Duration(min(10, max(1, s.Open))) * time.Second
		say("Rate limit reached for %s: %s What is held comes back when they end; please try again in %s (a guess).", whose, figures, inWords(f.wait))
	case d.RetryAfter == limiter.Never:
		f.answer.Type, f.answer.Code = "insufficient_quota", "insufficient_quota"
		f.noRetry = true
		say("Limit used up for %s, and waiting does not help: %s", whose, figures)
	case quota:
		f.answer.Type, f.answer.Code = "insufficient_quota", "insufficient_quota"
		f.wait, f.noRetry = d.RetryAfter, true
		say("Limit used up for %s until %s: %s", whose, wallTime(d.RetryAfter, rule), figures)
	default:
		f.wait = d.RetryAfter
		f.noRetry = f.wait > longestRetry || f.wait > longestRetryGo && strings.EqualFold(r.Header.Get("X-Stainless-Lang"), "go")
		say("Rate limit reached for %s: %s Please try again in %s.", whose, figures, inWords(f.wait))
	}
	return f
}

func unknownCost() refusal {
	return refusal{answer: wire.Error{
		Status: http.StatusInternalServerError, Type: "server_error", Code: "internal_error",
		Message: "This server failed to work out what to charge for the request; nothing was charged.",
	}}
}

// cannotAsk is not a 429: the client has done nothing wrong.
func cannotAsk() refusal {
	return refusal{answer: wire.Error{
		Status: http.StatusServiceUnavailable, Type: "server_error", Code: "limiter_unavailable",
		Message: "This server cannot look up your limit at the moment; nothing was charged.",
	}}
}

// whose names the client in a sentence, to itself.
func (c Client) whose() string {
	switch c {
	case ByKey:
		return "this API key"
	case ByAddress:
		return "your address"
	default:
		return "all clients without a key or a known address"
	}
}

// writeState tells a client how much of its limit is left, and in how many seconds it will have all of it.
func writeState(h http.Header, s limiter.State) {
	h.Set("X-Ratelimit-Limit", strconv.FormatInt(s.Limit, 10))
	h.Set("X-Ratelimit-Remaining", strconv.FormatInt(s.Remaining, 10))
	if s.ResetAfter > 0 || s.Remaining == s.Limit {
		h.Set("X-Ratelimit-Reset", strconv.FormatInt(roundUp(s.ResetAfter, time.Second), 10))
	}
}

// roundUp returns how many whole units a time lasts, and what is left of one counts.
func roundUp(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit > 0 {
		n++
	}
	return n
}

// inWords is a wait as a sentence has it: no shorter than it is, and to the millisecond.
func inWords(d time.Duration) string {
	if d > limiter.Never-time.Millisecond {
		return d.String()
	}
	return (time.Duration(roundUp(d, time.Millisecond)) * time.Millisecond).String()
}

// wallTime is an instant from now by the calendar the rule goes by.
func wallTime(d time.Duration, rule limiter.Rule) string {
	zone := time.UTC
	if q, ok := rule.(limiter.CalendarQuota); ok && q.Zone != nil {
		zone = q.Zone
	}
	return time.Now().Add(d).In(zone).Format("Monday 2 January 2006 15:04 MST")
}
