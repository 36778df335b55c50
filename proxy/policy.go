package proxy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/cors"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// Policy is a [Spec] made ready for use: secrets to callers, callers to budgets, names to routes. It belongs to one [Server] and is safe for
// concurrent use; what was consumed lives in the limiter and outlasts it.
type Policy struct {
	callers   map[[sha256.Size]byte]*caller
	pools     []*pool // the closest pattern first
	upstreams map[string]*upstreamEntry
	budgets   []*budget // every counted one, once
	catalog   *cost.Catalog
	zone      *time.Location
	help      string
	cors      *cors.Cors // nil: pages of other origins may not call
	stateless bool
	mixed     bool // models of both vocabularies may be asked: see mixes
	versions  *priceVersions

	from, until time.Time // the extras that hold are the same in between; zero: for ever
}

// caller is who a key names.
type caller struct {
	name      string
	disabled  bool
	expires   time.Time
	models    []string
	groups    string    // those it is in, directly or through others, sorted, with commas between them
	budgets   []*budget // its own, then its groups'
	tooLongAs string
	output    Output
	bodies    *share // of the memory for request bodies
}

// upstreamEntry is an upstream with what this package keeps about it.
type upstreamEntry struct {
	*upstream.Upstream
	inject  bool // ask streams for their usage
	terms   terms
	budgets []*budget
	models  modelList
}

// NewPolicy compiles s. The counters of its limits are taken from l under names made of owner, unit, scope, kind and period, so
// that a limit that moves or changes its amount keeps what was consumed. Every mistake is reported in one error. Extras hold as of
// now; a [Server] that runs the policy minds their dates.
func NewPolicy(s Spec, l limiter.Limiter, c *cost.Catalog) (*Policy, error) {
	b := policyBuilder{policy: &Policy{
		callers: map[[sha256.Size]byte]*caller{}, upstreams: map[string]*upstreamEntry{},
		catalog: c, zone: s.Zone, help: s.Help, stateless: s.Stateless, versions: new(priceVersions),
	}}
	if b.policy.zone == nil {
		b.policy.zone = time.UTC
	}
	var err error
	if b.policy.cors, err = newCORS(s.CORS); err != nil {
		b.problems = append(b.problems, err)
	}
	b.upstreams(s.Upstreams, s.Files)
	b.pools(s.Models)
	b.policy.mixed = !s.Stateless && b.policy.mixes()
	now := time.Now()
	b.callers(s.Keys, b.groups(s.Groups), membership(s.Groups), now)
	b.policy.bound(now)
	if len(b.problems) > 0 {
		return nil, errors.Join(b.problems...)
	}
	// Only now: taking a counter puts its new rule into effect, and a policy that is refused must change nothing.
	for _, made := range b.policy.budgets {
		made.handle = l.Budget(made.name(), made.rule)
		made.entry = ledger.Budget{Name: ledger.BudgetName(made.name()), Unit: made.limit.Unit.String()}
	}
	return b.policy, nil
}

// mayUse reports whether the caller may call the model of that name.
func (c *caller) mayUse(model string) bool {
	if len(c.models) == 0 {
		return true
	}
	return slices.ContainsFunc(c.models, func(glob string) bool { return limit.Glob(glob, model) })
}

type policyBuilder struct {
	policy   *Policy
	problems []error
}

func (b *policyBuilder) problem(format string, args ...any) {
	b.problems = append(b.problems, fmt.Errorf(format, args...))
}

func (b *policyBuilder) upstreams(specs []UpstreamSpec, files *upstream.Files) {
	for _, s := range specs {
		query := url.Values{}
		for name, value := range s.Query {
			query.Set(name, value)
		}
		set := make(http.Header, len(s.Set))
		for name, value := range s.Set {
			set[name] = []string{value}
		}
		u, err := upstream.New(upstream.Options{
			Name: s.Name, URL: s.URL, Key: s.Key, Auth: s.Auth, Query: query, CAFile: s.CAFile, Forward: s.Forward, Set: set,
			HeaderTimeout: s.HeaderTimeout, Dial: s.Dial, Files: files,
		})
		if err != nil {
			b.problems = append(b.problems, err)
			continue
		}
		if b.policy.upstreams[s.Name] != nil {
			b.problem("upstream %s: named twice", s.Name)
		}
		b.policy.upstreams[s.Name] = &upstreamEntry{
			Upstream: u, inject: s.Usage != "never", terms: terms{region: s.Region, tier: s.Tier}, budgets: b.budgets(upstreamOwner(s.Name), s.Limits),
		}
	}
}

func (b *policyBuilder) pools(specs []ModelSpec) {
	for _, s := range specs {
		members := s.Pool
		if len(members) == 0 {
			members = []PoolSpec{{Upstream: s.Upstream, As: s.As}}
		}
		var routes []*route
		for _, m := range members {
			u := b.policy.upstreams[m.Upstream]
			if u == nil {
				b.problem("model %s: there is no upstream %q", s.Pattern, m.Upstream)
				continue
			}
			if slices.ContainsFunc(routes, func(r *route) bool { return r.upstream == u && r.As == m.As }) {
				b.problem("model %s: upstream %q is named twice", s.Pattern, m.Upstream)
				continue
			}
			routes = append(routes, &route{ModelSpec: s.there(m), upstream: u, terms: u.terms, weight: m.Weight, priority: m.Priority})
		}
		if len(routes) > 0 {
			b.policy.pools = append(b.policy.pools, newPool(s.Pattern, routes))
		}
	}
	slices.SortStableFunc(b.policy.pools, closerFirst)
}

// groups compiles each group's budgets and returns, for each key name, those it must draw on; "*" stands for every key.
func (b *policyBuilder) groups(specs []GroupSpec) map[string][]*budget {
	byName := make(map[string]GroupSpec, len(specs))
	for _, g := range specs {
		byName[g.Name] = g
	}
	pools := map[string][]*budget{}
	for _, g := range specs {
		own := b.budgets(groupOwner(g.Name), g.Limits)
		for _, key := range members(g, byName, map[string]bool{}) {
			for _, pool := range own {
				if !slices.Contains(pools[key], pool) {
					pools[key] = append(pools[key], pool)
				}
			}
		}
	}
	return pools
}

// membership names, for each key, the groups it is in; "*" stands for every key.
func membership(specs []GroupSpec) map[string][]string {
	byName := make(map[string]GroupSpec, len(specs))
	for _, g := range specs {
		byName[g.Name] = g
	}
	in := map[string][]string{}
	for _, g := range specs {
		for _, key := range members(g, byName, map[string]bool{}) {
			in[key] = append(in[key], g.Name)
		}
	}
	return in
}

// members returns the keys of a group and of the groups in it. Each group is visited once, so a ring of groups ends.
func members(g GroupSpec, byName map[string]GroupSpec, seen map[string]bool) []string {
	if seen[g.Name] {
		return nil
	}
	seen[g.Name] = true
	keys := slices.Clone(g.Keys)
	for _, name := range g.Groups {
		keys = append(keys, members(byName[name], byName, seen)...)
	}
	return keys
}

func (b *policyBuilder) callers(specs []KeySpec, pools map[string][]*budget, groups map[string][]string, now time.Time) {
	for _, s := range specs {
		c := &caller{
			name: s.Name, disabled: s.Disabled, expires: s.Expires, models: s.Models, tooLongAs: s.TooLongAs, output: s.Output,
			budgets: b.budgets(keyOwner(s.Name), s.Limits), bodies: new(share),
		}
		b.raise(s, c.budgets, now)
		in := slices.Sorted(slices.Values(slices.Concat(groups[s.Name], groups["*"])))
		c.groups = strings.Join(slices.Compact(in), ",")
		c.budgets = append(c.budgets, pools[s.Name]...)
		for _, pool := range pools["*"] {
			if !slices.Contains(c.budgets, pool) {
				c.budgets = append(c.budgets, pool)
			}
		}
		for _, hash := range s.Hashes {
			if other := b.policy.callers[hash]; other != nil {
				b.problem("key %s: has the same secret as key %s", s.Name, other.name)
			}
			b.policy.callers[hash] = c
		}
	}
}

func (b *policyBuilder) budgets(o owner, limits []limit.Limit) []*budget {
	var out []*budget
	for _, l := range limits {
		made := &budget{owner: o, limit: l, refusedIn: new(atomic.Int64)}
		if l.Kind != limit.PerRequest {
			rule, err := ruleOf(l, b.policy.zone)
			if err != nil {
				b.problem("%s, limit %q: %w", o, l.Text, err)
				continue
			}
			if slices.ContainsFunc(out, func(x *budget) bool { return x.counts() && x.name() == made.name() }) {
				b.problem("%s: limits %q and another one limit the same thing; keep one", o, l.Text)
				continue
			}
			made.rule = rule
			b.policy.budgets = append(b.policy.budgets, made)
		}
		out = append(out, made)
	}
	return out
}

// modelList caches an upstream's own list of models.
type modelList struct {
	mu    sync.Mutex
	body  []byte        // guarded by mu; the newest list there was
	err   error         // guarded by mu; why there is none
	until time.Time     // guarded by mu; how long body or err holds
	busy  chan struct{} // guarded by mu; closed when the fetch that is under way has ended; nil: none is
}

// owner is who a budget belongs to.
type owner struct{ kind, name string }

const upstreamKind = "upstream"

func keyOwner(name string) owner      { return owner{"key", name} }
func groupOwner(name string) owner    { return owner{"group", name} }
func upstreamOwner(name string) owner { return owner{upstreamKind, name} }

// String is how a person reads it: "key alice".
func (o owner) String() string { return o.kind + " " + o.name }

// label is its value in metrics: a key's own name, or "group:research".
func (o owner) label() string {
	if o.kind == "key" {
		return o.name
	}
	return o.kind + ":" + strings.ReplaceAll(o.name, " ", "_")
}

// upstreamsInOrder returns the upstreams sorted by name.
func (p *Policy) upstreamsInOrder() []*upstreamEntry {
	out := slices.Collect(maps.Values(p.upstreams))
	slices.SortFunc(out, func(a, b *upstreamEntry) int { return strings.Compare(a.Name, b.Name) })
	return out
}
