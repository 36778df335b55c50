package proxy

import (
	"context"
	"fmt"

	"github.com/tokenfare/tokenfare/limiter"
)

// BudgetState is what one budget of a policy has counted.
type BudgetState struct {
	Name   string // of its counter, as the ledger has it
	Owner  string // "key alice", "group research", "upstream openai"
	Limit  string // its sentence
	Unit   string // "tokens", "requests", "dollars" (in nano-dollars) …
	Kind   string // "per", "in any", "each", "in total", "at once"
	Raised string // what raises it now, "raised by $20 until 2027-01-31"; empty: nothing does
	State  limiter.State

	Revised bool // its rule is not the one it was made with: what refills went by another for a while
}

// Budgets tells the state of every budget of a policy, in the order of the configuration. The policy's limiter must be l.
func (p *Policy) Budgets(ctx context.Context, l limiter.Limiter) ([]BudgetState, error) {
	list := make([]BudgetState, 0, len(p.budgets))
	for _, b := range p.budgets {
		charge := []limiter.Charge{{Budget: b.handle}}
		if _, err := l.Peek(ctx, charge); err != nil {
			return nil, fmt.Errorf("read %s: %w", b, err)
		}
		list = append(list, BudgetState{
			Name: b.entry.Name, Owner: b.owner.String(), Limit: b.limit.Text, Unit: b.limit.Unit.String(), Kind: b.limit.Kind.String(),
			Raised: b.raisedBy(""), State: b.asLimited(charge[0].State), Revised: b.handle.Generation() > 1,
		})
	}
	return list, nil
}

// Budgets tells the state of every budget of the policy in force.
func (s *Server) Budgets(ctx context.Context) ([]BudgetState, error) {
	return s.current().Budgets(ctx, s.options.Limiter)
}
