package proxy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// longestToken is the length in bytes of the longest token of any of OpenAI's vocabularies.
const longestToken = 128

// admit reads the request, estimates the most it may cost and reserves that from every budget that applies, or refuses.
// When it returns nil the reservation is held and the body is ready to be sent.
func (s *Server) admit(x *exchange, w http.ResponseWriter, r *http.Request) error {
	if err := s.mayRecord(); err != nil {
		return err
	}
	if err := x.readLabel(r.Header); err != nil {
		return err
	}
	body, err := s.readBody(x.caller, w, r)
	if err != nil {
		return err
	}
	x.body, x.length = body, int64(len(body.bytes))
	rise, err := s.sit(r.Context(), x.length)
	if err != nil {
		return err
	}
	defer rise()
	request, err := wire.Read(x.endpoint, r.Header.Get("Content-Type"), body.bytes)
	if err != nil {
		return err
	}
	x.media = cmp.Or(request.ContentType, "application/json")
	if err := x.find(request); err != nil {
		return err
	}
	if err := x.admitSomewhere(r.Context(), request); err != nil {
		return err
	}
	if len(x.routes) > 0 {
		x.request = request // another upstream may have to be asked
	}
	return nil
}

// resolve finds out what is known of the model where this attempt's calls go.
func (x *exchange) resolve(request *wire.Request) error {
	x.member = cmp.Or(request.OutputMember, request.LimitMember(x.route.outputMember()))
	x.facts = x.route.facts(x.policy.catalog, request.Model)
	return x.price(request.Cost)
}

// meter counts the prompt and names the budgets the call draws on. A body that was refused a moment ago is not counted again.
func (x *exchange) meter(ctx context.Context, request *wire.Request) error {
	x.draws.grown(len(x.caller.budgets) + len(x.route.upstream.budgets))
	x.draw(x.caller.budgets)
	x.draw(x.route.upstream.budgets)
	x.drawn = true
	if x.endpoint == wire.InputTokens {
		return nil // it takes a place among requests, and nothing else
	}
	if err := x.priced(); err != nil {
		return err
	}
	if err := x.hopeless(request.Cost); err != nil {
		return err
	}
	known, ok := x.server.memo.recall(x, request.Body())
	if !ok {
		most := int64(math.MaxInt64)
		if len(request.Body()) > longPrompt {
			most = x.inputThatFits()
		}
		var err error
		x.estimate, err = x.server.options.Estimator.EstimateUpTo(ctx, request.Cost, x.facts, most)
		x.partial = x.estimate.Input > most
		x.fitHosted(request.Cost)
		return err
	}
	x.estimate, x.partial = known.estimate, known.partial
	if x.began.Before(known.until) {
		x.server.metrics.earlyRetries.WithLabelValues(x.caller.name).Inc()
	}
	return nil
}

// hopeless refuses, without counting it, a prompt whose length alone says that no budget can ever hold it.
func (x *exchange) hopeless(r cost.Request) error {
	least := addSaturating(r.TokenIDs+r.PromptIDs, addSaturating(r.Files(x.facts), r.Stored))
	for _, text := range r.Text {
		least += int64(len(text.S)) / longestToken
	}
	for _, tool := range r.Tools {
		least += int64(len(tool)) / (4 * longestToken) // what is shown of it is shorter
	}
	least = min(least, x.facts.Ratio.Of(least)) // a vocabulary of which the text has fewer tokens
	for _, b := range x.draws.budgets {
		if need := b.reserve(cost.Bound{Input: least}, x.facts.Price); need > b.limit.Capacity() {
			x.estimate, x.partial = cost.Estimate{Input: least}, true
			return x.neverFits(b, need)
		}
	}
	return nil
}

// draw adds those of the budgets that this call concerns.
func (x *exchange) draw(budgets []*budget) {
	var names []string
	for _, b := range budgets {
		if names == nil && len(b.limit.Models) > 0 {
			names = x.route.limitNames(x.policy.catalog, x.model)
		}
		switch {
		case b.expired(x.began) || !b.limit.Applies(names...):
		case b.limit.Observe:
			x.observed.add(b)
		default:
			x.draws.add(b)
		}
	}
}

// reserve takes the estimate from all budgets or from none. A call without an output limit of its own is given one that is
// reserved with it; where the generous one does not fit, the default is tried before the call is refused. So is a single run
// of the provider's tools, where the call does not say how many.
func (x *exchange) reserve(ctx context.Context, limited bool) error {
	counted := x.countedDraws()
	bounds, err := x.bounds(ctx, counted, limited)
	if err != nil {
		return err
	}
	if err := x.fits(bounds[len(bounds)-1]); err != nil {
		return err
	}
	asked, began := x.estimate.MaxOutput, time.Now()
	x.id = x.server.ids.Next() // anew: it dates what is charged
	x.rec.id = x.id
	if x.mayRunLess {
		bounds = append(bounds, bounds[len(bounds)-1])
	}
	var decision limiter.Decision
	for i, output := range bounds {
		if x.mayRunLess && i == len(bounds)-1 {
			x.estimate = x.estimate.Hosting(1)
		}
		x.size(output)
		counted.size(x.bound(output), x.facts.Price)
		if len(counted.charges) == 0 {
			return x.watch(ctx)
		}
		held, d, err := x.server.options.Limiter.Reserve(x.withOwner(ctx), counted.charges)
		if err != nil {
			return fmt.Errorf("reserve: %w", err)
		}
		if decision = d; d.OK {
			x.held, x.draws, x.fresh = held, counted, true
			x.server.metrics.reserved(counted, d.Source, time.Since(began))
			return x.watch(ctx)
		}
	}
	if limited && x.inserts && x.refits < fitTries { // others have taken what was left
		x.refits++
		x.estimate.MaxOutput = asked
		return x.reserve(ctx, limited)
	}
	x.draws, x.fresh = counted, true
	x.server.metrics.refusedBy(counted.budgets[decision.Refused], decision.Source, time.Since(began))
	err = x.refuse(ctx, decision)
	if x.refused != nil {
		x.refused.estimate.MaxOutput = asked
	}
	return err
}

// size settles on an output bound for the whole call.
func (x *exchange) size(output int64) {
	x.estimate.MaxOutput = output
	if x.inserts {
		x.inserted = output / x.choices
	}
}

// countedDraws are the draws that take something; "per request" limits only measure. Where there are none of these, they are the
// same as all draws.
func (x *exchange) countedDraws() draws {
	if !slices.ContainsFunc(x.draws.budgets, func(b *budget) bool { return !b.counts() }) {
		return x.draws
	}
	var counted draws
	counted.grown(len(x.draws.budgets))
	for _, b := range x.draws.budgets {
		if b.counts() {
			counted.add(b)
		}
	}
	return counted
}

// watch notes what the limits that only observe would have said. Those on calls at once hold the call, for what they would say
// hangs on who runs meanwhile; the others count it when it has ended.
func (x *exchange) watch(ctx context.Context) error {
	var running draws
	for i, b := range x.observed.budgets {
		n := b.reserve(x.bound(x.estimate.MaxOutput), x.facts.Price)
		if !b.counts() {
			x.server.metrics.watched(b, n <= b.limit.Capacity())
			continue
		}
		x.observed.charges[i].N = n
		if b.atOnce() {
			running.add(b)
			continue
		}
		d, err := x.server.options.Limiter.Peek(ctx, x.observed.charges[i:i+1])
		if err != nil {
			return fmt.Errorf("observe %s: %w", b, err)
		}
		x.server.metrics.watched(b, d.OK)
	}
	if len(running.budgets) == 0 {
		return nil
	}
	running.size(cost.Bound{}, cost.Price{})
	held, _, err := x.server.options.Limiter.Reserve(x.withOwner(ctx), running.charges)
	if err != nil {
		return fmt.Errorf("observe calls at once: %w", err)
	}
	x.watched = held
	for i, b := range running.budgets {
		x.server.metrics.watched(b, running.charges[i].State.Held <= b.limit.Amount)
	}
	return nil
}

// edits are the splices this call needs.
func (x *exchange) edits(request *wire.Request) wire.Edits {
	e := wire.Edits{Model: x.route.As, MaxOutput: x.inserted, OutputMember: x.route.outputMember(), RenameLimit: x.route.OutputMember != ""}
	if e.Model == request.Model {
		e.Model = ""
	}
	if e.MaxOutput == 0 {
		e.MaxOutput = request.MustLimit
	}
	if request.Cost.MostHosted == 0 {
		e.MostRuns = x.estimate.HostedCalls
	}
	e.NotStored = !x.server.owning(x.policy)
	if request.Stream && request.UsageOption && !request.IncludeUsage && x.route.upstream.inject {
		e.IncludeUsage, x.withhold = true, true
	}
	return e
}
