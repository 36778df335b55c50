// Package upstream knows the servers that calls are sent to: where they are, the key they want, and how to talk to them.
package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Options describe one upstream.
type Options struct {
	Name          string
	URL           string        // base URL, with its version path: https://api.openai.com/v1
	Key           string        // empty: no key is sent
	Auth          string        // where the key is sent: "bearer" (default) in Authorization, "api-key" in a header of that name
	Query         url.Values    // sent with every request, as Azure wants its api-version
	CAFile        string        // PEM file of roots to trust besides the system's; empty means the system's alone
	Forward       []string      // canonical names of callers' headers that are sent to it, besides those that always are
	Set           http.Header   // sent with every request; these go before what callers send
	HeaderTimeout time.Duration // longest wait for the answer's headers; zero means 20 minutes, the time a reasoning model may think

	// Dial opens connections; nil means those of the system's network, within ten seconds.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Files *Files // shared with other upstreams; nil: its connections are not bounded
}

// Upstream is one OpenAI-compatible server. It is safe for concurrent use.
type Upstream struct {
	Name  string
	base  *url.URL
	key   string
	query string
	wire  roundTripper

	auth          string   // the header that holds the key
	authorization []string // its value; nil: no key is sent
	forward       []string // canonical names of callers' headers that are sent, besides those that always are
	set           http.Header
	secrets       []string // what must not be shown
	find          *finder  // of secrets and accounts

	breaker *breaker
}

// roundTripper sends requests. Its errors are of type *[Error].
type roundTripper interface {
	roundTrip(r *http.Request) (*http.Response, error)
	closeIdle()
}

// New makes an Upstream, or says which option is wrong. It opens no connection.
func New(o Options) (*Upstream, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("upstream %s: url must look like https://host/v1", o.Name)
	}
	if o.Auth != "" && o.Auth != "bearer" && o.Auth != "api-key" {
		return nil, fmt.Errorf("upstream %s: auth must be bearer or api-key", o.Name)
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if o.HeaderTimeout == 0 {
		o.HeaderTimeout = 20 * time.Minute
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	u := &Upstream{Name: o.Name, base: base, key: o.Key, query: o.Query.Encode(), breaker: &breaker{}}
	switch {
	case o.Key == "":
	case o.Auth == "api-key":
		u.auth, u.authorization = "Api-Key", []string{o.Key}
	default:
		u.auth, u.authorization = "Authorization", []string{"Bearer " + o.Key}
	}
	if u.forward, u.set, err = checkHeaders(&o); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", o.Name, err)
	}
	if len(o.Key) >= shortestKey {
		u.secrets = append(u.secrets, o.Key)
	}
	for _, values := range u.set {
		for _, v := range values {
			if len(v) >= shortestSet {
				u.secrets = append(u.secrets, v)
			}
		}
	}
	u.find = newFinder(u.secrets)
	if o.Files != nil {
		o.Dial = o.Files.dialler(u, o.Dial)
	}
	if u.wire, err = newWire(&o, base); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", o.Name, err)
	}
	return u, nil
}

// newWire chooses how to talk to the server.
func newWire(o *Options, base *url.URL) (roundTripper, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: base})
	if base.Scheme == "https" || proxy != nil || err != nil || o.CAFile != "" || !haveSockets || oddHost(base.Host) {
		return newSecure(o)
	}
	port := base.Port()
	if port == "" {
		port = "80"
	}
	return &plain{dial: o.Dial, address: net.JoinHostPort(base.Hostname(), port), patience: o.HeaderTimeout}, nil
}

// oddHost reports whether a host has to be written otherwise where it is sent, as international names and addresses with a zone do.
func oddHost(host string) bool {
	return strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 || r == '%' })
}

func trust(caFile string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s: no PEM certificate in it", caFile)
	}
	config.RootCAs = roots
	return config, nil
}

// Endpoint returns the address of an API path such as "/chat/completions". The path is ours, never the client's.
func (u *Upstream) Endpoint(path string) *url.URL {
	e := *u.base
	e.Path += path
	e.RawQuery = u.query
	return &e
}

// RoundTrip sends one request and returns its answer, whose body must be closed. Redirects are not followed. An error is an *[Error].
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) { return u.wire.roundTrip(r) }

// shortestKey is how long a key must be to be looked for: what is shorter is in many a word.
const shortestKey = 4

// shortestSet is how long the value of a header that is set must be to be taken for a secret.
const shortestSet = 12

// Redact returns text with the upstream's key taken out, what is set in headers, and the names of organisations and projects, however
// they are written in JSON. Providers quote all of them in their error messages.
func (u *Upstream) Redact(text []byte) []byte { return u.find.redact(text) }

// Holds reports whether there is a secret in a text that Redact would take out.
func (u *Upstream) Holds(text string) bool {
	return slices.ContainsFunc(u.secrets, func(secret string) bool { return strings.Contains(text, secret) })
}

// CloseIdle closes connections that no call is using.
func (u *Upstream) CloseIdle() { u.wire.closeIdle() }
