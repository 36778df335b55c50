package gate

import (
	"net/netip"

	"github.com/tokenfare/tokenfare/limiter"
)

// Pattern is a kind of key.
type Pattern string

// The kinds of keys.
const (
	PerUser     Pattern = "user"
	PerIP       Pattern = "IP address"
	PerEndpoint Pattern = "endpoint"
	PerProcess  Pattern = "process" // one for all
)

// Key is who or what a batch is charged to. Keys of different patterns never
// meet, whatever their names.
type Key struct {
	Pattern Pattern
	Name    string
}

// User returns the key of a user. It must be a name, not a secret.
func User(name string) Key { return Key{PerUser, name} }

// IP returns the key of an address. IPv4 written as IPv6 is the same address.
func IP(a netip.Addr) Key { return Key{PerIP, a.Unmap().WithZone("").String()} }

// Endpoint returns the key of an endpoint, by its route, such as "GET /users/{id}".
func Endpoint(route string) Key { return Key{PerEndpoint, route} }

// Global returns the key that all have in common.
func Global() Key { return Key{PerProcess, ""} }

// source is where the budgets of a pattern come from.
type source struct {
	limiter limiter.Limiter
	rule    limiter.Rule
	family  *limiter.Family // nil if the limiter has none
}

// newSource prefers a family, which forgets keys that are idle. A limiter
// without must do so itself, as a store does whose keys expire.
func newSource(o Options, p Pattern, rule limiter.Rule) source {
	if l, ok := o.Limiter.(interface {
		Family(limiter.FamilyOptions) *limiter.Family
	}); ok && p != PerProcess {
		return source{family: l.Family(limiter.FamilyOptions{Rule: rule, Most: o.MostKeys})}
	}
	return source{limiter: o.Limiter, rule: rule}
}

func (s source) budget(k Key) *limiter.Budget {
	if s.family != nil {
		return s.family.Budget(k.Name)
	}
	return s.limiter.Budget(string(k.Pattern)+":"+k.Name, s.rule)
}
