package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

func (c *Config) decodeAdmin(d *decoder, n *yaml.Node) {
	d.members(n, "admin", []member{
		{"listen", func(v *yaml.Node) { set(&c.Admin.Listen, d.address(v, "admin.listen")); c.adminAt = d.place(deref(v)) }},
		{"token", func(v *yaml.Node) { c.setToken(d, v, d.secret(v, "admin.token")) }},
		{"token_file", func(v *yaml.Node) { c.setToken(d, v, d.secretFile(v, "admin.token_file")) }},
	})
}

func (c *Config) setToken(d *decoder, v *yaml.Node, token string) {
	switch {
	case c.Admin.Token != "":
		d.problem(v, "keep one of the two", "token and token_file are both given")
	case token != "" && len(token) < 12:
		d.problem(v, "use at least 12 characters; `openssl rand -hex 16` prints a good one", "admin.token is short enough to be guessed")
	}
	c.Admin.Token = token
}

func (c *Config) decodeTLS(d *decoder, n *yaml.Node) {
	n = deref(n)
	if isNull(n) {
		return
	}
	before := len(d.out.list)
	t := &TLSConfig{}
	d.members(n, "tls", []member{
		{"cert", func(v *yaml.Node) { t.Cert = d.file(v, "tls.cert") }},
		{"key", func(v *yaml.Node) { t.Key = d.file(v, "tls.key") }},
	})
	c.TLS = t
	if len(d.out.list) > before {
		return
	}
	if t.Cert == "" || t.Key == "" {
		d.problem(n, "write tls: { cert: server.pem, key: server.key }", "tls needs both cert and key")
		return
	}
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		d.problem(n, "both must be PEM files, and the key must be the certificate's own", "the certificate and its key cannot be used: %v", reason(err))
	}
}

// decodeHelp reads the last sentence of refusals. "Ask in #ai" without quotes would lose its channel to a comment.
func (c *Config) decodeHelp(d *decoder, v *yaml.Node) {
	s, ok := d.text(v, "help")
	if !ok {
		return
	}
	if comment := deref(v).LineComment; deref(v).Style == 0 && strings.HasPrefix(comment, "#") && !strings.HasPrefix(comment, "# ") {
		d.problem(v, "quote the sentence: help: \""+s+" "+comment+"\"", "%s is a comment here, not part of help", comment)
	}
	c.Help = strings.Join(strings.Fields(s), " ")
}

func (c *Config) decodeStore(d *decoder, n *yaml.Node) {
	d.members(n, "store", []member{
		{"url", func(v *yaml.Node) {
			s, ok := d.text(v, "store.url")
			switch {
			case !ok || s == "memory":
			case strings.HasPrefix(s, "redis"):
				d.problem(v, "write `url: memory`; each running proxy then counts by itself", "only the memory store is available in this version")
			default:
				d.problem(v, "write `url: memory`", "store.url is not a store")
			}
		}},
	})
}

func (c *Config) decodeTimeouts(d *decoder, n *yaml.Node) {
	t := &c.Timeouts
	d.members(n, "timeouts", []member{
		{"headers", func(v *yaml.Node) { set(&t.Headers, d.positive(v, "timeouts.headers")) }},
		{"idle", func(v *yaml.Node) { set(&t.Idle, d.positive(v, "timeouts.idle")) }},
		{"draw", func(v *yaml.Node) { set(&t.Draw, d.positive(v, "timeouts.draw")) }},
		{"drain", func(v *yaml.Node) { t.Drain = d.duration(v, "timeouts.drain") }},
		{"request_header", func(v *yaml.Node) { set(&t.RequestHeader, d.positive(v, "timeouts.request_header")) }},
		{"request_body", func(v *yaml.Node) { set(&t.RequestBody, d.positive(v, "timeouts.request_body")) }},
		{"shutdown_delay", func(v *yaml.Node) { t.ShutdownDelay = d.duration(v, "timeouts.shutdown_delay") }},
	})
}

// certificates reports whether a PEM file holds any.
func certificates(path string) bool {
	pem, err := os.ReadFile(path)
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(pem)
}
