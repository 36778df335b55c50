package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// entry is what the ledger is told of an exchange. Without a ledger it stays empty.
type entry struct {
	ticket ledger.Ticket
	begun  bool // there is a begin row, so there must be an end row
}

// mayRecord refuses to begin what could not be recorded.
func (s *Server) mayRecord() error {
	if s.options.Ledger == nil {
		return nil
	}
	if err := s.options.Ledger.Admit(); err != nil {
		return nothingRecorded()
	}
	return nil
}

func nothingRecorded() *wire.Error {
	return ledgerUnavailable("so it serves none. Nothing is charged for this one.")
}

func ledgerUnavailable(then string) *wire.Error {
	return &wire.Error{
		Status: http.StatusServiceUnavailable, Type: "server_error", Code: "ledger_unavailable",
		Message: "This proxy cannot record what calls cost at the moment, " + then +
			" Please try again in a moment; the operator of this proxy finds the cause in its log.",
	}
}

// record queues the begin row. The group commit runs while the upstream works.
func (x *exchange) record(r *http.Request) {
	w := x.server.options.Ledger
	if w == nil {
		return
	}
	retry, err := strconv.ParseUint(r.Header.Get("X-Stainless-Retry-Count"), 10, 8)
	if err != nil {
		retry = 0 // what is no small number is none
	}
	x.entry.ticket = w.Begin(&ledger.Begin{
		Exchange: x.id,
		Series:   ledger.Series{Key: x.caller.name, Groups: x.caller.groups, Endpoint: string(x.endpoint), Upstream: x.route.upstream.Name},
		Model:    x.model, Label: x.label, Retry: int(retry), Stream: x.stream, Estimate: x.estimate,
		Most:     x.usage(chargeReserved, wire.Report{}),
		Reserved: x.facts.Price.Ceiling(x.bound(x.estimate.MaxOutput)),
		Price:    x.policy.priceVersion(x, w),
		Charges:  x.charges(nil, nil),
	})
	x.entry.begun = !x.entry.ticket.Lost()
}

// charges says for the ledger what the exchange takes from each budget: what it has reserved, or what it was settled at. What
// counts calls at once is not spent.
func (x *exchange) charges(settled, observed []int64) []ledger.Charge {
	list := make([]ledger.Charge, 0, len(x.draws.budgets)+len(x.observed.budgets))
	for i, b := range x.draws.budgets {
		c := ledger.Charge{Budget: b.entry, N: x.draws.first(i)}
		if settled != nil {
			c.N, c.Late = min(settled[i], c.N), max(0, settled[i]-c.N)
		}
		if b.counts() && !b.atOnce() && c.N+c.Late > 0 {
			list = append(list, c)
		}
	}
	for i, b := range x.observed.budgets {
		c := ledger.Charge{Budget: b.entry, Late: x.observed.charges[i].N}
		if settled != nil || observed != nil {
			c.Late = 0
			if observed != nil {
				c.Late = observed[i]
			}
		}
		if b.counts() && !b.atOnce() && c.Late > 0 {
			list = append(list, c)
		}
	}
	return list
}

// recorded returns when the begin row is durable: nothing of an answer may leave before. Once the exchange has ended, so is what
// is stored of the answer.
func (x *exchange) recorded(ctx context.Context) error {
	if !x.entry.begun {
		return nil
	}
	err := x.entry.ticket.Wait(ctx)
	if err == nil {
		err = x.owned.Wait(ctx)
	}
	if errors.Is(err, ledger.ErrUnavailable) {
		return ledgerUnavailable("so the answer to this one cannot be passed on. What the upstream did for it is charged.")
	}
	return err
}

// recordEnd queues the end row.
func (x *exchange) recordEnd(settled, observed []int64) {
	if !x.entry.begun {
		return
	}
	now := time.Now()
	end := &ledger.End{
		Exchange: x.id, Status: x.status, Ending: x.outcome.ending, Basis: x.outcome.basis.String(),
		Usage: x.outcome.usage, Cost: x.outcome.cost, Took: now.Sub(x.began), UpstreamID: x.upstreamID,
		Charges: x.charges(settled, observed),
	}
	if served := x.outcome.served; served != x.model && served != x.route.upstreamName(x.model) {
		end.Served = served
	}
	switch {
	case !x.rec.firstByte.IsZero():
		end.FirstToken = x.rec.firstByte.Sub(x.began)
	case x.answer != nil && x.outcome.ending == "complete": // read ahead, and about to be passed on
		end.FirstToken = end.Took
	}
	x.server.options.Ledger.End(end)
}

// longestLabel is how many characters a label may have.
const longestLabel = 64

// readLabel reads what the caller calls this request. It is for the ledger alone.
func (x *exchange) readLabel(h http.Header) error {
	label := h.Get("X-Tokenfare-Label")
	if !utf8.ValidString(label) || utf8.RuneCountInString(label) > longestLabel || strings.ContainsFunc(label, unicode.IsControl) {
		return &wire.Error{
			Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "invalid_label", Param: "X-Tokenfare-Label",
			Message: fmt.Sprintf("The header X-Tokenfare-Label must be UTF-8 of at most %d characters, and none of them a control character. It is what usage is told apart by: a project, a task, a customer.", longestLabel),
		}
	}
	x.label = label
	return nil
}

// recordRefusal counts a request that a budget refused.
func (s *Server) recordRefusal(rec *record) {
	if x := rec.exchange; s.options.Ledger != nil && x != nil && x.refused != nil {
		s.options.Ledger.Refused(rec.key, x.model, rec.code)
	}
}
