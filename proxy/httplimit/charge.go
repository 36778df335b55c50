package httplimit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// budgetsOf returns what finds the budgets of a client, in the order of the options. It panics on options that make no sense.
func budgetsOf(o Options) []func(client string) *limiter.Budget {
	switch {
	case o.Budget != nil && (o.Rule != nil || len(o.MoreRules) > 0):
		panic("BUG: httplimit: Options has both Rule and Budget; whoever makes the budgets gives them their rule")
	case o.Budget == nil && o.Rule == nil:
		panic("BUG: httplimit: Options needs a Rule, or Budget")
	case o.Budget == nil && len(o.MoreBudgets) > 0:
		panic("BUG: httplimit: Options has MoreBudgets, but no Budget they are besides")
	case o.Budget != nil:
		if i := slices.IndexFunc(o.MoreBudgets, func(f func(string) *limiter.Budget) bool { return f == nil }); i >= 0 {
			panic(fmt.Sprintf("BUG: httplimit: Options.MoreBudgets[%d] is nil", i))
		}
		return append([]func(string) *limiter.Budget{o.Budget}, o.MoreBudgets...)
	}
	memory := limiter.NewMemory()
	budgets := []func(string) *limiter.Budget{familyOf(memory, o, "Rule", o.Rule)}
	for i, rule := range o.MoreRules {
		budgets = append(budgets, familyOf(memory, o, fmt.Sprintf("MoreRules[%d]", i), rule))
	}
	return budgets
}

func familyOf(m *limiter.Memory, o Options, field string, rule limiter.Rule) func(client string) *limiter.Budget {
	if rule == nil {
		panic("BUG: httplimit: Options." + field + " is nil")
	}
	if err := rule.Validate(); err != nil {
		panic("BUG: httplimit: Options." + field + ": " + err.Error())
	}
	return m.Family(limiter.FamilyOptions{Rule: rule, Most: o.MostClients}).Budget
}

// charges is what the request costs whom.
func (g *gate) charges(r *http.Request, seen *Outcome) ([]limiter.Charge, error) {
	name, kind := g.clients.of(r)
	seen.Client = kind
	if seen.Cost, seen.Err = costOf(g.cost, r); seen.Err != nil {
		return nil, seen.Err
	}
	charges := make([]limiter.Charge, len(g.budgets))
	for i, budget := range g.budgets {
		charges[i] = limiter.Charge{Budget: budget(name), N: seen.Cost}
		if charges[i].Budget == nil || charges[i].Budget.Owner() == nil {
			seen.Err = errors.New("Options.Budget, or one of MoreBudgets, returned nil, or a budget that no limiter made")
			return nil, seen.Err
		}
		if inProgress(charges[i]) {
			charges[i].N = min(1, seen.Cost) // it is one request, whatever it costs
		}
	}
	return charges, nil
}

// take charges the client, all or none. It returns what is to be called when the request has been answered.
//
// If one of the charges is for being in progress, all are held until then, and the others are settled in full.
func take(ctx context.Context, charges []limiter.Charge, seen *Outcome) (end func(), err error) {
	end = func() {}
	if slices.ContainsFunc(charges, inProgress) {
		var held *limiter.Reservation
		held, seen.Decision, err = charges[0].Budget.Owner().Reserve(ctx, charges)
		end = func() {
			// What a store cannot be told about the end of a request, it has to find out by itself.
			held.Settle(context.WithoutCancel(ctx), amounts(charges)) //nolint:errcheck // see above
		}
	} else {
		seen.Decision, err = limiter.TryAcquire(ctx, charges[0].Budget.Owner(), charges)
	}
	switch {
	case err != nil:
	case seen.Decision.OK:
		seen.State = tightest(charges)
	default:
		seen.State = charges[seen.Decision.Refused].State
	}
	return end, err
}

func inProgress(c limiter.Charge) bool {
	_, ok := c.Budget.Rule().(limiter.AtOnce)
	return ok
}

func amounts(charges []limiter.Charge) []int64 {
	all := make([]int64, len(charges))
	for i, c := range charges {
		all[i] = c.N
	}
	return all
}

// tightest returns the state with the smallest share left, and of two with the same the one that has it back later.
func tightest(charges []limiter.Charge) limiter.State {
	share := func(s limiter.State) float64 { return float64(s.Remaining) / float64(s.Limit) } // only chooses what to show
	worst := charges[0].State
	for _, c := range charges[1:] {
		is, was := share(c.State), share(worst)
		if is < was || is == was && whole(c.State) > whole(worst) {
			worst = c.State
		}
	}
	return worst
}

// whole is the time until all of a budget is there again, the longest if time alone does not bring that.
func whole(s limiter.State) time.Duration {
	if s.ResetAfter == 0 && s.Remaining < s.Limit {
		return math.MaxInt64
	}
	return s.ResetAfter
}
