package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// offer is a model as a caller may name it, with the facts it is charged by at one of the upstreams that serve it.
type offer struct {
	name     string   // a model's name, or a pattern that no model known here matches
	names    []string // all the names by which a limit may mean it
	upstream string
	others   bool // other upstreams serve it, too
	facts    cost.Model
}

// offers lists every model there is to call: the exact names of the configuration, for each pattern the models of the
// catalog it catches (see listedBy), and what else the keys name. Sorted by name.
func (c *Config) offers(catalog *cost.Catalog) []offer {
	models := c.models()
	var out []offer
	seen := map[string]bool{}
	add := func(name string, m ModelConfig) {
		if !seen[name] {
			seen[name] = true
			places := m.places()
			for _, there := range places {
				o := c.offer(there, name, catalog)
				o.others = len(places) > 1
				out = append(out, o)
			}
		}
	}
	for _, m := range models {
		if !strings.ContainsAny(m.Pattern, "*?") {
			add(m.Pattern, m)
		}
	}
	caught := map[string]bool{}
	for _, known := range catalog.Known() {
		if m := longest(models, known.Name); m != nil && listedBy(m.Pattern, known.Name) {
			caught[m.Pattern] = true
			add(known.Name, *m)
		}
	}
	for _, m := range models {
		if strings.ContainsAny(m.Pattern, "*?") && !caught[m.Pattern] {
			add(m.Pattern, m)
		}
	}
	// What keys name that is neither: a model no list knows, or a pattern that meets one of ours.
	for _, k := range c.Keys {
		for _, p := range k.Models {
			if slices.ContainsFunc(out, func(o offer) bool { return limit.Glob(p, o.name) }) {
				continue
			}
			if m := meeting(models, p); m != nil {
				add(p, *m)
			}
		}
	}
	slices.SortFunc(out, func(a, b offer) int { return cmp.Compare(a.name, b.name) })
	return out
}

// listedBy reports whether a model of the price list is worth a line for a pattern that catches it. A price file names
// thousands as vendor/model, which mean something only where the pattern names the vendor.
func listedBy(pattern, name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(pattern, "/")
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

// meeting finds the model that a key's pattern lets in, or nil if there is none.
func meeting(models []ModelConfig, pattern string) *ModelConfig {
	if !strings.ContainsAny(pattern, "*?") {
		return longest(models, pattern)
	}
	for i := range models {
		if limit.Overlap(pattern, models[i].Pattern) {
			return &models[i]
		}
	}
	return nil
}

// offer is what callers get who ask for that name, in the proxy's own words.
func (c *Config) offer(m ModelConfig, name string, catalog *cost.Catalog) offer {
	spec := m.spec(c.Unpriced)
	var u proxy.UpstreamSpec
	if i := slices.IndexFunc(c.Upstreams, func(u UpstreamConfig) bool { return u.Name == m.Upstream }); i >= 0 {
		u = c.Upstreams[i].spec(0)
	}
	return offer{
		name: name, names: proxy.LimitNames(spec, catalog, name), upstream: m.Upstream,
		facts: proxy.ModelFacts(spec, u, catalog, name),
	}
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
	if o.facts.Context == 0 || l.Kind == limit.PerRequest || l.Observe || !l.Applies(o.names...) {
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
			return int64(o.facts.Price.Ceiling(cost.Bound{Input: o.facts.Context, Output: o.facts.DefaultOutput}))
		}
	}
	return 0
}
