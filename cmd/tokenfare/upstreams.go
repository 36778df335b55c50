package main

import (
	"net/url"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
)

func (c *Config) decodeUpstreams(d *decoder, n *yaml.Node) {
	d.entries(n, "upstreams", func(k, v *yaml.Node) {
		what := "upstream " + k.Value
		u := UpstreamConfig{Name: d.name(k, "an upstream"), Usage: "inject", at: d.place(k)}
		before := len(d.out.list)
		d.members(v, what, []member{
			{"url", func(v *yaml.Node) { u.URL = d.url(v, what) }},
			{"key", func(v *yaml.Node) { d.oneKey(v, u.Key, what); u.Key = d.secret(v, what+"'s key") }},
			{"key_file", func(v *yaml.Node) { d.oneKey(v, u.Key, what); u.Key = d.secretFile(v, what+"'s key_file") }},
			{"auth", func(v *yaml.Node) { u.Auth = d.choice(v, what+"'s auth", "bearer", "api-key") }},
			{"query", func(v *yaml.Node) { u.Query = d.query(v, what) }},
			{"ca_file", func(v *yaml.Node) { u.CAFile = d.certificates(v, what+"'s ca_file") }},
			{"usage", func(v *yaml.Node) { set(&u.Usage, d.choice(v, what+"'s usage", "inject", "never")) }},
			{"region", func(v *yaml.Node) { u.Region = d.choice(v, what+"'s region", "eu", "us") }},
			{"service_tier", func(v *yaml.Node) {
				u.Tier = cost.ParseTier(d.choice(v, what+"'s service_tier", "default", "flex", "priority"))
			}},
			{"headers", func(v *yaml.Node) { u.Forward, u.Set = d.headers(v, what+"'s headers") }},
			{"limits", func(v *yaml.Node) { u.Limits, _, _ = d.limits(v, "the limits of "+what) }},
		})
		if u.URL == "" && len(d.out.list) == before {
			d.problem(k, "add url: https://api.openai.com/v1", "%s has no url", what)
		}
		c.Upstreams = append(c.Upstreams, u)
	})
}

func (d *decoder) oneKey(v *yaml.Node, already, what string) {
	if already != "" {
		d.problem(v, "keep one of the two", "%s has both key and key_file", what)
	}
}

// query reads what is sent in the query of every request. A key has its own member, which is kept secret.
func (d *decoder) query(n *yaml.Node, what string) map[string]string {
	out := map[string]string{}
	d.entries(n, what+"'s query", func(k, v *yaml.Node) {
		if secretName.MatchString(k.Value) {
			d.hide(v)
			d.problem(k, "give the key as `key:` or `key_file:`, and say with `auth:` how it is sent", "%s's query holds a key", what)
			return
		}
		if s, ok := d.text(v, what+"'s "+k.Value); ok {
			out[k.Value] = s
		}
	})
	return out
}

// url reads the base address of an upstream, as an SDK would be given it.
func (d *decoder) url(n *yaml.Node, what string) string {
	s, ok := d.text(n, what+"'s url")
	if !ok {
		return ""
	}
	if u, err := url.Parse(s); err == nil {
		d.out.secrets.add(u.User.String())
		for name, values := range u.Query() {
			if secretName.MatchString(name) {
				d.out.secrets.add(strings.Join(values, "\n"))
			}
		}
	}
	if msg, fix := baseURL(s); msg != "" {
		d.problem(n, fix, "the url %s", msg)
		return ""
	}
	return strings.TrimRight(s, "/")
}

// baseURL says what is wrong with the base address of an API, and the fix; nothing if it can be used.
func baseURL(s string) (msg, fix string) {
	u, err := url.Parse(s)
	if !strings.Contains(s, "://") {
		return "does not begin with https:// or http://", "write https://" + s + ", or http:// for a server nearby"
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "" {
		return "is not an http or https address", "write a base URL such as https://api.openai.com/v1 or http://localhost:11434/v1"
	}
	path := strings.Trim(u.Path, "/")
	azure := strings.HasSuffix(strings.ToLower(u.Hostname()), ".openai.azure.com") && path != "openai/v1" && path != "openai/v1/chat/completions"
	switch {
	case u.User != nil:
		return "holds a user name or password", "take it out of the url and give it as `key:` or `key_file:`"
	case azure || strings.HasPrefix(path, "openai/deployments/"):
		return "is not that of Azure's v1 API", "write " + u.Scheme + "://" + u.Host + "/openai/v1, and name the deployment as the model"
	case u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "#"):
		return "has a query or fragment, which is not sent", "write the base alone: " + u.Scheme + "://" + u.Host + u.Path + "; what every request is to carry stands under query:, as in query: { api-version: preview }"
	case strings.HasSuffix(path, "chat/completions"):
		return "names an endpoint, not the base of the API", "write the base alone: " + u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	case u.Host == "api.openai.com" && path == "":
		return "lacks the version", "write https://api.openai.com/v1"
	}
	return "", ""
}

// certificates reads the path of a PEM file of root certificates.
func (d *decoder) certificates(n *yaml.Node, what string) string {
	before := len(d.out.list)
	p := d.file(n, what)
	if p != "" && len(d.out.list) == before && !certificates(p) {
		d.problem(n, "name a PEM file that begins with -----BEGIN CERTIFICATE-----", "%s holds no certificate", what)
	}
	return p
}
