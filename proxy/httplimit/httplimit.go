package httplimit

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/tokenfare/tokenfare/limiter"
)

// Options are the options of New. The zero value of each field but Rule and Budget, of which one is required, is of use.
type Options struct {
	// Rule is what each client may do. An AtOnce rule limits requests in progress: each counts as one, whatever its cost,
	// until it has been answered.
	Rule limiter.Rule

	// MoreRules hold for each client besides Rule, as so much a minute and so much a day: a request is charged its cost under
	// all of them, or under none if one refuses. The cost is the same under all; for limits on different things, as requests
	// and bytes, use New twice, or the limiter itself.
	MoreRules []limiter.Rule

	// MostClients is how many clients are told apart at once; 0 means 1,048,576. Clients whose limit is whole are forgotten, and
	// beyond that number newcomers share one budget: nobody gains by making up keys, and nobody can push others out.
	MostClients int

	// Budget, if not nil, returns the budget of a client in place of one made under Rule, by a name that shows an address or a
	// hash. [limiter.Family.Budget] is such a function; so is one that asks a store that several servers share, which then need
	// the same HashKey.
	Budget func(client string) *limiter.Budget

	// MoreBudgets are to Budget what MoreRules are to Rule. All must return different budgets of one limiter: two families of
	// it will do.
	MoreBudgets []func(client string) *limiter.Budget

	// TrustedProxies are the addresses of the proxies in front of this server. Only what they say in X-Forwarded-For is
	// believed: the client is the last address in it that is not theirs. Without any, the header is not read.
	TrustedProxies []netip.Prefix

	// KnownKey reports whether an X-API-Key is one of this server's. Others do not count, and the client goes by its address.
	// If it is nil, every key is taken for a client of its own: right only behind something that has checked it, or else
	// whoever makes up a new key for each request is never refused.
	KnownKey func(key string) bool

	// HashKey is the secret under which keys are hashed before they are used as names, at least 16 bytes. If it is nil, New makes
	// a random one.
	HashKey []byte

	// Cost is what a request costs; nil means 1. A request of cost 0 always passes. It must leave the body to be read by
	// the handler. If it panics or returns less than 0, the request is answered with 500 and charged nothing.
	Cost func(*http.Request) int64

	// FailOpen lets requests pass, uncounted, while budgets cannot be asked. Otherwise they are answered with 503. In memory
	// neither ever happens.
	FailOpen bool

	// Observe, if not nil, is told about every request before it is passed on or refused, for metrics and logs.
	Observe func(*http.Request, Outcome)
}

// Outcome is what became of one request. Nothing in it is secret.
type Outcome struct {
	Client   Client           // how the client was told from others
	Cost     int64            // of the request
	Decision limiter.Decision // says nothing if there is an Err; Refused is 0 for Rule or Budget, 1 for the first of more
	State    limiter.State    // of the budget that refused, or else the tightest; says nothing if there is an Err
	Status   int              // with which the request was refused, 0 if it was passed on
	Err      error            // why there was no decision
}

// New returns middleware that lets requests through as long as their clients' limits allow it. It panics on options that make
// no sense. Each call keeps books of its own; to use one limit on several routes, use what it returns several times.
func New(o Options) func(http.Handler) http.Handler {
	g := &gate{cost: o.Cost, budgets: budgetsOf(o), own: o.Budget == nil, failOpen: o.FailOpen, observe: o.Observe, clients: newClients(o)}
	return func(next http.Handler) http.Handler {
		return g.clients.findAddress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.serve(w, r, next)
		}))
	}
}

// gate is what one call of New made.
type gate struct {
	clients  clients
	cost     func(*http.Request) int64
	budgets  []func(client string) *limiter.Budget
	own      bool // nobody else charges the budgets
	failOpen bool
	observe  func(*http.Request, Outcome)
}

func (g *gate) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	var seen Outcome
	charges, err := g.charges(r, &seen)
	if err != nil {
		g.refuse(w, r, &seen, unknownCost())
		return
	}
	end, err := take(r.Context(), charges, &seen)
	switch {
	case errors.Is(err, limiter.ErrMisuse):
		seen.Err = fmt.Errorf("charge a client: %w", err)
		g.refuse(w, r, &seen, unknownCost())
		return
	case err != nil:
		seen.Err = fmt.Errorf("ask for a client's budget: %w", err)
		if !g.failOpen {
			g.refuse(w, r, &seen, cannotAsk())
			return
		}
	case !seen.Decision.OK:
		writeState(w.Header(), seen.State)
		g.refuse(w, r, &seen, g.overLimit(r, seen, charges[seen.Decision.Refused].Budget.Rule()))
		return
	default:
		writeState(w.Header(), seen.State)
	}
	defer end() // also if the handler panics
	g.tell(r, seen)
	next.ServeHTTP(w, r)
}

func (g *gate) tell(r *http.Request, seen Outcome) {
	if g.observe != nil {
		g.observe(r, seen)
	}
}
