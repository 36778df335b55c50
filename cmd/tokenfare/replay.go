package main

import (
	"context"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// replay tells what the budgets of a configuration have counted, by a ledger alone: as they would be if the proxy were started now.
// Calls that run count as reserved.
func (c *Config) replay(ctx context.Context, s ledger.Snapshot) ([]proxy.BudgetState, error) {
	return c.replayDated(ctx, s, proxy.Safe)
}

// replayDated is replay with dates of what refills that are to be compared with.
func (c *Config) replayDated(ctx context.Context, s ledger.Snapshot, dates proxy.Dates) ([]proxy.BudgetState, error) {
	spec, _, err := c.compile()
	if err != nil {
		return nil, err
	}
	catalog, err := c.priceList()
	if err != nil {
		return nil, err
	}
	memory := limiter.NewMemory()
	policy, err := proxy.NewPolicy(spec, memory, catalog)
	if err != nil {
		return nil, err
	}
	if _, err := proxy.NewRestorer(memory).Dating(dates).Restore(ctx, policy, s); err != nil {
		return nil, err
	}
	return policy.Budgets(ctx, memory)
}
