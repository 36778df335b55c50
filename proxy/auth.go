package proxy

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// identity is who makes a request, under which policy. The policy is loaded here, once for the whole request.
type identity struct {
	policy *Policy
	caller *caller
}

func identityOf(r *http.Request) identity {
	id := recordOf(r).identity
	if id.caller == nil {
		panic("BUG: a handler that needs a caller is mounted outside the auth middleware")
	}
	return id
}

// auth lets through requests whose key is known, and answers all others with OpenAI's 401 before their body is read.
// An unknown key leaves no state behind.
func (s *Server) auth(next http.Handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		policy, rec := s.current(), recordOf(r)
		c, err := policy.authenticate(r.Header, rec.began)
		if err != nil {
			return err
		}
		rec.key, rec.identity = c.name, identity{policy, c}
		next.ServeHTTP(w, r)
		return nil
	})
}

// authenticate finds the caller by the SHA-256 of its secret, so comparing takes the same time whatever the secret is.
func (p *Policy) authenticate(h http.Header, now time.Time) (*caller, error) {
	secret, ok := bearer(h)
	if !ok && h.Get("Api-Key") != "" {
		return nil, unauthorized("This proxy takes keys as `Authorization: Bearer KEY`, not in the header api-key, as Azure's clients send them: " +
			"use the plain client of OpenAI's SDK.")
	}
	if !ok {
		return nil, unauthorized("You didn't provide an API key. Send the key that this proxy's operator gave you as " +
			"`Authorization: Bearer KEY`; an OpenAI SDK does so when its api_key is set.")
	}
	c := p.callers[sha256.Sum256([]byte(secret))]
	switch {
	case c == nil:
		return nil, unauthorized("Incorrect API key provided. This proxy takes keys issued by its operator (`tokenfare keys new`), " +
			"not keys of the model provider.")
	case c.disabled:
		return nil, unauthorized("This API key is disabled. Ask the operator of this proxy to enable key " + c.name + ".")
	case !c.expires.IsZero() && !now.Before(c.expires):
		return nil, unauthorized("This API key expired on " + c.expires.In(p.zone).Format(time.DateOnly) +
			". Ask the operator of this proxy for a new one.")
	}
	return c, nil
}

// bearer returns everything after "Bearer ": keys are opaque and may hold spaces.
func bearer(h http.Header) (string, bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, ok := strings.Cut(values[0], " ")
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != ""
}

func unauthorized(message string) error {
	return &wire.Error{
		Status: http.StatusUnauthorized, Message: message, Type: "invalid_request_error", Code: "invalid_api_key",
	}
}
