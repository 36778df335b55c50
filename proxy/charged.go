package proxy

import (
	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// charged works out what an ending is charged.
func (x *exchange) charged(ending string, on basis, report wire.Report) outcome {
	o := outcome{ending: ending, basis: on, usage: x.usage(on, report)}
	if ending == "broken_reported" || on == chargeReported && report.Behind {
		// Usage that came before the end may not be all of it.
		o.usage.Output = max(o.usage.Output, report.Counted)
	}
	o.usage.Tier = report.Tier // whatever the figures rest on
	o.cost = x.facts.Price.Cost(o.usage)
	o.served = report.Model
	if on == chargeReserved || on == chargeLarger {
		o.cost = max(o.cost, x.facts.Price.Ceiling(x.bound(x.estimate.MaxOutput))) // as budgets are charged
	}
	o.over = max(0, addSaturating(o.usage.Input, o.usage.Output)-x.boundTokens())
	return o
}

// usage is what a basis amounts to. Of what the provider runs, and of what is not billed by token, no report says how much
// there was: it is taken to be all that was reserved.
func (x *exchange) usage(b basis, report wire.Report) cost.Usage {
	most := x.bound(x.estimate.MaxOutput)
	u := cost.Usage{
		Input: most.Input, Output: most.Output,
		Images: most.Images, Milliseconds: most.Milliseconds, Characters: most.Characters, Fees: most.Fees,
	}
	switch b {
	case chargeReported:
		reported := report.Usage
		if reported.Milliseconds == 0 { // else this is what is billed
			reported.Milliseconds = u.Milliseconds
		}
		reported.Images, reported.Characters, reported.Fees = u.Images, u.Characters, u.Fees
		return reported
	case chargeCounted:
		u.Output = max(report.Counted, min(u.Output, addSaturating(report.Counted, x.unfulfilled())))
	case chargeReserved:
	case chargeLarger:
		u.Output = max(report.Counted, u.Output)
		u.Milliseconds = max(u.Milliseconds, min(report.Usage.Milliseconds, x.longest()))
	default:
		return cost.Usage{}
	}
	return u
}

// unfulfilled is how much of a prediction may not have come true: that is billed as output, and nobody sees it.
func (x *exchange) unfulfilled() int64 {
	if x.estimate.ByPart[cost.PartPrediction] == 0 {
		return 0
	}
	return x.estimate.Beyond
}
