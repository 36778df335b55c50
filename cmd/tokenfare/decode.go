package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"
)

// decoder turns the nodes of one file into values, strictly: what it does not know, or cannot read, becomes a problem
// and decoding goes on. It reads the tree itself, rather than into structs, because only then is every mistake found
// in one go, each with its place.
type decoder struct {
	*source
	out  *problems
	zone *time.Location
	read func(string) // told of every other file that was read
}

// member is one name a mapping may hold and what reads its value.
type member struct {
	name string
	read func(v *yaml.Node)
}

func (d *decoder) problem(n *yaml.Node, fix, format string, args ...any) {
	d.out.add(d.place(n), fix, format, args...)
}

// members reads a mapping whose names are fixed. what names it in messages.
func (d *decoder) members(n *yaml.Node, what string, known []member) {
	d.entries(n, what, func(k, v *yaml.Node) {
		i := slices.IndexFunc(known, func(m member) bool { return m.name == k.Value })
		if i >= 0 {
			known[i].read(v)
			return
		}
		if secretName.MatchString(k.Value) && v.Kind != yaml.MappingNode {
			d.hide(v)
		}
		names := make([]string, len(known))
		for i, m := range known {
			names[i] = m.name
		}
		fix := suggest(k.Value, names)
		if meant := synonyms[strings.ToLower(k.Value)]; slices.Contains(names, meant) {
			fix = "did you mean " + meant + "?"
		}
		d.problem(k, fix, "%s has no member %q", what, k.Value)
	})
}

var secretName = regexp.MustCompile(`(?i)key|token|secret|pass|auth|credential|hash`)

// synonyms are names other programs use for what ours call otherwise.
var synonyms = map[string]string{
	"api_key": "key", "apikey": "key", "api-key": "key", "base_url": "url", "baseurl": "url", "api_base": "url", "endpoint": "url",
	"alias": "model", "port": "listen", "address": "listen", "addr": "listen", "providers": "upstreams", "provider": "upstream", "tz": "timezone",
	"users": "keys", "budget": "limits", "budgets": "limits", "rate_limit": "limits", "rate_limits": "limits", "teams": "groups", "members": "keys",
	"allowed_models": "models", "pricing": "price", "prompt": "input", "completion": "output", "max_tokens": "max_output_tokens", "context_window": "context_tokens",
	"certificate": "cert", "private_key": "key", "redis": "store", "sha256": "hash", "enabled": "disabled", "includes": "include", "expiry": "expires",
	"extras": "extra", "bonus": "extra", "boost": "extra", "top_up": "extra", "raise": "extra",
	"webhook": "url", "webhook_url": "url", "thresholds": "at", "notification": "notify", "notifications": "notify", "alerts": "notify",
}

// entries reads a mapping with any names. A name given twice, or one that is not a plain word, is a problem.
func (d *decoder) entries(n *yaml.Node, what string, read func(k, v *yaml.Node)) {
	n = deref(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.problem(n, d.shape(n, what), "%s must be a mapping", what)
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if n.Style&yaml.FlowStyle != 0 {
			if more := continued(v, n.Content[i+2:]); more > 0 {
				v = d.rejoined(v, n.Content[i+2:i+2+2*more])
				i += 2 * more
			}
		}
		switch {
		case k.Kind != yaml.ScalarNode:
			d.problem(k, "write a plain name; quote patterns and variables: \"gpt-*\"", "this name is not text")
		case k.Tag == "!!merge":
			d.problem(k, "name shared limits once under plans and refer to them with `plan:`", "merging with << is not supported")
		case seen[k.Value] != nil:
			d.problem(k, "keep one of the two", "%q stands twice in %s, first on line %d", k.Value, what, seen[k.Value].Line)
		default:
			seen[k.Value] = k
			read(k, v)
		}
	}
}

// text reads a scalar and expands the variables in it. what names it in messages, which never quote the value.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	n = deref(n)
	switch {
	case isNull(n):
		d.problem(n, "write a value, or remove the line", "%s is empty", what)
		return "", false
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0:
		d.problem(n, "quote the value: \"{…}\"; for a variable write \"${NAME}\"", "unquoted braces begin a mapping, but %s is one value", what)
		return "", false
	case n.Kind != yaml.ScalarNode:
		d.problem(n, "write a single value", "%s is one value, not a list or mapping", what)
		return "", false
	}
	if fix := foreignVariable(n.Value); fix != "" {
		d.problem(n, fix, "%s is taken as it stands: only ${NAME} is replaced by an environment variable", what)
		return "", false
	}
	s, unset := d.expand(n.Value)
	if unset != "" {
		d.out.add(d.place(n).within(n.Value, strings.Index(n.Value, "${"+unset+"}"), len(unset)+3), "export "+unset+", or give it a value where the program is started",
			"the environment variable %s is not set", unset)
		return "", false
	}
	if strings.TrimSpace(s) == "" {
		d.problem(n, "write a value, or remove the line", "%s is empty", what)
		return "", false
	}
	return s, true
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} by the environment's value. A variable that is unset or empty is named instead. What comes
// from the environment may be a secret, wherever in the file it is used.
func (d *decoder) expand(s string) (value, unset string) {
	value = variable.ReplaceAllStringFunc(s, func(m string) string {
		name := m[2 : len(m)-1]
		v := os.Getenv(name)
		if v == "" && unset == "" {
			unset = name
		}
		if len(v) >= 8 {
			d.out.secrets.add(v)
		}
		return v
	})
	return value, unset
}

// texts reads one scalar or a list of them, each with its place.
func (d *decoder) texts(n *yaml.Node, what string) (values []string, at []place) {
	n = deref(n)
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if s, ok := d.text(item, what); ok {
			values, at = append(values, s), append(at, d.place(item))
		}
	}
	return values, at
}

// secret reads a scalar that must not be shown.
func (d *decoder) secret(n *yaml.Node, what string) string {
	d.hide(n)
	s, ok := d.text(n, what)
	if !ok {
		return ""
	}
	s = strings.TrimSpace(s)
	d.out.secrets.add(s)
	return s
}

// secretFile reads a secret from the file a scalar names. The line break at its end is not part of it.
func (d *decoder) secretFile(n *yaml.Node, what string) string {
	p, ok := d.text(n, what)
	if !ok {
		return ""
	}
	d.read(d.path(p))
	b, err := readBounded(d.path(p), 64<<10)
	if err != nil {
		d.problem(n, "check the path (relative to this file) and its permissions", "cannot read %s: %v", what, reason(err))
		return ""
	}
	s := strings.TrimRight(string(b), "\r\n")
	if strings.TrimSpace(s) == "" {
		d.problem(n, "write the secret into the file", "the file of %s is empty", what)
		return ""
	}
	d.out.secrets.add(s)
	return s
}

// hide keeps everything a node says out of messages.
func (d *decoder) hide(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && !variable.MatchString(n.Value) {
		d.out.secrets.add(n.Value)
	}
	for _, c := range n.Content {
		d.hide(c)
	}
}

// choice reads one of a few words.
func (d *decoder) choice(n *yaml.Node, what string, words ...string) string {
	s, ok := d.text(n, what)
	if !ok {
		return ""
	}
	if !slices.Contains(words, s) {
		d.problem(n, "write "+strings.Join(words, " or "), "%s must be %s", what, strings.Join(words, " or "))
		return ""
	}
	return s
}

func (d *decoder) boolean(n *yaml.Node, what string) bool {
	return d.choice(n, what, "true", "false") == "true"
}

func deref(n *yaml.Node) *yaml.Node {
	for range 8 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" || n.Kind == 0
}
