package main

import (
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// compile turns the configuration into the proxy's terms. The strings are warnings: what works, but perhaps not as meant.
// A configuration from loadConfig compiles without error, unless the built-in price list cannot be read.
func (c *Config) compile() (proxy.Spec, []string, error) {
	var out problems
	if c.root == nil { // made by hand, not by loadConfig
		c.verify(&out)
		if err := out.err(); err != nil {
			return proxy.Spec{}, nil, err
		}
	}
	catalog, err := c.priceList()
	if err != nil {
		return proxy.Spec{}, nil, err
	}
	spec := proxy.Spec{Zone: c.zone, Help: c.Help, CORS: c.CORS, Stateless: c.stateless()}
	for _, u := range c.Upstreams {
		spec.Upstreams = append(spec.Upstreams, u.spec(c.Timeouts.Headers))
	}
	for _, m := range c.models() {
		made := m.spec(c.Unpriced)
		made.LearnOutput = c.Learned
		spec.Models = append(spec.Models, made)
	}
	for _, k := range c.Keys {
		spec.Keys = append(spec.Keys, proxy.KeySpec{
			Name: k.Name, Hashes: k.Hashes, Limits: c.limitsOf(k), Extra: k.Extra, Models: k.Models, Expires: k.Expires, Disabled: k.Disabled, TooLongAs: k.TooLongAs, Output: k.Output,
		})
	}
	for _, g := range c.Groups {
		spec.Groups = append(spec.Groups, proxy.GroupSpec{Name: g.Name, Keys: g.Keys, Groups: g.Groups, Limits: g.Limits})
	}
	return spec, c.warnings(catalog, time.Now()), nil
}

// spec says an upstream in the proxy's terms.
func (u UpstreamConfig) spec(headerTimeout time.Duration) proxy.UpstreamSpec {
	return proxy.UpstreamSpec{
		Name: u.Name, URL: u.URL, Key: u.Key, Auth: u.Auth, Query: u.Query, CAFile: u.CAFile, Usage: u.Usage, Limits: u.Limits, Region: u.Region, Tier: u.Tier,
		Forward: u.Forward, Set: u.Set, HeaderTimeout: headerTimeout,
	}
}

// spec says a model in the proxy's terms.
func (m ModelConfig) spec(unpriced proxy.Unpriced) proxy.ModelSpec {
	return proxy.ModelSpec{
		Pattern: m.Pattern, Upstream: m.Upstream, As: m.Model, Pool: m.poolSpec(), CountsAs: m.CountsAs, OutputMember: m.OutputMember,
		DefaultOutput: m.DefaultOutputTokens, MaxOutput: m.MaxOutputTokens, Context: m.ContextTokens, ImageTokens: m.ImageTokens,
		Ratio: m.Ratio, Reasoning: m.Reasoning, Price: m.Price, Fees: m.Fees, Unpriced: unpriced,
	}
}

// models are the configured models, or everything to the only upstream where none are.
func (c *Config) models() []ModelConfig {
	if len(c.Models) == 0 && len(c.Upstreams) == 1 {
		return []ModelConfig{{Pattern: "*", Upstream: c.Upstreams[0].Name}}
	}
	return c.Models
}
