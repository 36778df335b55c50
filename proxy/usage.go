package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// usageAnswer is what a caller has left. Every member is always there; null is what has no meaning for a budget.
type usageAnswer struct {
	Object  string        `json:"object"` // "tokenfare.usage"
	Key     string        `json:"key"`
	Budgets []budgetUsage `json:"budgets"` // the key's own, then those of its groups; never null
}

// budgetUsage is one budget, of which a group's is everybody's together.
type budgetUsage struct {
	Owner    string   `json:"owner"` // "key alice", "group research"
	Limit    string   `json:"limit"` // the sentence as it was written; what raises it leaves it alone
	Unit     string   `json:"unit"`
	Kind     string   `json:"kind"`     // the words of the grammar: "per", "in any", "each", "per request", "in total", "at once"
	Models   []string `json:"models"`   // globs; empty for all
	Observed bool     `json:"observed"` // it is only counted

	// Unless the budget is in debt, what is used, held and remaining add up to the limit's amount.
	Amount    figure  `json:"limit_amount"` // the burst, where there is one; raised by what holds
	Used      *figure `json:"used"`         // settled; of calls at once, those that run
	Held      *figure `json:"held"`         // of running calls, to be settled when they end
	Remaining *figure `json:"remaining"`

	ResetsAt *string `json:"resets_at"`         // RFC 3339: the turn of the period, or when all of it has refilled if nobody spends
	ResetsIn *int64  `json:"resets_in_seconds"` // the same, rounded up

	RaisedBy []raise `json:"raised_by"` // never null
	Until    *string `json:"until"`     // when the limit ends
}

// raise is an extra that holds.
type raise struct {
	Amount figure `json:"amount"`
	Until  string `json:"until"`
}

// figure is an amount in the unit of a budget: dollars are decimals in a string, "12.50", exact to the last digit, and
// everything else is a whole number.
type figure struct {
	unit limit.Unit
	n    int64
}

// MarshalJSON implements json.Marshaler.
func (f figure) MarshalJSON() ([]byte, error) {
	if f.unit == limit.Dollars {
		return json.Marshal(strings.Replace(cost.NanoUSD(f.n).String(), "$", "", 1))
	}
	return json.Marshal(f.n)
}

// usage answers a caller what is left of its budgets. It costs nothing. Of a group it shows what all of its keys have left
// together, and nothing of any other key.
func (s *Server) usage(w http.ResponseWriter, r *http.Request) error {
	x := s.begin("", r)
	x.writeBudgets(r.Context(), w.Header())
	list, err := x.left(r.Context())
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(usageAnswer{Object: "tokenfare.usage", Key: x.caller.name, Budgets: list}, "", "  ")
	if err != nil {
		return fmt.Errorf("write usage: %w", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return writeJSON(w, append(body, '\n'))
}

// left reads all the budgets of the caller in one look, so that they fit together.
func (x *exchange) left(ctx context.Context) ([]budgetUsage, error) {
	var all draws // with those that have no counter
	var charges []limiter.Charge
	for _, b := range x.caller.budgets {
		if b.expired(x.began) {
			continue
		}
		all.budgets = append(all.budgets, b)
		if b.counts() {
			charges = append(charges, limiter.Charge{Budget: b.handle})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	now := x.server.wall()
	if _, err := x.server.options.Limiter.Peek(ctx, charges); err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	list := make([]budgetUsage, len(all.budgets))
	for i, b := range all.budgets {
		list[i] = b.usage(x.policy.zone)
		if b.counts() {
			list[i].fill(b, charges[0].State, now.In(x.policy.zone))
			charges = charges[1:]
		}
	}
	return list, nil
}

// usage is what there is to say of a budget without looking at its counter.
func (b *budget) usage(zone *time.Location) budgetUsage {
	u := budgetUsage{
		Owner: b.owner.String(), Limit: b.limit.Text, Unit: b.limit.Unit.String(), Kind: b.limit.Kind.String(),
		Models: append([]string{}, b.limit.Models...), Observed: b.limit.Observe, Amount: figure{b.limit.Unit, b.limit.Capacity()}, RaisedBy: []raise{},
	}
	if !b.limit.Until.IsZero() {
		u.Until = new(rfc3339(b.limit.Until.In(zone)))
	}
	if b.extra != nil {
		for _, e := range b.extra.holding {
			u.RaisedBy = append(u.RaisedBy, raise{figure{e.Unit, e.Amount}, rfc3339(e.Until.In(zone))})
		}
	}
	return u
}

// fill adds the state of the counter.
func (u *budgetUsage) fill(b *budget, s limiter.State, now time.Time) {
	s = b.asLimited(s)
	if b.atOnce() {
		s.Used, s.Held = s.Held, 0
	}
	u.Used, u.Held, u.Remaining = &figure{b.limit.Unit, s.Used}, &figure{b.limit.Unit, s.Held}, &figure{b.limit.Unit, s.Remaining}
	const up = time.Second - 1 // rounds up
	if b.limit.Kind == limit.InTotal || b.atOnce() || s.ResetAfter > limiter.Never-up {
		return
	}
	wait := s.ResetAfter + up
	u.ResetsAt, u.ResetsIn = new(rfc3339(now.Add(wait).Truncate(time.Second))), new(int64(wait/time.Second))
}

func rfc3339(t time.Time) string { return t.Format(time.RFC3339) }
