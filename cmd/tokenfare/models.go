package main

import (
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

func (c *Config) decodeModels(d *decoder, n *yaml.Node) {
	d.entries(n, "models", func(k, v *yaml.Node) {
		what := "model " + k.Value
		m := ModelConfig{Pattern: d.pattern(k), at: d.place(k), upstreamAt: d.place(k)}
		d.members(v, what, []member{
			{"upstream", func(v *yaml.Node) { m.Upstream, _ = d.text(v, what+"'s upstream"); m.upstreamAt = d.place(v) }},
			{"upstreams", func(v *yaml.Node) { m.Pool = d.pool(v, what); m.upstreamAt = d.place(v) }},
			{"model", func(v *yaml.Node) { m.Model, _ = d.text(v, what+"'s model"); m.modelAt = d.place(v) }},
			{"counts_as", func(v *yaml.Node) { m.CountsAs, _ = d.text(v, what+"'s counts_as"); m.countsAsAt = d.place(v) }},
			{"output_member", func(v *yaml.Node) { m.OutputMember = d.outputMember(v, what+"'s output_member") }},
			{"default_output_tokens", func(v *yaml.Node) { m.DefaultOutputTokens = d.count(v, what+"'s default_output_tokens") }},
			{"max_output_tokens", func(v *yaml.Node) { m.MaxOutputTokens = d.count(v, what+"'s max_output_tokens") }},
			{"context_tokens", func(v *yaml.Node) { m.ContextTokens = d.count(v, what+"'s context_tokens") }},
			{"image_tokens", func(v *yaml.Node) { m.ImageTokens = d.count(v, what+"'s image_tokens") }},
			{"ratio", func(v *yaml.Node) { m.Ratio = d.ratio(v, what+"'s ratio") }},
			{"reasoning", func(v *yaml.Node) { b := d.boolean(v, what+"'s reasoning"); m.Reasoning = &b }},
			{"price", func(v *yaml.Node) { m.Price = d.price(v, what) }},
			{"tools", func(v *yaml.Node) { m.Fees = d.fees(v, what+"'s tools") }},
		})
		if as := m.renamed(); as != "" {
			d.problem(k, "name one model here, or leave `model:` out so that each keeps its name", "every model that matches %s would become %s", m.Pattern, as)
		}
		if m.Upstream != "" && len(m.Pool) > 0 {
			d.problem(k, "keep `upstreams`, with all of them in it", "%s has both upstream and upstreams", what)
		}
		if m.MaxOutputTokens > 0 && m.DefaultOutputTokens > m.MaxOutputTokens {
			d.problem(k, "lower default_output_tokens, or raise max_output_tokens", "%s's default_output_tokens is more than its max_output_tokens", what)
		}
		c.Models = append(c.Models, m)
	})
}

// outputMember reads what a server calls the output limit.
func (d *decoder) outputMember(v *yaml.Node, what string) string {
	return d.choice(v, what, "max_completion_tokens", "max_tokens")
}

// pattern reads the name of a model or a pattern for several.
func (d *decoder) pattern(k *yaml.Node) string {
	if k.Value == "" || len(k.Value) > 256 || strings.ContainsAny(k.Value, " \t\n,[]{}\"'") {
		d.problem(k, "write a name such as gpt-5-mini or a pattern such as \"gpt-*\"; * stands for any characters, ? for one", "this is not the name of a model, nor a pattern")
	}
	return k.Value
}
