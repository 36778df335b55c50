package proxy

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// exchange is the value that walks: one call, from its key to its settlement. Each step fills in its own fields. All of it
// belongs to the goroutine that serves the call, except what sent and transfer guard themselves.
type exchange struct {
	server *Server
	policy *Policy // the one it began with, whatever is loaded meanwhile
	caller *caller
	began  time.Time
	sdk    string // X-Stainless-Lang: which official SDK asks, if one does

	// admit
	model    string // as the caller named it
	route    *route
	facts    cost.Model
	estimate cost.Estimate
	inserts  bool  // the caller set no output limit and a budget needs one
	inserted int64 // the limit spliced in for each choice
	stream   bool
	withhold bool  // we asked for the usage chunk, the caller did not
	choices  int64 // at least 1
	body     *heldBody
	draws    draws
	observed draws // of limits that only watch
	held     *limiter.Reservation

	// forward
	cancel  context.CancelCauseFunc
	sent    sentState
	failure error // what the client is to be told instead of an answer
	status  int   // of the upstream's answer; 0 until there is one
	answer  *wire.Answer
	cut     error // why the answer broke off, if it did

	// settle
	once    sync.Once
	outcome outcome
	refused *refusal
}

// draws are budgets and what a call takes from each. The two slices run side by side because the limiter wants the charges
// in one piece.
type draws struct {
	budgets []*budget
	charges []limiter.Charge
}

func (d *draws) add(b *budget) {
	d.budgets = append(d.budgets, b)
	d.charges = append(d.charges, limiter.Charge{Budget: b.handle})
}

// size sets every charge to what a call of that size may cost.
func (d *draws) size(input, output int64, price cost.Price) {
	for i, b := range d.budgets {
		d.charges[i].N = b.reserve(input, output, price)
	}
}

// amounts returns what the usage costs each budget.
func (d *draws) amounts(u cost.Usage, price cost.Price) []int64 {
	out := make([]int64, len(d.budgets))
	for i, b := range d.budgets {
		out[i] = b.charge(u, price)
	}
	return out
}

// begin starts an exchange for a request whose caller is known.
func (s *Server) begin(r *http.Request) *exchange {
	id := identityOf(r)
	x := &exchange{server: s, policy: id.policy, caller: id.caller, began: time.Now(), sdk: r.Header.Get("X-Stainless-Lang"), choices: 1}
	recordOf(r).exchange = x
	return x
}

// keepReserved raises every amount to at least what was reserved.
func (d *draws) keepReserved(amounts []int64) {
	for i := range amounts {
		amounts[i] = max(amounts[i], d.charges[i].N)
	}
}

// counted are the charges that have a counter.
func (d *draws) counted() []limiter.Charge {
	var out []limiter.Charge
	for i, b := range d.budgets {
		if b.handle != nil {
			out = append(out, d.charges[i])
		}
	}
	return out
}

// refreshStates reads the budgets anew, for headers written after the settlement. A limiter that cannot answer leaves them as
// they were.
func (x *exchange) refreshStates() {
	if len(x.draws.charges) == 0 {
		return
	}
	fresh := slices.Clone(x.draws.charges)
	for i := range fresh {
		fresh[i].N = 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	if _, err := x.server.options.Limiter.Peek(ctx, fresh); err == nil {
		x.draws.charges = fresh
	}
}
