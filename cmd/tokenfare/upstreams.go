package main

import (
	"net/url"
	"strings"

	yaml "go.yaml.in/yaml/v4"
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
			{"ca_file", func(v *yaml.Node) { u.CAFile = d.certificates(v, what+"'s ca_file") }},
			{"usage", func(v *yaml.Node) { set(&u.Usage, d.choice(v, what+"'s usage", "inject", "never")) }},
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

// url reads the base address of an upstream, as an SDK would be given it.
func (d *decoder) url(n *yaml.Node, what string) string {
	s, ok := d.text(n, what+"'s url")
	if !ok {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case !strings.Contains(s, "://"):
		d.problem(n, "write https://"+s+", or http:// for a server nearby", "the url does not begin with https:// or http://")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		d.problem(n, "write a base URL such as https://api.openai.com/v1 or http://localhost:11434/v1", "the url is not an http or https address")
	case u.User != nil:
		d.out.secrets.add(u.User.String())
		d.problem(n, "take it out of the url and give it as `key:` or `key_file:`", "the url holds a user name or password")
	case u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "#"):
		d.problem(n, "write the base alone: "+u.Scheme+"://"+u.Host+u.Path, "the url has a query or fragment, which is not sent")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		d.problem(n, "write the base alone: "+u.Scheme+"://"+u.Host+strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"), "the url names an endpoint, not the base of the API")
	case u.Host == "api.openai.com" && strings.Trim(u.Path, "/") == "":
		d.problem(n, "write https://api.openai.com/v1", "the url lacks the version")
	default:
		return strings.TrimRight(s, "/")
	}
	return ""
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
