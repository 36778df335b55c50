package proxy

import (
	"net/http"
	"strconv"
)

// The headers that this proxy writes, in the form in which net/http keeps them: looked up in any other they would be made anew for
// every answer.
const (
	headContentType = "Content-Type"
	headRequestID   = "X-Request-Id"
	headID          = "X-Tokenfare-Id"
	headBudget      = "X-Tokenfare-Budget"
	headReserved    = "X-Tokenfare-Reserved"
	headOutputLimit = "X-Tokenfare-Output-Limit"
	headCost        = "X-Tokenfare-Cost"
	headRetryAfter  = "Retry-After"
	headRetryMillis = "Retry-After-Ms"
	headShouldRetry = "X-Should-Retry"
)

// limitHeads are the headers that tell of the tightest budget of a kind.
type limitHeads struct{ limit, remaining, reset string }

var (
	headsTokens   = limitHeads{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"}
	headsRequests = limitHeads{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}
	headsAtOnce   = limitHeads{"X-Ratelimit-Limit-At-Once", "X-Ratelimit-Remaining-At-Once", ""}
)

// fields writes into a header. The values of all it writes share an array.
type fields struct {
	header http.Header
	values []string
}

// someFields is how many values are made room for at once: as many as most answers have.
const someFields = 10

// set is [http.Header.Set] for a name in canonical form.
func (f *fields) set(name, value string) {
	if len(f.values) == cap(f.values) {
		f.values = make([]string, 0, someFields)
	}
	n := len(f.values)
	f.values = append(f.values, value)
	f.header[name] = f.values[n : n+1 : n+1]
}

func (f *fields) setInt(name string, n int64) { f.set(name, strconv.FormatInt(n, 10)) }
