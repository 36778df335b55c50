package proxy

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/tokenfare/tokenfare/cost"
)

// bounds are the output bounds of the call, all choices together, in the order to be tried.
func (x *exchange) bounds(ctx context.Context, counted draws, limited bool) ([]int64, error) {
	switch {
	case !limited:
		return x.outputBounds(ctx, counted)
	case x.caller.output == FitOutput:
		fit, err := x.fitted(ctx, counted)
		return []int64{fit}, err
	default:
		return []int64{x.estimate.MaxOutput}, nil
	}
}

// outputBounds decides the output limit of a call that names none, for all choices together, in the order to be tried: a
// generous one, then the default. It is spliced into the request, so what the upstream may produce is never more than what is
// reserved. A call that no budget bounds keeps its freedom, and its estimate the default.
//
// The generous one is a quarter of what every budget has left. Both are at most what the model can produce, and at most what
// fits the smallest budget when it is full: a default must not lock small keys out. A stream that draws begins with the default.
func (x *exchange) outputBounds(ctx context.Context, counted draws) ([]int64, error) {
	fit, binding := x.outputThatFits(anyBudget)
	if !binding {
		return []int64{x.estimate.MaxOutput}, nil
	}
	ceiling := min(fit/x.choices, x.modelOutput())
	ordinary := min(max(1, x.defaultOutput()), ceiling)
	if x.mayDraw() {
		ordinary = max(x.least, ordinary) * x.choices
		x.drawFrom(ordinary)
		return []int64{ordinary}, nil
	}
	x.inserts = true
	generous := ordinary
	if x.facts.MaxOutput > 0 {
		left, err := x.outputLeft(ctx, counted, anyBudget)
		if err != nil {
			return nil, err
		}
		generous = min(ceiling, max(ordinary, left/4/x.choices))
	}
	// Where not even the least output fits, the bound stays at that, and fits names the prompt as the cause.
	ordinary, generous = max(x.least, ordinary), max(x.least, generous)
	if generous == ordinary {
		return []int64{ordinary * x.choices}, nil
	}
	return []int64{generous * x.choices, ordinary * x.choices}, nil
}

// bound is the most the call may consume with so much output, all choices together, besides what no limit bounds.
func (x *exchange) bound(output int64) cost.Bound {
	sized := x.estimate
	sized.MaxOutput = output
	return sized.Bound()
}

// boundTokens are all tokens of the bound in force.
func (x *exchange) boundTokens() int64 {
	most := x.bound(x.estimate.MaxOutput)
	return addSaturating(most.Input, most.Output)
}

// fitHosted decides how often the provider may run tools for a call that does not say: as often as is usual, but no more than
// fits the smallest budget when it is full, for a default must not lock small keys out. It is written into the request.
func (x *exchange) fitHosted(r cost.Request) {
	limited := r.MostHosted > 0
	fits := func(e cost.Estimate) bool {
		if !r.HasMaxOutput {
			e.MaxOutput = x.least * x.choices
		}
		for _, b := range x.draws.budgets {
			if b.reserve(e.Bound(), x.facts.Price) > b.limit.Capacity() {
				return false
			}
		}
		return true
	}
	for !limited && x.estimate.HostedCalls > 1 && !fits(x.estimate) {
		x.estimate = x.estimate.Hosting(x.estimate.HostedCalls - 1)
	}
	x.mayRunLess = !limited && x.estimate.HostedCalls > 1
}

// defaultOutput is the model's, or what nearly all of its answers were content with, if that is wanted and known.
func (x *exchange) defaultOutput() int64 {
	if x.route.LearnOutput {
		if learned, ok := x.server.learner.Output(x.facts.Name, nearlyAll); ok {
			return max(learned, min(leastLearned, x.facts.DefaultOutput))
		}
	}
	return x.facts.DefaultOutput
}

const (
	nearlyAll    = 0.99 // the share of answers that a learned default must not cut short
	leastLearned = 256  // tokens: a key that asks for nothing but short answers must not leave the others with less
)

// learn takes what the upstream reported of a call that ended well. What its caller has limited says nothing of how long answers are, and
// what we have cut would have been longer.
func (x *exchange) learn() {
	if x.limited || x.outcome.ending != "complete" || x.outcome.basis != chargeReported {
		return
	}
	output := x.outcome.usage.Output / x.choices
	if x.inserted > 0 && output >= x.inserted {
		output *= 2
	}
	x.server.learner.Observe(x.facts.Name, x.estimate.Input, x.outcome.usage.Input, output)
}

// anyBudget is for questions that are about all budgets.
func anyBudget(*budget) bool { return true }

// outputThatFits returns the largest output that every budget of those could hold if nothing were used, and whether any of them cares.
func (x *exchange) outputThatFits(of func(*budget) bool) (fit int64, binding bool) {
	fit = math.MaxInt64
	for _, b := range x.draws.budgets {
		if b.boundsOutput() && of(b) {
			binding = true
			fit = min(fit, b.outputWithin(b.limit.Capacity(), x.bound(0), x.facts.Price))
		}
	}
	return fit, binding
}

// inputThatFits returns the largest input that every budget could hold if nothing were used: beyond it nobody needs to know
// how long a prompt is.
func (x *exchange) inputThatFits() int64 {
	const most = 1 << 40 // tokens; beyond any model
	return int64(sort.Search(most, func(n int) bool {
		for _, b := range x.draws.budgets {
			if b.reserve(cost.Bound{Input: int64(n) + 1}, x.facts.Price) > b.limit.Capacity() {
				return true
			}
		}
		return false
	}))
}

// modelOutput is the most one choice can be, as far as known, given the prompt.
func (x *exchange) modelOutput() int64 {
	most := int64(math.MaxInt64)
	if x.facts.MaxOutput > 0 {
		most = x.facts.MaxOutput
	}
	if x.facts.Context > 0 {
		most = min(most, max(1, x.facts.Context-x.estimate.Input))
	}
	return most
}

// outputLeft returns the largest output for which every budget of those has room now.
func (x *exchange) outputLeft(ctx context.Context, counted draws, of func(*budget) bool) (int64, error) {
	if len(counted.charges) == 0 {
		return 0, nil
	}
	counted.size(cost.Bound{}, x.facts.Price)
	if _, err := x.server.options.Limiter.Peek(ctx, counted.charges); err != nil {
		return 0, fmt.Errorf("read budgets: %w", err)
	}
	return counted.outputLeft(x, of), nil
}

// outputLeft returns the largest output, all choices together, that the states last read would admit, of those budgets.
func (d *draws) outputLeft(x *exchange, of func(*budget) bool) int64 {
	left := int64(math.MaxInt64)
	for i, b := range d.budgets {
		if !of(b) {
			continue
		}
		left = min(left, b.outputWithin(d.charges[i].State.Remaining, x.bound(0), x.facts.Price))
	}
	return left
}
