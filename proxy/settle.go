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
