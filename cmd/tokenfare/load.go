package main

import (
	"os"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v4"
)

// loadConfig reads the file and everything it includes. All mistakes come back in one error, in the order of the text;
// only a file that is not YAML at all hides what else may be wrong in it.
func loadConfig(path string) (*Config, error) {
	var out problems
	c := loadSource(readSource(path, 0, &out), &out)
	if err := out.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// watchedBy lists every file and include glob that the configuration at path is made of, as far as they can be told: a
// configuration with mistakes is watched, too, because mending any part of it may make the whole fit.
func watchedBy(path string) []string {
	var out problems
	return loadSource(readSource(path, 0, &out), &out).watched
}

// loadSource reads on from the main file. What it returns is whole only where it found no problem.
func loadSource(main *source, out *problems) *Config {
	c := defaultConfig()
	c.root = main
	c.watch(main.name)
	unread := len(out.list) > 0 // what cannot be parsed may hold the names that others refer to
	c.decode(main, out)
	seen := map[string]bool{}
	for _, f := range c.includes {
		d := c.decoder(f.at.file, out)
		paths, err := main.included(f.text)
		switch {
		case err != nil:
			out.add(f.at, "write a path in which * and ? stand for any characters", "the pattern to include cannot be read")
		case len(paths) == 0 && !hasMeta(f.text):
			out.add(f.at, "create the file, or remove it here", "there is no file to include")
		}
		c.watch(d.path(f.text))
		for _, p := range paths {
			if seen[p] || sameFile(p, main.name) {
				continue
			}
			seen[p] = true
			before := len(out.list)
			s := readSource(p, len(seen), out)
			unread = unread || len(out.list) > before
			c.decodeIncluded(s, out)
		}
	}
	if !unread && (main.root == nil || main.root.Kind == yaml.MappingNode) {
		c.verify(out)
	}
	return c
}

func (c *Config) decoder(s *source, out *problems) *decoder {
	return &decoder{source: s, out: out, zone: c.zone, read: c.watch}
}

// watch remembers a file or pattern the configuration depends on.
func (c *Config) watch(path string) {
	if !slices.Contains(c.watched, path) {
		c.watched = append(c.watched, path)
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func hasMeta(pattern string) bool {
	for _, r := range pattern {
		if r == '*' || r == '?' || r == '[' {
			return true
		}
	}
	return false
}

// decode reads the main file into c.
func (c *Config) decode(s *source, out *problems) {
	if s.root == nil {
		return
	}
	// The zone first: dates anywhere depend on it.
	if s.root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(s.root.Content); i += 2 {
			if s.root.Content[i].Value == "timezone" {
				c.decodeZone(c.decoder(s, out), s.root.Content[i+1])
			}
		}
	}
	d := c.decoder(s, out)
	known := []member{
		{"listen", func(v *yaml.Node) { set(&c.Listen, d.address(v, "listen")); c.listenAt = d.place(deref(v)) }},
		{"admin", func(v *yaml.Node) { c.decodeAdmin(d, v) }},
		{"tls", func(v *yaml.Node) { c.decodeTLS(d, v) }},
		{"timezone", func(*yaml.Node) {}},
		{"help", func(v *yaml.Node) { c.decodeHelp(d, v) }},
		{"cors", func(v *yaml.Node) { c.decodeCORS(d, v) }},
		{"upstreams", func(v *yaml.Node) { c.decodeUpstreams(d, v) }},
		{"store", func(v *yaml.Node) { c.decodeStore(d, v) }},
		{"ledger", func(v *yaml.Node) { c.decodeLedger(d, v) }},
		{"state", func(v *yaml.Node) { c.decodeState(d, v) }},
		{"notify", func(v *yaml.Node) { c.decodeNotify(d, v) }},
		{"timeouts", func(v *yaml.Node) { c.decodeTimeouts(d, v) }},
		{"prices", func(v *yaml.Node) { c.decodePrices(d, v) }},
		{"unpriced", func(v *yaml.Node) { c.decodeUnpriced(d, v) }},
		{"default_output", func(v *yaml.Node) { c.Learned = d.choice(v, "default_output", "fixed", "learned") == "learned" }},
		{"max_body", func(v *yaml.Node) { set(&c.MaxBody, d.bytes(v, "max_body")) }},
		{"max_buffered", func(v *yaml.Node) {
			set(&c.MaxBuffered, d.bytes(v, "max_buffered"))
			c.maxBufferedAt = d.place(deref(v))
		}},
		{"include", func(v *yaml.Node) {
			texts, at := d.texts(v, "include")
			for i := range texts {
				c.includes = append(c.includes, written{texts[i], at[i]})
			}
		}},
	}
	d.members(s.root, "the configuration", append(known, c.shared(d)...))
	c.ledgerDefaults(d)
}

// shared are the members that included files may hold, too.
func (c *Config) shared(d *decoder) []member {
	return []member{
		{"models", func(v *yaml.Node) { c.decodeModels(d, v) }},
		{"plans", func(v *yaml.Node) { c.decodePlans(d, v) }},
		{"keys", func(v *yaml.Node) { c.decodeKeys(d, v) }},
		{"groups", func(v *yaml.Node) { c.decodeGroups(d, v) }},
	}
}

// mainMembers are those that only the main file may hold.
var mainMembers = []string{"listen", "admin", "tls", "timezone", "help", "upstreams", "store", "ledger", "state", "notify", "timeouts", "prices", "unpriced", "default_output", "max_body", "max_buffered", "include"}

// decodeIncluded reads an included file into c.
func (c *Config) decodeIncluded(s *source, out *problems) {
	if s.root == nil {
		return
	}
	d := c.decoder(s, out)
	known := c.shared(d)
	for _, name := range mainMembers {
		known = append(known, member{name, func(v *yaml.Node) {
			d.problem(v, "move it to "+c.root.name+"; included files hold keys, plans, groups and models", "%s cannot stand in an included file", name)
		}})
	}
	d.members(s.root, "an included file", known)
}

func (c *Config) decodeZone(d *decoder, v *yaml.Node) {
	s, ok := d.text(v, "timezone")
	if !ok {
		return
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		d.problem(v, "write a name such as Europe/Berlin, America/New_York or UTC", "timezone is not a time zone this machine knows")
		return
	}
	c.zone = zone
}

// set takes a value that was read and leaves the default where reading failed.
func set[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}
