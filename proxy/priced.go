package proxy

import (
	"fmt"
	"net/http"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// price settles what this call costs: by the service tier that it asks for. It refuses what has no price: tiers, and tools
// that the provider runs.
func (x *exchange) price(r cost.Request) error {
	p := &x.facts.Price
	if r.Pictures.N > 0 {
		*p = p.ForPictures(r.Pictures)
	}
	if r.Tier != cost.Unstated {
		p.Asked = r.Tier
	}
	if r.Tier == cost.Flex && p.Flex == nil || r.Tier == cost.Priority && p.Priority == nil {
		return x.unpriced("tier_not_priced", "service_tier", fmt.Sprintf("The service tier %q has no price for the model `%s`", r.Tier, x.model),
			fmt.Sprintf("price: { input: $1, output: $4, %s: { input: $2, output: $8 } }", r.Tier))
	}
	if tool := x.facts.Unpriced(r); tool != "" {
		return x.unpriced("tool_not_priced", "tools", fmt.Sprintf("The provider runs the tool %q itself, and what it takes for that is not known for the model `%s`", tool, x.model),
			fmt.Sprintf("tools: { %s: $0.01 }", tool))
	}
	return nil
}

// priced refuses a call whose cost in money is unknown when money is what limits it.
func (x *exchange) priced() error {
	if x.facts.Priced {
		return nil
	}
	for _, b := range x.draws.budgets {
		if b.limit.Unit == limit.Dollars {
			return x.unpriced("model_not_priced", "model", fmt.Sprintf("The model `%s` has no price, and %s is in dollars", x.model, b.told()),
				"price: { input: $1, output: $4 }")
		}
	}
	return nil
}

// unpriced is the refusal of what has no price, with what the operator can write under the model for it to have one.
func (x *exchange) unpriced(code, param, what, member string) error {
	others := ""
	if code == "model_not_priced" {
		others = " (dollars per million tokens), a list with `prices: file.json`, or `unpriced: dearest`"
		if x.facts.Skipped != "" {
			others = " (dollars per million tokens), or `unpriced: dearest`; the price file's entry was not taken, because " + x.facts.Skipped
		}
	}
	return &unpricedError{&wire.Error{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf("%s. The operator of this proxy can add one: `models: { %q: { upstream: %s, %s } }`%s.%s",
			what, x.model, x.route.upstream.Name, member, others, x.help()),
	}}
}

// unpricedError says that what a call asks for has no price at the upstream of an attempt. At another it may have one.
type unpricedError struct{ answer *wire.Error }

// Error is the message the client gets.
func (e *unpricedError) Error() string { return e.answer.Message }

// Unwrap returns the answer to the client.
func (e *unpricedError) Unwrap() error { return e.answer }
