package soak

import (
	"fmt"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// price is what a token costs, in whole nano-dollars: what a usage costs is worked out here without the program's own arithmetic.
type price struct{ input, output int64 }

// prices are those of all models that are asked for; the configuration says so.
var prices = map[string]price{
	"gpt-4o-mini": {150, 600}, "gpt-4o": {2500, 10000}, "gpt-5-mini": {250, 2000}, "text-embedding-3-small": {20, 0}, "gpt-4.1-nano": {100, 400},
}

// yaml is a member of a model's entry in the configuration, which has dollars for a million tokens.
func (p price) yaml() string {
	return fmt.Sprintf("price: { input: $%d.%03d, output: $%d.%03d }", p.input/1000, p.input%1000, p.output/1000, p.output%1000)
}

// of is what a usage costs. Nothing here is cached, or of another kind.
func (p price) of(u cost.Usage) int64 { return u.Input*p.input + u.Output*p.output }

// figure is what a usage is in a unit.
func (p price) figure(unit string, u cost.Usage) int64 {
	switch unit {
	case limit.Requests.String():
		return 1
	case limit.Dollars.String():
		return p.of(u)
	case limit.InputTokens.String(), limit.UncachedInputTokens.String():
		return u.Input
	case limit.OutputTokens.String():
		return u.Output
	default:
		return u.Input + u.Output
	}
}

// money says what is wrong with what a call cost, and with what it charged its budgets, given what it has used.
func (p price) money(due charge, x *ledger.Exchange) error {
	b, e := &x.Begin, x.End
	reserved := int64(b.Reserved)
	if want := p.of(b.Most); reserved != want || b.Price == "" {
		return fmt.Errorf("%s are reserved at price %q, want %s", b.Reserved, b.Price, cost.NanoUSD(want))
	}
	for i := range x.Draws {
		reserved += int64(x.Draws[i].Reserved)
	}
	switch want := p.of(e.Usage); {
	case due.nothing && (e.Cost != 0 || e.Basis != ledger.Nothing):
		return fmt.Errorf("it costs nothing, and %s are charged, on the basis %s", e.Cost, e.Basis)
	case due.nothing: // so it is
	case due.whole && int64(e.Cost) != reserved:
		return fmt.Errorf("it costs all it had reserved, %s, and %s are charged", cost.NanoUSD(reserved), e.Cost)
	case int64(e.Cost) != want || e.Basis == ledger.Nothing:
		return fmt.Errorf("it costs %s, and %s are charged, on the basis %s", cost.NanoUSD(want), e.Cost, e.Basis)
	}
	for _, c := range e.Charges {
		want := int64(0)
		if !due.nothing {
			want = p.figure(c.Budget.Unit, e.Usage)
		}
		if c.N+c.Late != want {
			return fmt.Errorf("%q is charged %d, want %d", c.Budget.Name, c.N+c.Late, want)
		}
	}
	return nil
}

// pricedModels are models of a configuration, all served by one upstream, in block YAML.
func pricedModels(upstream string, models ...string) string {
	var b strings.Builder
	for _, m := range models {
		fmt.Fprintf(&b, "  %q: { upstream: %s, %s }\n", m, upstream, prices[m].yaml())
	}
	return b.String()
}
