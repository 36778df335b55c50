package main

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// shape is the line to write where a mapping should stand and something else does. what names the mapping as messages do.
func (d *decoder) shape(n *yaml.Node, what string) string {
	const (
		upstream = `{ url: https://api.openai.com/v1, key: "${OPENAI_API_KEY}" }`
		key      = `{ hash: "sha256:…", limits: ["$5 each day"] }`
	)
	given := ""
	if n.Kind == yaml.ScalarNode {
		given = n.Value
	}
	kind, name, _ := strings.Cut(what, " ")
	write := func(name, value string) string { return "write " + plainPattern(name) + ": " + value }
	switch {
	case strings.HasSuffix(what, "'s price"):
		return "write price: { input: $0.25, output: $2 }, in dollars per million tokens"
	case strings.HasSuffix(what, "'s tools"):
		return "write tools: { web_search: $0.01, code_interpreter: { session: $0.03 } }, in dollars for one"
	case kind == "upstreams":
		return write(what, "{ openai: "+upstream+" }")
	case kind == "upstream" && strings.Contains(given, "://"):
		return write(name, "{ url: "+given+" }")
	case kind == "upstream":
		return write(name, upstream)
	case kind == "models":
		return write(what, "{ gpt-5-mini: { upstream: "+d.anUpstream()+" } }")
	case kind == "model" && (slices.Contains(d.upstreamNames(), given) || given == "" || strings.ContainsAny(name, "*?")):
		return write(name, "{ upstream: "+d.anUpstream(given)+" }")
	case kind == "model":
		return write(name, "{ upstream: "+d.anUpstream()+", model: "+given+" }")
	case kind == "plans":
		return write(what, `{ team: ["200k tokens per minute", "$50 each month"] }`)
	case kind == "keys":
		return write(what, "{ "+nameIn(n)+": "+key+" }; `tokenfare keys new "+nameIn(n)+"` prints the line")
	case kind == "groups":
		return write(what, `{ research: { keys: [alice], limits: ["$200 each month"] } }`)
	case kind == "group":
		return write(name, "{ keys: ["+strings.Join(namesIn(n), ", ")+`], limits: ["$200 each month"] }`)
	case kind == "store":
		return "write store: { url: memory }"
	case kind == "ledger":
		return "write ledger: { url: \"sqlite:usage.db\" }, or ledger: none"
	case kind == "notify":
		return `write notify: { url: "${SLACK_WEBHOOK}", at: ["80%", "100%"] }`
	case kind == "admin" && strings.Contains(given, ":"):
		return `write admin: { listen: "` + given + `" }`
	case kind == "admin":
		return `write admin: { listen: "127.0.0.1:9090" }`
	case kind == "tls":
		return "write tls: { cert: server.pem, key: server.key }"
	case kind == "timeouts":
		return "write timeouts: { idle: 10m }; the others are headers, draw, drain, request_header, request_body and shutdown_delay"
	case kind == "key":
		return write(name, key)
	}
	return "write `name: value` pairs below it, indented, such as listen: \"127.0.0.1:8080\""
}

// upstreamNames are the upstreams of the file that is being read, however much is wrong with them.
func (d *decoder) upstreamNames() (names []string) {
	upstreams := child(d.root, "upstreams")
	if upstreams == nil || upstreams.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(upstreams.Content); i += 2 {
		names = append(names, upstreams.Content[i].Value)
	}
	return names
}

// anUpstream is the first of the names that is an upstream, else the first upstream there is.
func (d *decoder) anUpstream(names ...string) string {
	known := append(d.upstreamNames(), "openai")
	for _, n := range names {
		if slices.Contains(known, n) {
			return n
		}
	}
	return known[0]
}

// namesIn are the names in a list, or alice.
func namesIn(n *yaml.Node) (names []string) {
	for _, item := range append([]*yaml.Node{n}, n.Content...) {
		item = deref(item)
		if name := child(item, "name"); name != nil {
			item = name
		}
		if item.Kind == yaml.ScalarNode && ownerName.MatchString(item.Value) {
			names = append(names, item.Value)
		}
	}
	if len(names) == 0 {
		names = []string{"alice"}
	}
	return names
}

func nameIn(n *yaml.Node) string { return namesIn(n)[0] }

// plainPattern quotes what would not be a plain name in YAML.
func plainPattern(name string) string {
	if name == "" || strings.ContainsAny(name, "*?:{}[],&#!|>'\"%@` ") {
		return `"` + name + `"`
	}
	return plainName(name)
}
