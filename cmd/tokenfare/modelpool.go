package main

import (
	"cmp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// PoolConfig is one of several upstreams that serve a model.
type PoolConfig struct {
	Upstream string
	Model    string // the name it knows the model by; empty: what the model's own `model` says
	Weight   int64  // 0: 1
	Priority int64  // 0: 1

	// What is true there; empty, 0 or nil: what is elsewhere.
	OutputMember    string
	MaxOutputTokens int64
	ContextTokens   int64
	Price           *cost.Price

	at place
}

// mostWeight is the largest weight or priority: shares finer than this nobody can see.
const mostWeight = 1000

// pool reads the upstreams of a model: a list of names, or of mappings that say more.
func (d *decoder) pool(n *yaml.Node, what string) (list []PoolConfig) {
	n = deref(n)
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		item = deref(item)
		p := PoolConfig{at: d.place(item)}
		if item.Kind != yaml.MappingNode {
			if p.Upstream, _ = d.text(item, "an upstream of "+what); p.Upstream != "" {
				list = append(list, p)
			}
			continue
		}
		before := len(d.out.list)
		d.members(item, "an upstream of "+what, []member{
			{"upstream", func(v *yaml.Node) { p.Upstream, _ = d.text(v, "an upstream of "+what); p.at = d.place(v) }},
			{"model", func(v *yaml.Node) { p.Model, _ = d.text(v, "the model at an upstream of "+what) }},
			{"weight", func(v *yaml.Node) { p.Weight = d.small(v, "the weight of an upstream of "+what) }},
			{"priority", func(v *yaml.Node) { p.Priority = d.small(v, "the priority of an upstream of "+what) }},
			{"output_member", func(v *yaml.Node) { p.OutputMember = d.outputMember(v, "the output_member of an upstream of "+what) }},
			{"max_output_tokens", func(v *yaml.Node) { p.MaxOutputTokens = d.count(v, "the max_output_tokens of an upstream of "+what) }},
			{"context_tokens", func(v *yaml.Node) { p.ContextTokens = d.count(v, "the context_tokens of an upstream of "+what) }},
			{"price", func(v *yaml.Node) { p.Price = d.price(v, "an upstream of "+what) }},
		})
		if p.Upstream == "" && len(d.out.list) == before {
			d.problem(item, "add upstream: "+d.anUpstream(), "an upstream of %s has no name", what)
		}
		if p.Upstream != "" {
			list = append(list, p)
		}
	}
	if len(list) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.problem(n, "write upstreams: ["+d.anUpstream()+"]", "%s has an empty list of upstreams", what)
	}
	return list
}

// small reads a weight or a priority.
func (d *decoder) small(n *yaml.Node, what string) int64 {
	v := d.count(n, what)
	if v > mostWeight {
		d.problem(n, "write a number from 1 to 1000", "%s is more than 1000", what)
	}
	return v
}

// places are where a model is served: the model itself, as if there were no other upstream.
func (m ModelConfig) places() []ModelConfig {
	if len(m.Pool) == 0 {
		return []ModelConfig{m}
	}
	var list []ModelConfig
	for _, p := range m.Pool {
		there := m
		there.Pool, there.Upstream, there.upstreamAt = nil, p.Upstream, p.at
		there.Model = cmp.Or(p.Model, m.Model)
		there.OutputMember = cmp.Or(p.OutputMember, m.OutputMember)
		there.MaxOutputTokens = cmp.Or(p.MaxOutputTokens, m.MaxOutputTokens)
		there.ContextTokens = cmp.Or(p.ContextTokens, m.ContextTokens)
		there.Price = cmp.Or(p.Price, m.Price)
		list = append(list, there)
	}
	return list
}

// poolSpec says the upstreams of a model in the proxy's terms.
func (m ModelConfig) poolSpec() (list []proxy.PoolSpec) {
	for _, p := range m.Pool {
		list = append(list, proxy.PoolSpec{
			Upstream: p.Upstream, As: cmp.Or(p.Model, m.Model), OutputMember: p.OutputMember, MaxOutput: p.MaxOutputTokens, Context: p.ContextTokens,
			Price: p.Price, Weight: int(p.Weight), Priority: int(p.Priority),
		})
	}
	return list
}

// verifyPool finds upstreams of a model that are not there, or are there twice.
func (m ModelConfig) verifyPool(names []string, out *problems) {
	for i, p := range m.Pool {
		if !slices.Contains(names, p.Upstream) {
			out.add(p.at, suggest(p.Upstream, names), "there is no upstream %q", p.Upstream)
		}
		if slices.ContainsFunc(m.Pool[:i], func(other PoolConfig) bool { return other.Upstream == p.Upstream && other.Model == p.Model }) {
			out.add(p.at, "keep one of the two; `weight: 2` gives one a larger share", "upstream %s stands twice under model %s", p.Upstream, m.Pattern)
		}
	}
}

// renamed reports whether a pattern for many models would become one name somewhere.
func (m ModelConfig) renamed() string {
	for _, there := range m.places() {
		if there.Model != "" && strings.ContainsAny(m.Pattern, "*?") {
			return there.Model
		}
	}
	return ""
}
