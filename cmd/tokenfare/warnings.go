package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// warnings is what works, but perhaps not as meant: one line each.
func (c *Config) warnings(catalog *cost.Catalog, now time.Time) []string {
	var out []string
	if len(c.Keys) == 0 {
		out = append(out, "there are no keys, so every call is answered with 401: add one with `tokenfare keys new alice -w "+c.file()+"`")
	}
	out = append(out, c.openAdmin()...)
	if c.Ledger.URL == "" && c.hasQuotas() {
		out = append(out, "without a ledger a restart forgets what was spent, so limits with `each` and `in total` begin anew: remove `ledger: none`")
	}
	if c.Notify.URL != "" && !c.hasQuotas() {
		out = append(out, "notify tells nobody anything: it is about limits with `each` and `in total`, and there are none")
	}
	if c.Ledger.Serve {
		out = append(out, "ledger.on_failure: serve lets calls through that are not recorded while the ledger cannot be written, so a restart forgets them")
	}
	if isPostgres(c.Ledger.URL) && c.Ledger.Sync != syncAlways && c.Ledger.Sync != defaultSync {
		out = append(out, "ledger.sync changes nothing for a ledger in Postgres, which every answer waits for: remove it")
	}
	for _, u := range c.Upstreams {
		if u.Key == "" && strings.Contains(u.URL, "//api.openai.com/") {
			out = append(out, fmt.Sprintf("upstream %s has no key, and OpenAI asks for one: add key: \"${OPENAI_API_KEY}\"", u.Name))
		}
	}
	for _, k := range c.Keys {
		if k.expired(now) {
			out = append(out, fmt.Sprintf("key %s expired on %s", k.Name, k.Expires.Format(time.DateOnly)))
		}
	}
	offers := c.offers(catalog)
	out = append(out, c.modelsOfNobody()...)
	out = append(out, c.halfKnown(catalog)...)
	out = append(out, c.notTaken(offers)...)
	out = append(out, c.endedLimits(now)...)
	out = append(out, c.endedExtras(now)...)
	out = append(out, c.unpriced(offers, now)...)
	return append(out, c.tooSmall(offers)...)
}

// file is the main file, as the operator named it.
func (c *Config) file() string {
	if c.root == nil {
		return "config.yaml"
	}
	return c.root.name
}

// owned calls f for every limit with the name of its owner. Limits of a plan are visited once, not once for each key.
func (c *Config) owned(f func(owner string, l limit.Limit)) {
	each := func(owner string, list []limit.Limit) {
		for _, l := range list {
			f(owner, l)
		}
	}
	for _, u := range c.Upstreams {
		each("upstream "+u.Name, u.Limits)
	}
	for _, p := range c.Plans {
		each("plan "+p.Name, p.Limits)
	}
	for _, k := range c.Keys {
		each("key "+k.Name, k.Limits)
	}
	for _, g := range c.Groups {
		each("group "+g.Name, g.Limits)
	}
}

// upstreamLimits are the limits of each upstream, by its name.
func (c *Config) upstreamLimits() map[string][]limit.Limit {
	out := map[string][]limit.Limit{}
	for _, u := range c.Upstreams {
		out[u.Name] = u.Limits
	}
	return out
}

// hasQuotas reports whether there are limits that only the turn of a period, or nothing, makes whole again.
func (c *Config) hasQuotas() (yes bool) {
	c.owned(func(_ string, l limit.Limit) { yes = yes || l.Kind == limit.Each || l.Kind == limit.InTotal })
	return yes
}

func (c *Config) endedLimits(now time.Time) (out []string) {
	c.owned(func(owner string, l limit.Limit) {
		if !l.Until.IsZero() && !now.Before(l.Until) {
			out = append(out, fmt.Sprintf("%s: %q no longer holds: it ended on %s", owner, l.Text, l.Until.Format(time.DateOnly)))
		}
	})
	return out
}

// modelsOfNobody names the patterns of keys that let no configured model in.
func (c *Config) modelsOfNobody() (out []string) {
	models := c.models()
	var names, exact []string
	for _, m := range models {
		if names = append(names, m.Pattern); !strings.ContainsAny(m.Pattern, "*?") {
			exact = append(exact, m.Pattern)
		}
	}
	for _, k := range c.Keys {
		for _, p := range k.Models {
			if meeting(models, p) != nil {
				continue
			}
			fix := listed(names)
			if best := nearest(p, exact); best != "" {
				fix = "did you mean " + best + "?"
			}
			out = append(out, fmt.Sprintf("key %s: %q in its models is no configured model, so every call for it is refused: %s", k.Name, p, fix))
		}
	}
	return out
}

// notTaken names the models of the configuration that the price file has, and whose entry was not taken.
func (c *Config) notTaken(offers []offer) (out []string) {
	for _, o := range offers {
		if o.facts.Skipped == "" || o.facts.Source == cost.FromConfig || !slices.ContainsFunc(c.Models, func(m ModelConfig) bool { return m.Pattern == o.name }) {
			continue
		}
		out = append(out, fmt.Sprintf("model %s: the price file has it, and was not followed: %s", o.name, o.facts.Skipped))
	}
	return out
}

// halfKnown names the models that count as one whose family alone is known: its tokens can be counted, its price is not known.
func (c *Config) halfKnown(catalog *cost.Catalog) (out []string) {
	for _, m := range c.Models {
		if m.CountsAs == "" || m.Price != nil || catalog.Model(m.CountsAs).Priced {
			continue
		}
		line := fmt.Sprintf("model %s counts as %s, whose price is not known", m.Pattern, m.CountsAs)
		if fix := nearestModel(m.CountsAs, catalog); fix != "" {
			line += ": " + fix
		}
		out = append(out, line)
	}
	return out
}

// unpriced names the models that were configured by name, have no price, and can be called under a limit in dollars.
func (c *Config) unpriced(offers []offer, now time.Time) (out []string) {
	named, done := map[string]bool{}, map[string]bool{}
	for _, m := range c.Models {
		named[m.Pattern] = true
	}
	upstreams := c.upstreamLimits()
	pools := c.pools()
	for _, k := range c.Keys {
		limits := c.limitsOf(k)
		for _, g := range pools.of(k.Name) {
			limits = append(limits, g.Limits...)
		}
		for _, o := range k.usable(offers) {
			if o.facts.Priced || !named[o.name] || done[o.name] {
				continue
			}
			if _, money := o.holding(now, limits, upstreams[o.upstream]); money != nil {
				done[o.name] = true
				out = append(out, fmt.Sprintf("model %s has no known price, so key %s cannot call it under %q: add price: { input: …, output: … } or counts_as", o.name, k.Name, money.Text))
			}
		}
	}
	return out
}

// tooSmall names the budgets that can never fit a call which fills a model's context. Keys of one plan share a line.
func (c *Config) tooSmall(offers []offer) []string {
	var order []string
	keys := map[string][]string{}
	note := func(key, source string, list []limit.Limit, usable []offer) {
		for _, l := range list {
			var worst *offer
			short, others := int64(0), 0
			for i := range usable {
				need := usable[i].need(l)
				if need <= l.Capacity() {
					continue
				}
				if i == 0 || usable[i].name != usable[i-1].name { // else it is the same at another upstream
					others++
				}
				if need > short {
					worst, short = &usable[i], need
				}
			}
			if worst == nil {
				continue
			}
			line := fmt.Sprintf("%q%s can never fit a full context of %s with its default output: that takes %s, and at most %s can be spent at once", l.Text, source,
				worst.name, amount(l.Unit, short), limit.FormatAmount(l.Unit, l.Capacity()))
			if others > 1 {
				line += fmt.Sprintf(" (nor that of %s)", plural(others-1, "other model"))
			}
			if keys[line] == nil {
				order = append(order, line)
			}
			keys[line] = append(keys[line], key)
		}
	}
	pools := c.pools()
	for _, k := range c.Keys {
		usable := k.usable(offers)
		for _, p := range c.Plans {
			if p.Name == k.Plan {
				note("key "+k.Name, " of plan "+p.Name, p.Limits, usable)
			}
		}
		note("key "+k.Name, "", k.Limits, usable)
		for _, g := range pools.of(k.Name) {
			note("key "+k.Name, " of group "+g.Name, g.Limits, usable)
		}
	}
	for _, u := range c.Upstreams {
		var served []offer
		for _, o := range offers {
			if o.upstream == u.Name {
				served = append(served, o)
			}
		}
		note("upstream "+u.Name, "", u.Limits, served)
	}
	out := make([]string, 0, len(order))
	for _, line := range order {
		who := keys[line][0]
		if n := len(keys[line]); n > 1 {
			who += fmt.Sprintf(" and %d more", n-1)
		}
		out = append(out, who+": "+line)
	}
	return out
}

// amount prints n of a unit, money rounded up to a cent.
func amount(unit limit.Unit, n int64) string {
	if unit == limit.Dollars {
		return cents(cost.NanoUSD(n))
	}
	return limit.FormatAmount(unit, n)
}
