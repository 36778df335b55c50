package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// settleTimeout bounds how long settling may hold up the end of an answer: a chunked answer is only closed after it.
const settleTimeout = 2 * time.Second

// bounded is a context for what the limiter does. One that is in memory never waits, and needs no timer.
func (s *Server) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, inMemory := s.options.Limiter.(*limiter.Memory); inMemory {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, settleTimeout)
}

// cause is why an exchange ends.
type cause uint8

const (
	endedAnswer  cause = iota // the answer was relayed, or there is none to relay
	endedBroken               // the transfer broke off, on either side
	endedPanic                // something here went wrong
	endedRefused              // it never went upstream
)

// basis is what a charge rests on.
type basis uint8

const (
	chargeNothing  basis = iota
	chargeReported       // the upstream's own usage
	chargeCounted        // counted prompt and counted output
	chargeReserved       // the whole reservation: more may have happened than was seen
	chargeLarger         // what was counted or what was reserved, whichever is more
)

func (b basis) String() string {
	return [...]string{"nothing", "reported", "counted", "unreported", "distrusted"}[b]
}

// facts are what the table of endings looks at.
type facts struct {
	cause     cause
	written   bool // the request reached the upstream whole
	status    int  // 0: no status came
	streamed  bool
	reasoning bool // hidden output may have been made
	unseen    bool // what was made is no text, or not all of it is returned, so it cannot be counted
	reported  bool
	credible  bool // a reported usage is possible at all
	complete  bool // the answer came to its own end
	ended     bool // by a budget that had nothing left for more of it
}

// endedBudget is the ending of an answer that a budget has ended, whatever it is charged.
const endedBudget = "ended_budget"

// endings is the table: the first row that fits says what is charged. It is printed in the README.
var endings = []struct {
	name string
	when func(f facts) bool
	then basis
}{
	{"refused", func(f facts) bool { return f.cause == endedRefused }, chargeNothing},
	{"never_connected", func(f facts) bool { return f.status == 0 && !f.written }, chargeNothing},
	{"upstream_error", func(f facts) bool { return f.status >= 300 }, chargeNothing},
	{"no_status", func(f facts) bool { return f.status == 0 }, chargeReserved},
	{endedBudget, func(f facts) bool { return f.ended }, chargeCounted}, // never of a model that reasons
	{"incredible_usage", func(f facts) bool { return f.reported && !f.credible }, chargeLarger},
	{"complete", func(f facts) bool { return f.reported && f.complete }, chargeReported},
	{"complete_unreported", func(f facts) bool { return f.complete && !f.unseen }, chargeCounted},
	{"complete_uncountable", func(f facts) bool { return f.complete }, chargeReserved},
	{"broken_reported", func(f facts) bool { return f.reported }, chargeReported},
	{"broken_stream", func(f facts) bool { return f.streamed && !f.reasoning && !f.unseen }, chargeCounted},
	{"broken", func(facts) bool { return true }, chargeReserved},
}

// outcome is how an exchange ended and what it was charged.
type outcome struct {
	ending string
	basis  basis
	usage  cost.Usage
	cost   cost.NanoUSD
	over   int64  // tokens used beyond the reservation
	served string // the model that the answer names
}

// close is deferred by the handler: it settles the exchange if nothing else has, whatever is unwinding the stack.
func (x *exchange) close() {
	p := recover()
	switch {
	case p == http.ErrAbortHandler: //nolint:errorlint // net/http compares it so, too
		x.end(endedBroken)
	case p != nil:
		x.end(endedPanic)
	case !x.begun:
		x.end(endedRefused)
	case x.cut != nil:
		x.end(endedBroken)
	default:
		x.end(endedAnswer)
	}
	if x.body != nil {
		x.body.release()
	}
	if p != nil {
		panic(p)
	}
}

// end is the one place where an exchange ends. The first call settles; later ones change nothing.
func (x *exchange) end(why cause) {
	if x.ended {
		return
	}
	x.ended = true
	if x.begun { // should judging panic, the whole reservation is charged, and the panic goes on its way
		x.outcome = x.charged("broken", chargeReserved, wire.Report{})
	}
	defer x.squareUp() // whatever the call's own context says
	var report wire.Report
	if x.answer != nil {
		report = x.answer.Report()
		if report.Err != nil && x.cut == nil {
			x.cut = report.Err
		}
	}
	x.outcome = x.judge(why, report)
	x.learn()
}

// squareUp settles what the exchange holds, and records whose it is what the provider has stored.
func (x *exchange) squareUp() {
	ctx, cancel := x.server.bounded(context.Background())
	defer cancel()
	if err := x.settle(ctx); err != nil {
		x.server.metrics.settleFailed.Inc()
		x.server.options.Log.Error("settle", "key", x.caller.name, "error", err)
	}
	x.own()
}

// judge looks the ending up and works out what it is charged.
func (x *exchange) judge(why cause, report wire.Report) outcome {
	f := facts{
		cause: why, written: x.written, status: x.status, streamed: x.stream && !x.unreadable, reasoning: x.facts.Reasoning,
		unseen:   report.Unseen || x.discards,
		reported: report.Reported || report.Invalid,
		credible: x.credible(report),
		complete: why == endedAnswer && report.Complete && report.Err == nil,
		ended:    x.endedByBudget() != nil,
	}
	if f.ended || report.Counted > 0 {
		report.Counted = x.counted()
	}
	for _, row := range endings {
		if !row.when(f) {
			continue
		}
		if row.then == chargeLarger {
			report.Counted = x.counted() // not counted as long as the usage is believed
		}
		return x.charged(row.name, row.then, report)
	}
	panic("BUG: the table of endings has no row for this exchange")
}

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

// credible reports whether a reported usage can be true: not zero when output was seen, and no more than the model can hold.
func (x *exchange) credible(report wire.Report) bool {
	const holds = 1 << 24 // tokens; for models whose size is unknown: more than any has
	context, output := x.facts.Context, x.facts.MaxOutput
	if context == 0 || output == 0 {
		context, output = holds, holds
	}
	u := report.Usage
	switch {
	case u.Milliseconds > x.longest():
		return false
	case u.Milliseconds > 0 && u.Input == 0 && u.Output == 0 && !report.Invalid: // a recording that is billed by its length
		return true
	case report.Invalid || u.Input <= 0 || u.Output < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output:
		return false
	case u.Output == 0 && report.SawOutput:
		return false
	case x.endpoint == wire.Embeddings && u.Input > x.length: // every token is at least a byte of some input
		return false
	default:
		prompts, readings := x.contexts()
		return u.Input/prompts/readings <= context && u.Output/x.choices/readings <= context+output
	}
}

// longest is the longest that a recording can be said to be, in milliseconds. What was reserved is no measure of it, for that
// rests on what the file's headers say: what goes beyond is debt. Silence may take next to no bytes, so a day is believed of
// any upload, and of large ones what they have at the slowest rate of any speech.
func (x *exchange) longest() int64 {
	const day = 24 * 60 * 60 * 1000
	return max(day, cost.LongestAudio(x.length), x.bound(0).Milliseconds)
}

// contexts are how many prompts there are in the request, and how often each is read: again with what each tool has found that
// the provider runs. Every one may be as long as the model can hold.
func (x *exchange) contexts() (prompts, readings int64) {
	prompts, readings = 1, 1
	if x.endpoint == wire.Completions {
		prompts = x.choices
	}
	if x.estimate.ByPart[cost.PartHosted] > 0 {
		readings = x.estimate.HostedCalls + 2 // one tool may run once besides
	}
	return prompts, readings
}

// settle replaces the reservation by the charge, counts what limits that only observe saw, and has the ledger told.
func (x *exchange) settle(ctx context.Context) error {
	amounts := make([]int64, len(x.draws.budgets))
	var observed []int64
	if x.outcome.basis != chargeNothing {
		amounts = x.draws.amounts(x.outcome.usage, x.facts.Price)
		observed = x.observed.amounts(x.outcome.usage, x.facts.Price)
		if x.outcome.basis == chargeReserved || x.outcome.basis == chargeLarger {
			x.draws.keepReserved(amounts)
		}
	}
	x.recordEnd(amounts, observed)
	var failed []error
	if x.held != nil {
		if err := x.held.Settle(ctx, amounts); err != nil {
			failed = append(failed, fmt.Errorf("settle reservation: %w", err))
		} else {
			for i, b := range x.draws.budgets {
				b.series.Settled(x.draws.charges[i].N, amounts[i])
			}
		}
	}
	if err := x.watched.Cancel(ctx); err != nil {
		failed = append(failed, fmt.Errorf("give back a place among calls at once: %w", err))
	}
	if err := x.countObserved(ctx, observed); err != nil {
		failed = append(failed, fmt.Errorf("count observed limits: %w", err))
	}
	return errors.Join(failed...)
}

// countObserved counts what a call has used with limits that only observe.
func (x *exchange) countObserved(ctx context.Context, amounts []int64) error {
	for i, n := range amounts {
		x.observed.charges[i].N = n
	}
	counted := x.observed.counted()
	if len(amounts) == 0 || len(counted) == 0 {
		return nil
	}
	if err := x.server.options.Limiter.Inc(ctx, counted); err != nil {
		return err
	}
	for i, b := range x.observed.budgets {
		if b.counts() {
			b.series.Spent(x.observed.charges[i].N)
		}
	}
	return nil
}
