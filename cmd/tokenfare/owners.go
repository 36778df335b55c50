package main

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy"
)

// ownerName is what upstreams, plans, keys and groups may be called: they appear in messages, headers and metrics.
var ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

func (d *decoder) name(k *yaml.Node, what string) string {
	if !ownerName.MatchString(k.Value) {
		d.problem(k, "use up to 64 letters, digits, dots, dashes and underscores", "%s cannot be called this", what)
	}
	return k.Value
}

func (c *Config) decodePlans(d *decoder, n *yaml.Node) {
	d.entries(n, "plans", func(k, v *yaml.Node) {
		p := PlanConfig{Name: d.name(k, "a plan"), at: d.place(k)}
		v = deref(v)
		before := len(d.out.list)
		if v.Kind == yaml.MappingNode {
			d.members(v, "plan "+k.Value, []member{
				{"limits", func(v *yaml.Node) { p.Limits, p.limitsAt, _ = d.limits(v, "the limits of plan "+k.Value) }},
			})
		} else {
			p.Limits, p.limitsAt, _ = d.limits(v, "plan "+k.Value)
		}
		p.unread = len(d.out.list) > before
		c.Plans = append(c.Plans, p)
	})
}

func (c *Config) decodeKeys(d *decoder, n *yaml.Node) {
	d.entries(n, "keys", func(k, v *yaml.Node) {
		what := "key " + k.Value
		key := KeyConfig{Name: d.name(k, "a key"), at: d.place(k)}
		v = deref(v)
		if v.Kind == yaml.ScalarNode && !isNull(v) {
			d.out.secrets.add(v.Value)
			d.problem(v, "run `tokenfare keys new "+k.Value+"` and paste what it prints", "%s must be a mapping with a hash", what)
			return
		}
		before := len(d.out.list)
		hashed, limited := false, false
		d.members(v, what, []member{
			{"hash", func(v *yaml.Node) { hashed = true; key.Hashes, key.hashesAt = d.hashes(v, k.Value) }},
			{"plan", func(v *yaml.Node) { limited = true; key.Plan, _ = d.text(v, what+"'s plan"); key.planAt = d.place(v) }},
			{"limits", func(v *yaml.Node) {
				limited = true
				key.Limits, key.limitsAt, key.Unlimited = d.limits(v, "the limits of "+what)
			}},
			{"extra", func(v *yaml.Node) { key.Extra, key.extraAt = d.extras(v, what+"'s extra") }},
			{"models", func(v *yaml.Node) {
				key.Models, _ = d.texts(v, what+"'s models")
				if list := deref(v); list.Kind == yaml.SequenceNode && len(list.Content) == 0 {
					d.problem(list, "name the models, or leave the line out to allow all", "%s may use no model at all", what)
				}
			}},
			{"expires", func(v *yaml.Node) { key.Expires = d.date(v, what+"'s expires") }},
			{"disabled", func(v *yaml.Node) { key.Disabled = d.boolean(v, what+"'s disabled") }},
			{"too_long_as", func(v *yaml.Node) { key.TooLongAs = d.choice(v, what+"'s too_long_as", "context_length_exceeded") }},
			{"output", func(v *yaml.Node) { key.Output = outputs[d.choice(v, what+"'s output", "draw", "strict", "fit")] }},
		})
		key.unread = len(d.out.list) > before
		key.limited = limited
		if !hashed {
			d.problem(k, "run `tokenfare keys new "+k.Value+"` and paste what it prints", "%s has no hash, so nobody can use it", what)
		}
		c.Keys = append(c.Keys, key)
	})
}

// outputs are the words for what is done about output limits.
var outputs = map[string]proxy.Output{"draw": proxy.DrawOutput, "strict": proxy.StrictOutput, "fit": proxy.FitOutput}

// hashes reads one hash or several. What is not a hash may be a key in plain text: it is never shown.
func (d *decoder) hashes(n *yaml.Node, name string) (list [][32]byte, at []place) {
	n = deref(n)
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	mint := "run `tokenfare keys new " + name + "` and paste what it prints"
	if len(items) == 0 {
		d.problem(n, mint, "key %s has no hash, so nobody can use it", name)
	}
	for _, item := range items {
		if hexOfSHA256.MatchString(deref(item).Value) {
			if !strings.HasPrefix(deref(item).Value, "sha256:") {
				d.problem(item, "write sha256: before it", "the hash does not say what it is")
				continue
			}
		} else {
			d.hide(deref(item))
		}
		s, ok := d.text(item, "the hash of key "+name)
		if !ok {
			continue
		}
		digest, found := strings.CutPrefix(s, "sha256:")
		b, err := hex.DecodeString(digest)
		switch {
		case !found:
			d.out.secrets.add(s)
			d.problem(item, mint+"; a key that stood in a file should be replaced, not hashed", "this is not a hash; it may be a key in plain text")
			continue
		case err != nil || len(b) != 32:
			d.out.secrets.add(digest)
			d.problem(item, mint, "a hash is sha256: and 64 hexadecimal digits, not %d characters", len(digest))
			continue
		case slices.ContainsFunc(guessed, func(key string) bool { return sha256.Sum256([]byte(key)) == [32]byte(b) }):
			d.problem(item, mint, "the key that this is the hash of is one that anybody tries first")
			continue
		}
		list, at = append(list, [32]byte(b)), append(at, d.place(item))
	}
	return list, at
}

// guessed are keys that guides and other programs use for want of a better one, and none at all.
var guessed = []string{
	"", "\n", "sk-1234", "sk-", "sk-test", "sk-xxx", "key", "api-key", "secret", "password", "changeme", "change-me", "default", "test", "admin", "root",
	"token", "dummy", "none", "null", "alice", "EMPTY", "ollama", "lm-studio", "no-key", "not-needed",
}

var hexOfSHA256 = regexp.MustCompile(`^(?:sha256:)?[0-9a-fA-F]{64}$`)

func (c *Config) decodeGroups(d *decoder, n *yaml.Node) {
	d.entries(n, "groups", func(k, v *yaml.Node) {
		what := "group " + k.Value
		g := GroupConfig{Name: d.name(k, "a group"), at: d.place(k)}
		before := len(d.out.list)
		d.members(v, what, []member{
			{"keys", func(v *yaml.Node) { g.Keys, g.keysAt = d.texts(v, what+"'s keys") }},
			{"groups", func(v *yaml.Node) { g.Groups, g.groupsAt = d.texts(v, what+"'s groups") }},
			{"limits", func(v *yaml.Node) { g.Limits, g.limitsAt, _ = d.limits(v, "the limits of "+what) }},
		})
		if len(d.out.list) == before && len(g.Keys)+len(g.Groups) == 0 {
			d.problem(k, "name its members: keys: [alice, ci], or keys: [\"*\"] for every key", "%s has no members", what)
		}
		c.Groups = append(c.Groups, g)
	})
}

// expired reports whether the key no longer opens anything.
func (k KeyConfig) expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }
