package proxy

import (
	"maps"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// reasoningOutput is the output reserved for a model that the operator says reasons, when the caller sets no limit.
const reasoningOutput = 16384

// route is a place where calls for a model go, and what is known about it.
type route struct {
	ModelSpec
	upstream *upstreamEntry
	terms    terms
	weight   int // among those of its pool that have its priority; 0 means 1
	priority int // the lowest goes first; 0 means 1
}

// terms are what an upstream adds to every price.
type terms struct {
	region string
	tier   cost.Tier // of calls that ask for none
}

// upstreamName is the name the upstream knows the asked model by.
func (r *route) upstreamName(asked string) string {
	if r.As != "" {
		return r.As
	}
	return asked
}

// countedName is the name whose vocabulary, price and limits apply.
func (r *route) countedName(asked string) string {
	if r.CountsAs != "" {
		return r.CountsAs
	}
	return r.upstreamName(asked)
}

// outputMember is the name of the member that limits the output.
func (r *route) outputMember() string {
	if r.OutputMember != "" {
		return r.OutputMember
	}
	return "max_completion_tokens"
}

// limitNames are the names by which "on MODEL" may mean the asked model: the caller's, the upstream's, the one it counts as,
// and the catalog's own, so that no prefix or alias gets around a limit.
func (r *route) limitNames(c *cost.Catalog, asked string) []string {
	counted := r.countedName(asked)
	return []string{asked, strings.ToLower(asked), r.upstreamName(asked), counted, c.Model(counted).Name}
}

// LimitNames returns the names by which a limit's "on MODEL" may mean the asked model, served as m says.
func LimitNames(m ModelSpec, c *cost.Catalog, asked string) []string {
	return (&route{ModelSpec: m}).limitNames(c, asked)
}

// ModelFacts returns what is known of the asked model, served as m says by u; the operator's word goes before the catalog's.
func ModelFacts(m ModelSpec, u UpstreamSpec, c *cost.Catalog, asked string) cost.Model {
	return (&route{ModelSpec: m, terms: terms{region: u.Region, tier: u.Tier}}).facts(c, asked)
}

// facts is [ModelFacts] of this route.
func (r *route) facts(c *cost.Catalog, asked string) cost.Model {
	m := c.Model(r.countedName(asked))
	r.price(&m, c)
	if len(r.Fees) > 0 {
		known := m.Fees // shared: not to be changed
		m.Fees = make(map[string]cost.Fee, len(known)+len(r.Fees))
		maps.Copy(m.Fees, known)
		maps.Copy(m.Fees, r.Fees)
	}
	if r.Reasoning != nil {
		if *r.Reasoning && !m.Reasoning {
			m.DefaultOutput = max(m.DefaultOutput, reasoningOutput)
		}
		m.Reasoning = *r.Reasoning
	}
	if r.MaxOutput > 0 {
		m.MaxOutput = r.MaxOutput
	}
	if r.Context > 0 {
		m.Context = r.Context
	}
	if r.ImageTokens > 0 {
		m.ImageTokens = r.ImageTokens
	}
	if r.Ratio > 0 {
		m.Ratio = r.Ratio
	}
	if r.DefaultOutput > 0 {
		m.DefaultOutput = r.DefaultOutput
	}
	return m
}

// price settles what the model costs: as the operator says; else as the catalog does; else by what is said of models whose
// price is not known.
func (r *route) price(m *cost.Model, c *cost.Catalog) {
	switch {
	case r.Price != nil:
		m.Price, m.Priced, m.Source = *r.Price, true, cost.FromConfig
	case m.Priced:
	case r.Unpriced == DearestUnpriced:
		m.Price, m.Priced, m.Source = c.Dearest(), true, cost.FromRule
	case r.Unpriced == FreeUnpriced:
		m.Price, m.Priced, m.Source = cost.Price{}, true, cost.FromRule
	}
	m.Price = m.Price.In(r.terms.region)
	m.Price.Asked = r.terms.tier
}
