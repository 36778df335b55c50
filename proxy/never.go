package proxy

import (
	"fmt"
	"math"
	"net/http"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// fits refuses a call that no wait will ever admit, naming the part at fault.
func (x *exchange) fits(output int64) error {
	for _, b := range x.draws.budgets {
		need := b.reserve(x.bound(output), x.facts.Price)
		if need <= b.limit.Capacity() {
			continue
		}
		x.size(output)
		return x.neverFits(b, need)
	}
	return nil
}

// neverFits builds the 400. Of what an upstream allows it says what the caller can do, and no figure.
func (x *exchange) neverFits(b *budget, need int64) error {
	f := &refusal{budget: b, estimate: x.estimate, noRetry: true, promised: math.MaxInt64, room: limiter.Never}
	f.answer.Status = http.StatusBadRequest
	f.answer.Type, f.answer.Code = "invalid_request_error", "request_exceeds_budget"
	most := b.outputWithin(b.limit.Capacity(), x.bound(0), x.facts.Price)
	var fault string
	switch {
	case most >= x.least*x.choices && x.member != "":
		f.answer.Param = x.member
		fault = "Lower " + x.member
		if !b.ofUpstream() {
			fault += fmt.Sprintf(" to at most %d", most/x.choices)
		}
		if x.choices > 1 {
			fault += fmt.Sprintf(", or n (%d)", x.choices)
		}
		fault += "."
	case b.limit.Unit == limit.Requests:
		fault = "Its capacity is less than one request; the operator of this proxy must raise it."
	case x.estimate.HostedCalls > 1:
		f.answer.Param = "max_tool_calls"
		fault = fmt.Sprintf("The provider may run tools %d times, and what they find is input: lower max_tool_calls.", x.estimate.HostedCalls)
	case x.estimate.Pictures > 0 && b.limit.Unit != limit.InputTokens:
		f.answer.Param = "n"
		fault = "Ask for fewer pictures, or for smaller or plainer ones."
	default:
		f.answer.Param = x.prompt
		if x.caller.tooLongAs != "" {
			f.answer.Code = x.caller.tooLongAs
		}
		fault = "Shorten the prompt."
		if !b.ofUpstream() { // else where counting has ended would tell what it holds
			fault = fmt.Sprintf("The prompt alone is at least %d tokens: shorten it%s.", x.estimate.Input, x.tooLongBy(b))
		}
	}
	figures := fmt.Sprintf("Limit %s, Requested %s.", b.amountText(b.limit.Capacity()), b.amountText(need))
	why := fmt.Sprintf("%s of your team's proxy (not OpenAI's): %s", b, figures)
	if b.ofUpstream() {
		f.figures, why = figures, b.told()+" is too small for it, not the budget of your key."
	}
	f.answer.Message = fmt.Sprintf("Request too large for %s: %s It can never pass, so waiting does not help. %s%s", x.model, why, fault, x.help())
	x.refused = f
	x.server.metrics.never(b)
	return f
}

// tooLongBy says by how many tokens the prompt must shrink for one token of output to fit.
func (x *exchange) tooLongBy(b *budget) string {
	low, high := int64(0), x.estimate.Input
	least := x.bound(min(x.least*x.choices, x.estimate.MaxOutput))
	for low < high {
		middle := (low + high + 1) / 2
		if least.Input = middle; b.reserve(least, x.facts.Price) <= b.limit.Capacity() {
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
