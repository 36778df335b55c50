package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// exposed are the answer headers that pages of other origins may read, besides those that every page may.
var exposed = []string{
	"Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Request-Id", "Openai-Processing-Ms", "Openai-Version",
	"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens",
	"X-Ratelimit-Limit-At-Once", "X-Ratelimit-Remaining-At-Once",
	"X-Tokenfare-Id", "X-Tokenfare-Budget", "X-Tokenfare-Reserved", "X-Tokenfare-Cost", "X-Tokenfare-Output-Limit",
}

// preflightFor is how long, in seconds, a browser need not ask again.
const preflightFor = 600

// newCORS lets pages of some origins call this proxy; nil where there are none.
func newCORS(origins []string) (*cors.Cors, error) {
	if len(origins) == 0 {
		return nil, nil //nolint:nilnil // nobody may
	}
	for _, origin := range origins {
		if !IsOrigin(origin) {
			return nil, fmt.Errorf("cors: %q is no origin; write a scheme, a host and where needed a port, as in https://app.example.com, or \"*\" for all", origin)
		}
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodDelete},
		AllowedHeaders: []string{"*"}, // SDKs add some of their own
		ExposedHeaders: exposed,
		MaxAge:         preflightFor,
	}), nil
}

// IsOrigin reports whether text names an origin as browsers do, or is "*" for all.
func IsOrigin(text string) bool {
	u, err := url.Parse(text)
	return text == "*" || err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && text == u.Scheme+"://"+strings.ToLower(u.Host)
}

// crossOrigin answers browsers that ask whether a page may call, before anybody is asked for a key, and lets pages of the origins
// that the policy names read the answers.
func (s *Server) crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := s.current().cors; c != nil {
			c.ServeHTTP(w, r, next.ServeHTTP)
			return
		}
		next.ServeHTTP(w, r)
	})
}
