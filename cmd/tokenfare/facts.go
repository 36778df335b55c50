package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// offer is a model as a caller may name it, with the facts it is charged by.
type offer struct {
	name     string // a model's name, or a pattern that no model known here matches
	as       string // the name the upstream knows
	upstream string
	facts    cost.Model
}

// offers lists every model there is to call: the exact names of the configuration, and for each pattern the models of
// the catalog it catches. Sorted by name.
func (c *Config) offers(catalog *cost.Catalog) []offer {
	models := c.models()
	var out []offer
	seen := map[string]bool{}
	add := func(name string, m ModelConfig) {
		if !seen[name] {
			seen[name] = true
			out = append(out, m.offer(name, catalog))
		}
	}
	for _, m := range models {
		if !strings.ContainsAny(m.Pattern, "*?") {
			add(m.Pattern, m)
		}
	}
	caught := map[string]bool{}
	for _, known := range catalog.Known() {
		if m := longest(models, known.Name); m != nil {
			caught[m.Pattern] = true
			add(known.Name, *m)
		}
	}
	for _, m := range models {
		if strings.ContainsAny(m.Pattern, "*?") && !caught[m.Pattern] {
			add(m.Pattern, m)
		}
	}
	slices.SortFunc(out, func(a, b offer) int { return cmp.Compare(a.name, b.name) })
	return out
}

// longest finds the model a name belongs to: the exact one, else the longest pattern that matches.
func longest(models []ModelConfig, name string) *ModelConfig {
	var best *ModelConfig
	for i := range models {
		m := &models[i]
		if m.Pattern == name {
			return m
		}
		if limit.Glob(m.Pattern, name) && (best == nil || len(m.Pattern) > len(best.Pattern)) {
			best = m
		}
	}
	return best
}

// offer applies the configuration of a model to what the catalog knows of it.
func (m ModelConfig) offer(name string, catalog *cost.Catalog) offer {
	o := offer{name: name, as: cmp.Or(m.Model, name), upstream: m.Upstream}
	o.facts = catalog.Model(cmp.Or(m.CountsAs, o.as))
	if m.Reasoning != nil {
		o.facts.Reasoning = *m.Reasoning
		if o.facts.Reasoning {
			o.facts.DefaultOutput = max(o.facts.DefaultOutput, 16_384)
		}
	}
	o.facts.DefaultOutput = cmp.Or(m.DefaultOutputTokens, o.facts.DefaultOutput)
	o.facts.MaxOutput = cmp.Or(m.MaxOutputTokens, o.facts.MaxOutput)
	o.facts.Context = cmp.Or(m.ContextTokens, o.facts.Context)
	if o.facts.MaxOutput > 0 {
		o.facts.DefaultOutput = min(o.facts.DefaultOutput, o.facts.MaxOutput)
	}
	if m.Price != nil {
		o.facts.Priced, o.facts.Price = true, *m.Price
	}
	return o
}

// usable filters the offers a key may call.
func (k KeyConfig) usable(offers []offer) []offer {
	if len(k.Models) == 0 {
		return offers
	}
	var out []offer
	for _, o := range offers {
		if slices.ContainsFunc(k.Models, func(p string) bool { return limit.Glob(p, o.name) }) {
			out = append(out, o)
		}
	}
	return out
}

// need is what a call that fills the context and gives no output limit takes from a limit; 0 where it is not known, or
// not such a limit's business.
func (o offer) need(l limit.Limit) int64 {
	if o.facts.Context == 0 || l.Kind == limit.PerRequest || l.Observe || !l.Applies(o.name, o.as) {
		return 0
	}
	switch l.Unit {
	case limit.Tokens:
		return o.facts.Context + o.facts.DefaultOutput
	case limit.InputTokens, limit.UncachedInputTokens:
		return o.facts.Context
	case limit.OutputTokens:
		return o.facts.DefaultOutput
	case limit.Dollars:
		if o.facts.Priced {
			return int64(o.facts.Price.Ceiling(o.facts.Context, o.facts.DefaultOutput))
		}
	}
	return 0
}
