package proxy

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// Explanation is what a request would be charged, and why.
type Explanation struct {
	Model       string // as the request names it
	Upstream    string
	ServedAs    string     // the name the upstream gets
	Facts       cost.Model // what is known of the model
	Prompt      string     // the member that holds the prompt
	Estimate    cost.Estimate
	Limited     bool  // the request limits its output, or its endpoint has none
	Inserted    int64 // output limit that would be inserted for each choice, or the caller's be lowered to; 0 if none
	Step        int64 // output, all choices together, that a stream is given to begin with, and draws again and again; 0 if it does not
	Choices     int64
	Floor       cost.NanoUSD // the least it can cost: all of the input from the cache, no tool run by the provider, and FloorOutput; 0 if the model has no price
	FloorOutput int64        // tokens: one for each choice, those of pictures, none where there is no output
	Ceiling     cost.NanoUSD // the most it may cost; 0 if the model has no price
	Draws       []Draw
	NeverPasses string // why it can never pass, in the words of the refusal; empty if it can
}

// Draw is what a request would take from one budget that is not used otherwise.
type Draw struct {
	Owner, Limit string
	Amount       string // in the budget's unit
	Capacity     string
	Observed     bool // only watched
}

// Explain answers for a request to an endpoint what [Server.ServeHTTP] would reserve for the caller of that name, were all its
// budgets full. It reserves and sends nothing. What the request names of what is stored at the provider is left out. contentType is that of the body, and matters where the endpoint takes forms.
func (s *Server) Explain(ctx context.Context, key string, endpoint wire.Endpoint, contentType string, body []byte) (*Explanation, error) {
	p := s.current()
	x := &exchange{server: s, endpoint: endpoint, policy: p, caller: p.callerNamed(key), began: s.wall(), choices: 1}
	if x.caller == nil {
		return nil, fmt.Errorf("there is no key %q", key)
	}
	rise, err := s.sit(ctx, int64(len(body)))
	if err != nil {
		return nil, err
	}
	defer rise()
	request, err := wire.Read(endpoint, contentType, body)
	if err != nil {
		return nil, err
	}
	if p.stateless {
		if err := request.Stateless(); err != nil {
			return nil, err
		}
	}
	if err := x.find(request); err != nil {
		return nil, err
	}
	x.route = x.routes[0]
	if err := x.resolve(request); err != nil {
		return nil, err
	}
	if err := x.meter(ctx, request); err != nil {
		return nil, err
	}
	bounds, err := x.bounds(ctx, x.countedDraws(), request.Cost.HasMaxOutput || endpoint == wire.InputTokens)
	if err != nil {
		return nil, err
	}
	output := bounds[0]
	x.size(output)
	e := &Explanation{
		Model: x.model, Upstream: x.route.upstream.Name, ServedAs: x.route.upstreamName(x.model), Facts: x.facts,
		Prompt: x.prompt, Estimate: x.estimate, Limited: request.Cost.HasMaxOutput, Inserted: x.inserted, Choices: x.choices,
	}
	if x.drawing != nil {
		e.Step = x.drawing.step
	}
	if x.facts.Priced {
		e.FloorOutput = min(x.choices, x.estimate.MaxOutput)
		if x.estimate.Pictures > 0 { // which are as large as they are asked for
			e.FloorOutput = x.estimate.MaxOutput
		}
		least := x.bound(output)
		least.Output, least.Fees = e.FloorOutput, 0
		least.Input -= x.estimate.ByPart[cost.PartHosted] // no tool need run
		e.Floor = x.facts.Price.Floor(least)
		e.Ceiling = x.facts.Price.Ceiling(x.bound(output))
	}
	if err := x.fits(output); err != nil {
		e.NeverPasses = err.Error()
	}
	e.Draws = append(x.explainDraws(x.draws, false), x.explainDraws(x.observed, true)...)
	return e, nil
}

func (x *exchange) explainDraws(d draws, observed bool) []Draw {
	var out []Draw
	for _, b := range d.budgets {
		out = append(out, Draw{
			Owner: b.owner.String(), Limit: b.sentence(), Observed: observed,
			Amount:   b.amountText(b.reserve(x.bound(x.estimate.MaxOutput), x.facts.Price)),
			Capacity: b.amountText(b.limit.Capacity()),
		})
	}
	return out
}

// amountText writes n in the budget's unit, plain enough to compare.
func (b *budget) amountText(n int64) string {
	if b.limit.Unit == limit.Dollars {
		return cost.NanoUSD(n).String()
	}
	return strconv.FormatInt(n, 10)
}

func (p *Policy) callerNamed(name string) *caller {
	for _, c := range p.callers {
		if c.name == name {
			return c
		}
	}
	return nil
}
