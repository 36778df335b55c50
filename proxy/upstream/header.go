package upstream

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// always are the callers' headers that every upstream gets. Everything else stays here: the caller's key, headers that name its
// organisation or project (with our key they would name somebody else's), idempotency keys, cookies, forwarding headers.
var always = []string{"Traceparent", "Tracestate", "Openai-Beta"}

// What every request says. They are shared: nobody changes them.
var (
	anything     = []string{"*/*"}
	unpackedOnly = []string{"identity"} // the meter must be able to read the answer
	ourName      = []string{"tokenfare"}
)

// Header makes the header of a request: a fresh one, so that nothing of a caller's travels on by accident. media is the type of the
// body; empty: there is none. What a caller's Connection names is for its connection alone (RFC 9110, section 7.6.1), and stays here.
func (u *Upstream) Header(from http.Header, media string) http.Header {
	h := make(http.Header, 8+len(u.set))
	connection := from["Connection"]
	for _, names := range [...][]string{always, u.forward} {
		for _, name := range names {
			if v := from[name]; len(v) > 0 && !nominated(connection, name) {
				h[name] = v
			}
		}
	}
	h["Accept"], h["Accept-Encoding"] = anything, unpackedOnly
	if media != "" {
		h["Content-Type"] = []string{media}
	}
	if h["User-Agent"] == nil {
		h["User-Agent"] = ourName
	}
	maps.Copy(h, u.set)
	if u.authorization != nil {
		h[u.auth] = u.authorization
	}
	return h
}

// nominated reports whether one of the values of Connection names a header.
func nominated(connection []string, name string) bool {
	for _, v := range connection {
		for one := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.Trim(one, " \t"), name) {
				return true
			}
		}
	}
	return false
}

// ours are the headers that requests have from here, and those that concern a single connection (RFC 9110, section 7.6.1).
var ours = []string{
	"Authorization", "Api-Key", "Host", "Content-Length", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding",
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect",
}

// theirs are headers of callers that mean something else, or somebody else, where they come with our key.
var theirs = []string{
	"Cookie", "Openai-Organization", "Openai-Project", "X-Goog-User-Project", "X-Tokenfare-Label",
	"X-Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", // keys, of which the upstream has one of ours
	"Forwarded", "X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
	"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", // where one of these counts, it is another call
}

// callNames are headers that name one call: whoever sends a second one under that name gets the answer to the first. And net/http takes
// a POST that has one for a request that may be sent again where its connection breaks, although it may have been served.
var callNames = []string{"Idempotency-Key", "X-Idempotency-Key"}

// CheckForward says why callers' headers of that name cannot be sent to an upstream; nil if they can.
func CheckForward(name string) error {
	name = http.CanonicalHeaderKey(name)
	if slices.Contains(theirs, name) || slices.Contains(callNames, name) || strings.HasPrefix(name, "X-Forwarded-") {
		return fmt.Errorf("%s of a caller means something else where it comes with the upstream's key", name)
	}
	return CheckSet(name)
}

// CheckSet says why a header of that name cannot be set; nil if it can.
func CheckSet(name string) error {
	token := func(r rune) bool {
		return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) // RFC 9110, section 5.6.2
	}
	switch {
	case name == "" || len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return !token(r) }):
		return fmt.Errorf("%q is not the name of a header", name)
	case slices.Contains(ours, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("%s is written by this proxy itself", http.CanonicalHeaderKey(name))
	case slices.Contains(callNames, http.CanonicalHeaderKey(name)):
		return fmt.Errorf("%s would be the same for every call, and a provider answers those alike", http.CanonicalHeaderKey(name))
	}
	return nil
}

// CheckValue says why a header cannot have that value; nil if it can. It does not quote the value, which may be a secret.
func CheckValue(value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) || strings.TrimSpace(value) != value {
		return fmt.Errorf("the value of a header is one line, without control characters and without blanks around it")
	}
	return nil
}

// checkHeaders finds what is wrong with the headers of some options, and returns them in canonical form.
func checkHeaders(o *Options) (forward []string, set http.Header, err error) {
	for _, name := range o.Forward {
		if err := CheckForward(name); err != nil {
			return nil, nil, fmt.Errorf("headers: forward: %w", err)
		}
		if name = http.CanonicalHeaderKey(name); !slices.Contains(forward, name) && !slices.Contains(always, name) {
			forward = append(forward, name)
		}
	}
	set = make(http.Header, len(o.Set))
	for name, values := range o.Set {
		if err := CheckSet(name); err != nil {
			return nil, nil, fmt.Errorf("headers: set: %w", err)
		}
		for _, v := range values {
			if err := CheckValue(v); err != nil {
				return nil, nil, fmt.Errorf("headers: set: %s: %w", name, err)
			}
		}
		set[http.CanonicalHeaderKey(name)] = values
	}
	return forward, set, nil
}
