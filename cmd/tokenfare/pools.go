package main

import "slices"

// pools answers which groups a key draws on, those it belongs to through other groups included.
type pools struct {
	groups  []GroupConfig
	direct  map[string][]int // key -> groups that name it
	all     []int            // groups that name "*"
	parents map[string][]int // group -> groups that name it
}

func (c *Config) pools() *pools {
	p := &pools{groups: c.Groups, direct: map[string][]int{}, parents: map[string][]int{}}
	for i, g := range c.Groups {
		for _, k := range g.Keys {
			if k == "*" {
				p.all = append(p.all, i)
			} else {
				p.direct[k] = append(p.direct[k], i)
			}
		}
		for _, sub := range g.Groups {
			p.parents[sub] = append(p.parents[sub], i)
		}
	}
	return p
}

// of returns the groups of a key in the order of the configuration. Circles do it no harm.
func (p *pools) of(key string) []*GroupConfig {
	in := map[int]bool{}
	next := append(slices.Clone(p.all), p.direct[key]...)
	for len(next) > 0 {
		i := next[0]
		next = next[1:]
		if !in[i] {
			in[i] = true
			next = append(next, p.parents[p.groups[i].Name]...)
		}
	}
	var out []*GroupConfig
	for i := range p.groups {
		if in[i] {
			out = append(out, &p.groups[i])
		}
	}
	return out
}
