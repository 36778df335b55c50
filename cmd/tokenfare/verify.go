package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// verify finds the mistakes that only show when everything is read: names that lead nowhere, names and hashes given
// twice, circles of groups, addresses open to the world without keys.
func (c *Config) verify(out *problems) {
	c.verifyNames(out)
	c.verifyListeners(out)
	c.verifyModels(out)
	c.verifyPrices(out)
	c.verifyCountsAs(out)
	c.verifyKeys(out)
	c.verifyExtra(out)
	c.verifyGroups(out)
	c.verifyState(out)
	if c.MaxBuffered < c.MaxBody {
		out.add(c.maxBufferedAt, fmt.Sprintf("raise it to at least %d bytes, better several times as much", c.MaxBody), "max_buffered is less than max_body, so a request of full size could never be read")
	}
}

// verifyNames finds names given twice: in one file the decoder noticed, in several only this does.
func (c *Config) verifyNames(out *problems) {
	twice := func(what string) func(name string, at place) {
		first := map[string]place{}
		return func(name string, at place) {
			if other, seen := first[name]; !seen {
				first[name] = at
			} else if other.file != at.file {
				out.add(at, "keep one of the two", "%s %s is defined twice; the other is at %s", what, name, other)
			}
		}
	}
	model, plan, key, group := twice("model"), twice("plan"), twice("key"), twice("group")
	for _, m := range c.Models {
		model(m.Pattern, m.at)
	}
	for _, p := range c.Plans {
		plan(p.Name, p.at)
	}
	for _, k := range c.Keys {
		key(k.Name, k.at)
	}
	for _, g := range c.Groups {
		group(g.Name, g.at)
	}
}

func (c *Config) verifyModels(out *problems) {
	names := make([]string, len(c.Upstreams))
	for i, u := range c.Upstreams {
		names[i] = u.Name
	}
	switch {
	case len(names) == 0 && !c.unreadable("upstreams"):
		out.add(c.root.top(), "add upstreams: { openai: { url: https://api.openai.com/v1, key: \"${OPENAI_API_KEY}\" } }", "there is no upstream to send calls to")
		return
	case len(c.Models) == 0 && len(names) > 1:
		out.add(c.Upstreams[1].at, "say which model goes where: models: { \"gpt-*\": { upstream: "+names[0]+" } }", "there are several upstreams, but no models")
	}
	for i := range c.Models {
		m := &c.Models[i]
		m.verifyPool(names, out)
		switch {
		case len(m.Pool) > 0:
		case m.Upstream == "" && len(names) == 1:
			m.Upstream = names[0]
		case m.Upstream == "":
			if m.upstreamAt == m.at {
				out.add(m.at, "add upstream: "+strings.Join(names, " or "), "model %s does not say which upstream serves it", m.Pattern)
			}
		case !slices.Contains(names, m.Upstream):
			out.add(m.upstreamAt, suggest(m.Upstream, names), "there is no upstream %q", m.Upstream)
		}
	}
}

// verifyCountsAs finds models that are to count as one that nothing is known of.
func (c *Config) verifyCountsAs(out *problems) {
	if !slices.ContainsFunc(c.Models, func(m ModelConfig) bool { return m.CountsAs != "" }) {
		return // the price list takes a moment to read
	}
	catalog, err := c.priceList()
	if err != nil {
		return // compile reports it
	}
	for _, m := range c.Models {
		if m.CountsAs != "" && !known(catalog.Model(m.CountsAs)) {
			out.add(m.countsAsAt, cmp.Or(nearestModel(m.CountsAs, catalog), "name a model of the built-in list, such as gpt-5-mini, or give price, context_tokens and max_output_tokens instead"),
				"model %s cannot count as %q: nothing is known of that model", m.Pattern, m.CountsAs)
		}
	}
}

// known reports whether the price list has anything to say of a model.
func known(m cost.Model) bool { return m.KnownEncoding || m.Priced }

// unreadable reports whether a member of the main file is there, but nothing could be made of it.
func (c *Config) unreadable(name string) bool {
	if c.root == nil || c.root.root == nil {
		return false
	}
	for i := 0; i+1 < len(c.root.root.Content); i += 2 {
		if v := c.root.root.Content[i+1]; c.root.root.Content[i].Value == name && !isNull(v) && len(v.Content) != 0 {
			return true
		}
	}
	return false
}

func (c *Config) verifyKeys(out *problems) {
	plans := map[string]*PlanConfig{}
	var names []string
	for i := range c.Plans {
		plans[c.Plans[i].Name] = &c.Plans[i]
		names = append(names, c.Plans[i].Name)
	}
	grouped := c.grouped()
	owners := map[[32]byte]string{}
	for _, k := range c.Keys {
		for i, h := range k.Hashes {
			if other, seen := owners[h]; seen {
				out.add(k.hashesAt[i], "give every key a secret of its own: run `tokenfare keys new "+k.Name+"`", "this is also the hash of key %s", other)
			}
			owners[h] = k.Name
		}
		switch {
		case !k.limited && !k.unread && !grouped[k.Name]:
			out.add(k.at, "add `plan:` or `limits:`, put it into a group, or say `limits: none`", "key %s has no limits", k.Name)
		case k.Plan == "":
			continue
		case plans[k.Plan] == nil:
			out.add(k.planAt, cmp.Or(suggest(k.Plan, names), "define it: plans: { "+plainName(k.Plan)+": [200k tokens per minute] }"), "there is no plan %q", k.Plan)
			continue
		case k.Unlimited:
			out.add(k.planAt, "keep one of the two", "key %s says `limits: none`, but has a plan", k.Name)
			continue
		}
		for i, l := range k.Limits {
			for _, p := range plans[k.Plan].Limits {
				if p.ID() == l.ID() {
					out.add(k.limitsAt[i], "plan and limits add up: remove one of the two, or leave out the plan", "%q counts the same as %q of plan %s", l.Text, p.Text, k.Plan)
				}
			}
		}
	}
}

// grouped tells which keys a group with limits of its own, or above it, takes in.
func (c *Config) grouped() map[string]bool {
	in := map[string]bool{}
	pools := c.pools()
	for _, k := range c.Keys {
		for _, g := range pools.of(k.Name) {
			in[k.Name] = in[k.Name] || len(g.Limits) > 0
		}
	}
	return in
}

func (c *Config) verifyGroups(out *problems) {
	keys, groups := map[string]bool{}, map[string]bool{}
	for _, k := range c.Keys {
		keys[k.Name] = true
	}
	for _, g := range c.Groups {
		groups[g.Name] = true
	}
	names := func(of map[string]bool) []string { return slices.Collect(maps.Keys(of)) }
	for _, g := range c.Groups {
		for i, name := range g.Keys {
			switch {
			case name == "*" || keys[name]:
			case groups[name]:
				out.add(g.keysAt[i], "write groups: ["+name+"]", "%s is a group, not a key", name)
			case strings.ContainsAny(name, "*?"):
				out.add(g.keysAt[i], "name the keys one by one, or write \"*\" for all of them", "a group's keys are not patterns; only \"*\" alone stands for every key")
			default:
				out.add(g.keysAt[i], suggest(name, names(keys)), "there is no key %q", name)
			}
		}
		for i, name := range g.Groups {
			if !groups[name] {
				out.add(g.groupsAt[i], suggest(name, names(groups)), "there is no group %q", name)
			}
		}
	}
	c.verifyCircles(out)
}

// verifyCircles finds groups that contain themselves, naming each circle once.
func (c *Config) verifyCircles(out *problems) {
	members := map[string]*GroupConfig{}
	for i := range c.Groups {
		members[c.Groups[i].Name] = &c.Groups[i]
	}
	const walking, done = 1, 2
	state := map[string]int{}
	var path []string
	var walk func(name string)
	walk = func(name string) {
		g := members[name]
		if g == nil || state[name] == done {
			return
		}
		state[name] = walking
		path = append(path, name)
		for i, sub := range g.Groups {
			if state[sub] == walking {
				from := 0
				for path[from] != sub {
					from++
				}
				out.add(g.groupsAt[i], "remove one of these memberships", "groups contain each other in a circle: %s", strings.Join(append(append([]string{}, path[from:]...), sub), " > "))
				continue
			}
			walk(sub)
		}
		path = path[:len(path)-1]
		state[name] = done
	}
	for _, g := range c.Groups {
		walk(g.Name)
	}
}

// limitsOf is what a key owns itself: its plan's limits and its own.
func (c *Config) limitsOf(k KeyConfig) []limit.Limit {
	var all []limit.Limit
	for _, p := range c.Plans {
		if p.Name == k.Plan {
			all = append(all, p.Limits...)
		}
	}
	return append(all, k.Limits...)
}
