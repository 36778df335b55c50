package proxy

import (
	"cmp"
	"strings"

	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// pool is who serves a model, or all models that a glob matches: one route for each upstream.
type pool struct {
	pattern string
	routes  []*route          // at least one
	members []upstream.Member // the same
}

func newPool(pattern string, routes []*route) *pool {
	p := &pool{pattern: pattern, routes: routes}
	for _, r := range routes {
		name := r.upstream.Name
		if r.As != "" { // there may be several deployments at one place, now or later: who else is there changes nobody's name
			name += "\x00" + r.As
		}
		p.members = append(p.members, upstream.Member{Upstream: r.upstream.Upstream, Name: name, Model: r.As, Weight: max(1, r.weight), Priority: max(1, r.priority)})
	}
	return p
}

// order is where a caller's calls for a model that name this key for the provider's cache are to be sent, the first to be tried first.
func (p *pool) order(caller, cacheKey, model string) []*route {
	if len(p.routes) == 1 {
		return p.routes
	}
	routes := make([]*route, 0, len(p.routes))
	for _, i := range upstream.Order(p.members, caller+"\x00"+cacheKey, model) {
		routes = append(routes, p.routes[i])
	}
	return routes
}

// pool returns the closest pool for a model name, or nil.
func (p *Policy) pool(model string) *pool {
	for _, pool := range p.pools {
		if pool.pattern == model || limit.Glob(pool.pattern, model) {
			return pool
		}
	}
	return nil
}

// servedBy reports whether calls for the model, by the name the upstream itself has for it, may go to that upstream.
func (p *Policy) servedBy(model string, u *upstreamEntry) bool {
	pool := p.pool(model)
	if pool == nil {
		return false
	}
	for _, r := range pool.routes {
		if r.upstream == u && r.As == "" {
			return true
		}
	}
	return false
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?") }

// closerFirst puts exact names before globs and longer patterns before shorter ones, so that the first match is the closest.
func closerFirst(a, b *pool) int {
	switch {
	case isGlob(a.pattern) != isGlob(b.pattern):
		if isGlob(b.pattern) {
			return -1
		}
		return 1
	default:
		return cmp.Compare(len(b.pattern), len(a.pattern))
	}
}
