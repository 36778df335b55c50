package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// liveReport is what comparing a running proxy's budgets with the ledger has found.
type liveReport struct {
	Proxy   string       `json:"proxy,omitempty"`   // its address
	Skipped string       `json:"skipped,omitempty"` // why nothing was compared; empty: it was
	Budgets []liveBudget `json:"budgets,omitempty"`
	Others  []string     `json:"others,omitempty"` // budgets that only one of the two has: the proxy runs another configuration
}

// liveBudget is one budget that time does not refill bit by bit.
type liveBudget struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Live   int64  `json:"live"`   // used and held, as the proxy says
	Ledger int64  `json:"ledger"` // as it would be after a restart
	Open   int64  `json:"open"`   // the most that calls which run now may make the two differ by
	State  string `json:"state"`  // one of the constants
}

// How a budget compares.
const (
	liveEqual   = "equal"
	liveWithin  = "within what is open"
	liveOthers  = "others have spent" // several proxies may share a ledger in Postgres, and each counts on by itself
	liveDiffers = "differs"
)

// right reports whether nothing is to be explained.
func (b liveBudget) right() bool { return b.State == liveEqual || b.State == liveWithin }

func (r *liveReport) differs() bool {
	return slices.ContainsFunc(r.Budgets, func(b liveBudget) bool { return b.State == liveDiffers })
}

// A proxy that is busy is looked at several times: a row is written a moment after what it says has happened.
const (
	liveTries = 6
	livePause = 250 * time.Millisecond
)

// compareLive compares the budgets of a running proxy with what the ledger makes of them.
func compareLive(ctx context.Context, c *Config, store ledger.Store, proxy adminClient) (liveReport, error) {
	report := liveReport{Proxy: proxy.base}
	done := map[string]liveBudget{}
	var order []string
	for try := range liveTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return report, ctx.Err()
			case <-time.After(livePause):
			}
		}
		look, err := lookAtLive(ctx, c, store, proxy)
		if err != nil {
			return report, err
		}
		again := false
		order, report.Others = look.order, look.others
		for _, b := range look.budgets {
			if was, seen := done[b.Name]; seen && was.right() {
				continue
			}
			done[b.Name] = b
			again = again || !b.right()
		}
		if !again && len(report.Others) == 0 {
			break
		}
	}
	for _, name := range order {
		report.Budgets = append(report.Budgets, done[name])
	}
	return report, nil
}

// liveLook is what one look has shown.
type liveLook struct {
	budgets []liveBudget
	order   []string // of those
	others  []string
}

// lookAtLive asks for the budgets just before and just after the instant of a snapshot, from which they are rebuilt.
func lookAtLive(ctx context.Context, c *Config, store ledger.Store, admin adminClient) (*liveLook, error) {
	var before, after budgetStates
	if err := admin.ask(ctx, http.MethodGet, "/budgets", nil, &before); err != nil {
		return nil, err
	}
	s, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := admin.ask(ctx, http.MethodGet, "/budgets", nil, &after); err != nil {
		return nil, err
	}
	states, err := c.replay(ctx, s)
	if err != nil {
		return nil, err
	}
	rebuilt := budgetStatesOf(states)
	open, err := openCharges(ctx, s)
	if err != nil {
		return nil, err
	}
	look := &liveLook{}
	named := func(list []budgetState) map[string]budgetState {
		out := map[string]budgetState{}
		for _, b := range list {
			if b.lasts() {
				out[b.Name] = b
			}
		}
		return out
	}
	ledgers, later := named(rebuilt.Budgets), named(after.Budgets)
	for _, first := range before.Budgets {
		second, live := later[first.Name]
		replay, known := ledgers[first.Name]
		switch {
		case !first.lasts() || !live:
			continue
		case !known:
			look.others = append(look.others, first.Name)
			continue
		}
		delete(ledgers, first.Name)
		look.order = append(look.order, first.Name)
		one := compareBudget(first, second, replay, open[first.Name])
		if one.State == liveDiffers && one.Ledger > one.Live && isPostgres(c.Ledger.URL) {
			one.State = liveOthers
		}
		look.budgets = append(look.budgets, one)
	}
	for _, b := range rebuilt.Budgets {
		if _, missed := ledgers[b.Name]; missed && b.lasts() {
			look.others = append(look.others, b.Name)
		}
	}
	return look, nil
}

// lasts reports whether a budget is forgotten by nothing but the turn of its period.
func (b budgetState) lasts() bool { return b.Kind == "each" || b.Kind == "in total" }

// compareBudget compares what a budget counted before and after with what the ledger makes of it in between. Calls that run
// are held live and reserved in the ledger, but not at the same instant; those of a budget that only observes are in the
// ledger alone.
func compareBudget(before, after, replay budgetState, open int64) liveBudget {
	first, second, rebuilt := before.Used+before.Held, after.Used+after.Held, replay.Used+replay.Held
	b := liveBudget{
		Name: before.Name, Unit: before.Unit, Live: second, Ledger: rebuilt, Open: max(before.Held, after.Held, open), State: liveDiffers,
	}
	switch {
	case rebuilt == first || rebuilt == second:
		b.State = liveEqual
		b.Live = rebuilt
	case rebuilt >= min(first, second)-b.Open && rebuilt <= max(first, second)+b.Open:
		b.State = liveWithin
	}
	return b
}

// openCharges is what calls that have not ended reserve of each budget.
func openCharges(ctx context.Context, s ledger.Snapshot) (map[string]int64, error) {
	open, err := s.Unfinished(ctx)
	if err != nil {
		return nil, fmt.Errorf("read calls that run: %w", err)
	}
	sums := map[string]int64{}
	for i := range open {
		for _, c := range open[i].Crash().Charges {
			sums[c.Budget.Name] += c.N + c.Late
		}
	}
	return sums, nil
}
