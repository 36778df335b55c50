package proxy

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// exchange is the value that walks: one call, from its key to its settlement. Each step fills in its own fields. All of it
// belongs to the goroutine that serves the call, except body, which guards itself.
type exchange struct {
	server *Server
	policy *Policy // the one it began with, whatever is loaded meanwhile
	caller *caller
	id     ledger.ID // of the request, in the log, in answers of our own, and in the ledger
	rec    *record
	began  time.Time
	label  string // the caller's own, for the ledger
	sdk    string // X-Stainless-Lang: which official SDK asks, if one does

	// admit
	endpoint wire.Endpoint
	media    string   // the type that the body is sent with
	model    string   // as the caller named it
	routes   []*route // where it may be sent, the first to be tried first
	stream   bool
	prompt   string // the member that holds the prompt
	least    int64  // output limit that the upstream takes; at least 1
	asked    bool   // the caller asked for the usage chunk
	limited  bool   // the caller set an output limit
	choices  int64  // at least 1
	discards bool   // more answers are made than are returned
	shortens bool   // the model may be shown less than there is
	body     *heldBody
	request  *wire.Request     // as it was read; nil once nobody else is to be asked
	length   int64             // bytes of the body as it was read
	digest   [sha256.Size]byte // of the body as it was read; zero until somebody wants it

	from     Connection // what it came in on; nil: it cannot tell when its client hangs up
	attempts int        // how many upstreams were asked
	short    *failure   // the refusal by an upstream's own limits that is over first; nil: there was none that will be
	attempt
}

// attempt is an exchange with one of the upstreams that serve the model. Another takes its place where that did not take the call.
type attempt struct {
	route      *route
	facts      cost.Model
	estimate   cost.Estimate
	mayRunLess bool     // the provider may run tools more than once, and the caller does not say how often
	partial    bool     // the prompt was not counted to its end, as no budget could hold it
	inserts    bool     // the caller set no output limit and a budget needs one, or one that is too large
	inserted   int64    // the limit spliced in for each choice
	refits     int      // how often a caller's limit was lowered in vain
	drawing    *drawing // how the answer is paid for as it comes; nil: it is reserved whole
	member     string   // that limits the output: the caller's, or the one that would be inserted; empty: there is none
	withhold   bool     // we asked for the usage chunk, the caller did not
	draws      draws
	drawn      bool  // draws is complete
	fresh      bool  // the states in draws are those of now
	observed   draws // of limits that only watch
	held       *limiter.Reservation
	watched    *limiter.Reservation // its place among the calls at once of limits that only watch
	stores     bool                 // the provider stores the answer, and it is recorded whose it is
	runs       bool                 // the provider may run code for it, and it is recorded whose the container is
	claimed    claimed
	adding     *addition  // to a conversation; nil: to none
	other      cost.Model // as which it is counted, too; zero: as none
	moreTold   int64      // tokens that the prompt has more as that
	moreSaid   int64      // tokens that the answer has more as that, as far as it was counted

	// forward
	cancel     context.CancelCauseFunc
	begun      bool   // it was handed on
	written    bool   // the upstream may have all of the request
	coded      bool   // the answer is compressed in a way that is not read here
	unreadable bool   // it is coded, or not framed as the stream it should be: nothing in it can be counted
	upstreamID string // the upstream's own request id
	status     int    // of the upstream's answer; 0 until there is one
	oversized  bool   // the upstream never has room for this call, as its 429 says
	answer     *wire.Answer
	made       *wire.Made // nil: nothing is stored of the answer
	idle       *idleBody  // what answer reads
	cut        error      // why the answer broke off, if it did

	// settle
	entry   entry
	owned   ledger.Ticket // of what was recorded last of what is stored; durable where there is nothing
	ended   bool
	outcome outcome
	refused *refusal
}

// draws are budgets and what a call takes from each. The two slices run side by side because the limiter wants the charges
// in one piece.
type draws struct {
	budgets []*budget
	charges []limiter.Charge
	late    []int64 // how much of each charge was drawn after the call had begun; nil: nothing
}

// grown makes room for n budgets.
func (d *draws) grown(n int) {
	d.budgets, d.charges = make([]*budget, 0, n), make([]limiter.Charge, 0, n)
}

func (d *draws) add(b *budget) {
	d.budgets = append(d.budgets, b)
	d.charges = append(d.charges, limiter.Charge{Budget: b.handle})
}

// grow adds what was drawn of a budget.
func (d *draws) grow(i int, n int64) {
	if d.late == nil {
		d.late = make([]int64, len(d.charges))
	}
	d.charges[i].N += n
	d.late[i] += n
}

// first is what the call took of a budget when it began.
func (d *draws) first(i int) int64 {
	if d.late == nil {
		return d.charges[i].N
	}
	return d.charges[i].N - d.late[i]
}

// size sets every charge to what a call within that bound may cost.
func (d *draws) size(most cost.Bound, price cost.Price) {
	for i, b := range d.budgets {
		d.charges[i].N = b.reserve(most, price)
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
func (s *Server) begin(e wire.Endpoint, r *http.Request) *exchange {
	id := identityOf(r)
	rec := recordOf(r)
	x := &exchange{
		server: s, endpoint: e, policy: id.policy, caller: id.caller, id: rec.id, rec: rec,
		began: rec.began, sdk: r.Header.Get("X-Stainless-Lang"), choices: 1,
	}
	rec.exchange = x
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
		if b.counts() {
			out = append(out, d.charges[i])
		}
	}
	return out
}

// states are the budgets this exchange draws on, with their states as the limiter last told them, or as they are now if it has
// not been asked since. A call that failed before its model was known is shown the caller's budgets that concern every model.
func (x *exchange) states(ctx context.Context) draws {
	if x.fresh {
		return x.draws
	}
	d := x.countedDraws()
	if !x.drawn {
		for _, b := range x.caller.budgets {
			if b.counts() && len(b.limit.Models) == 0 && !b.limit.Observe && !b.expired(x.began) {
				d.add(b)
			}
		}
	}
	ctx, cancel := x.server.bounded(context.WithoutCancel(ctx))
	defer cancel()
	if _, err := x.server.options.Limiter.Peek(ctx, d.charges); err != nil {
		return draws{} // headers that cannot be true are left out
	}
	return d
}
