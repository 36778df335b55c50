package proxy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// errBudget cancels the upstream's work on an answer that a budget has ended.
var errBudget = errors.New("the budget has ended the answer")

// drawing is how a stream without an output limit pays for what it says: ahead, in steps. What is reserved and drawn so far is
// the estimate's MaxOutput; what of it may pass is durable.
type drawing struct {
	step    int64   // tokens, all choices together
	most    int64   // tokens that limits on single calls allow
	mostBy  *budget // that allows no more
	steps   int     // that were drawn
	crumbs  int     // of them that were smaller than is worth a row
	covers  bool    // the answer is one that can be paid for as it passes
	durable int64   // of what is drawn: its rows are written
	ticket  ledger.Ticket
	again   time.Time // there is nothing to be had ahead before
	endedBy *budget   // that had nothing left; nil: none
}

// Each draw has a row, so a long answer must not take thousands.
const (
	smallStep  = 256 // tokens: no default is too small for a step of this, and parts of a step are:
	worthAWait = 8   // streams that share what refills get on together in such steps
	leastStep  = 32  // where even such a step would take too long to refill, this is waited for, and nothing less
	mostCrumbs = 16  // draws that are smaller yet, of what a budget has left at its end
)

// mayDraw reports whether the call draws, as it sets no output limit of its own. What a model thinks in hiding cannot be drawn for as it
// goes: who left before the usage came would have had it for nothing.
func (x *exchange) mayDraw() bool {
	return x.stream && !x.facts.Reasoning && x.caller.output != StrictOutput && (x.endpoint == wire.Chat || x.endpoint == wire.Responses)
}

// drawFrom begins with so much output. Where limits on single calls allow less than the model can produce, that goes upstream:
// it is known from the start.
func (x *exchange) drawFrom(output int64) {
	x.drawing = &drawing{step: max(output, smallStep), most: math.MaxInt64}
	for _, b := range x.draws.budgets {
		if b.counts() || !b.boundsOutput() {
			continue
		}
		if most := b.outputWithin(b.limit.Capacity(), x.bound(0), x.facts.Price); most < x.drawing.most {
			x.drawing.most, x.drawing.mostBy = most, b
		}
	}
	each := x.drawing.most / x.choices
	if each < x.modelOutput() && (x.facts.MaxOutput > 0 || each*x.choices <= output) {
		x.inserted = max(x.least, each)
	}
}

// cover is [wire.Cover]: it draws ahead while half a step is left, so that a stream need not wait for the ledger, and lets
// nothing pass whose row is not durable.
func (x *exchange) cover(ctx context.Context, wait bool) (bool, error) {
	d := x.drawing
	if x.answer.Beyond(d.durable) == 0 {
		x.drawAhead(ctx)
		return true, nil
	}
	if !wait {
		return false, nil
	}
	if x.idle.before != nil {
		if err := x.idle.before(); err != nil {
			return false, err
		}
	}
	if err := x.drawEnough(ctx); err != nil {
		return false, err
	}
	if err := d.ticket.Wait(ctx); err != nil {
		return false, fmt.Errorf("wait for the row of a draw: %w", err)
	}
	d.durable = x.estimate.MaxOutput
	return true, nil
}

// drawAhead draws a step if less than half of one is left. Nobody waits for it: what cannot be had now is asked for again when
// it can, or when it is needed.
func (x *exchange) drawAhead(ctx context.Context) {
	d := x.drawing
	if x.answer.Beyond(x.estimate.MaxOutput-d.step/2) == 0 || time.Now().Before(d.again) {
		return
	}
	n := x.nextStep()
	if n <= 0 {
		return
	}
	switch decision, _, err := x.drawMore(ctx, n); {
	case err != nil:
		d.again = time.Now().Add(time.Second)
	case !decision.OK:
		d.again = time.Now().Add(min(decision.RetryAfter, time.Hour))
	}
}

// drawEnough draws until all that was said is covered. What a budget cannot give now it waits for, if that is worth it.
func (x *exchange) drawEnough(ctx context.Context) error {
	began := time.Now()
	waited := false
	for {
		need := x.answer.Beyond(x.estimate.MaxOutput)
		if need == 0 {
			if waited {
				x.server.metrics.drawWaits.Observe(time.Since(began).Seconds())
			}
			return nil
		}
		wait, short, err := x.drawSome(ctx, need, x.server.options.DrawTimeout-time.Since(began))
		switch {
		case err != nil:
			return err
		case short != nil:
			return x.endBy(short)
		case wait == 0:
			continue
		}
		waited = true
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// drawSome draws a step, or as much of one as there is, but no less than is needed. What it cannot have it says how long to wait
// for: less of it if more would take longer than there is patience. It names the budget that has nothing for it.
func (x *exchange) drawSome(ctx context.Context, need int64, patience time.Duration) (wait time.Duration, short *budget, err error) {
	d := x.drawing
	first := max(need, x.nextStep())
	worth, least := max(need, min(first, d.step/worthAWait)), max(need, min(first, d.step/leastStep))
	for n := first; ; n = max(need, n/2) {
		crumb := n < least // never the first
		if crumb && d.crumbs == mostCrumbs {
			return 0, short, nil
		}
		if n = min(n, d.most-x.estimate.MaxOutput); n < need {
			return 0, d.mostBy, nil
		}
		decision, by, err := x.drawMore(ctx, n)
		short = by
		switch {
		case err != nil:
			return 0, nil, err
		case decision.OK:
			if crumb {
				d.crumbs++
			}
			return 0, nil, nil
		case !crumb && n <= worth && decision.RetryAfter <= patience:
			return max(time.Millisecond, decision.RetryAfter), nil, nil
		case n == need:
			return 0, short, nil
		}
	}
}

// nextStep is a step, or what the model can still say, if that is less.
func (x *exchange) nextStep() int64 {
	d := x.drawing
	n := min(d.step, d.most-x.estimate.MaxOutput)
	if x.facts.MaxOutput > 0 {
		if left := x.modelOutput()*x.choices - x.estimate.MaxOutput; left > 0 { // else the model can do more than is known
			n = min(n, left)
		}
	}
	return n
}

// drawMore takes so much output more from all budgets or from none, and says which refuses. What was drawn is part of the reservation
// from then on, and has a row.
func (x *exchange) drawMore(ctx context.Context, n int64) (limiter.Decision, *budget, error) {
	before := x.bound(x.estimate.MaxOutput)
	after := x.bound(addSaturating(x.estimate.MaxOutput, n))
	more := make([]limiter.Charge, 0, len(x.draws.charges))
	at := make([]int, 0, len(x.draws.charges))
	for i, b := range x.draws.budgets {
		if b.counts() && b.boundsOutput() {
			more = append(more, limiter.Charge{Budget: x.draws.charges[i].Budget, N: b.reserve(after, x.facts.Price) - x.draws.charges[i].N})
			at = append(at, i)
		}
	}
	if x.held != nil && len(more) > 0 {
		decision, err := x.held.Draw(ctx, more)
		if err != nil {
			return decision, nil, fmt.Errorf("draw: %w", err)
		}
		if !decision.OK {
			return decision, x.draws.budgets[at[decision.Refused]], nil
		}
	}
	row := &ledger.Draw{
		Exchange: x.id, More: cost.Usage{Output: n},
		Reserved: x.facts.Price.Ceiling(after) - x.facts.Price.Ceiling(before),
	}
	for k, i := range at {
		b := x.draws.budgets[i]
		x.draws.grow(i, more[k].N)
		b.series.Reserved(more[k].N)
		row.Charges = append(row.Charges, ledger.Charge{Budget: b.entry, Late: more[k].N})
	}
	for i, b := range x.observed.budgets {
		if b.counts() && b.boundsOutput() {
			by := b.reserve(after, x.facts.Price) - x.observed.charges[i].N
			x.observed.grow(i, by)
			row.Charges = append(row.Charges, ledger.Charge{Budget: b.entry, Late: by})
		}
	}
	x.estimate.MaxOutput += n
	x.drawing.steps++
	x.drawing.again = time.Time{}
	row.Step = x.drawing.steps
	x.adding.more(n)
	x.server.metrics.draws.Inc()
	if x.entry.begun {
		x.drawing.ticket = x.server.options.Ledger.Draw(row)
	}
	return limiter.Decision{OK: true, Refused: -1}, nil, nil
}

// endBy ends the answer, as a budget has nothing left for it, and the upstream's work on it.
func (x *exchange) endBy(b *budget) error {
	x.drawing.endedBy = b
	x.cancel(errBudget)
	return &wire.Ending{
		Budget: b.label(), Choices: x.choices, Asked: x.asked,
		Usage: cost.Usage{Input: x.estimate.Input, Output: x.counted()},
	}
}

// counted is what the answer has said. Where that is paid for as it passes, what could not be paid for has not passed.
func (x *exchange) counted() int64 {
	if x.drawing != nil && x.drawing.covers {
		return min(x.answer.Counted(), x.estimate.MaxOutput)
	}
	return x.answer.Counted()
}

// endedByBudget is the budget that ended the answer; nil: none did.
func (x *exchange) endedByBudget() *budget {
	if x.drawing == nil {
		return nil
	}
	return x.drawing.endedBy
}
