package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// liveReport is what comparing a running proxy's budgets with the ledger has found.
type liveReport struct {
	Proxy   string       `json:"proxy,omitempty"`   // its address
	Skipped string       `json:"skipped,omitempty"` // why nothing was compared; empty: it was
	Budgets []liveBudget `json:"budgets,omitempty"`
	Others  []string     `json:"others,omitempty"` // budgets that only one of the two has: the proxy runs another configuration
}

// liveBudget is one budget that counts what is spent; those of calls at once count only what runs.
type liveBudget struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Kind   string `json:"kind"`
	Live   int64  `json:"live"`   // used and held, as the proxy says
	Ledger int64  `json:"ledger"` // as it would be after a restart
	Open   int64  `json:"open"`   // the most that calls which run now may make the two differ by
	State  string `json:"state"`  // one of the constants
}

// How a budget compares.
const (
	liveEqual   = "equal"
	liveWithin  = "within what is open"
	liveOthers  = "others have spent" // several proxies share the ledger, and each counts on by itself
	liveRevised = "limit changed"     // by a reload: what refills went by the old limit for a while, and is not compared
	liveDiffers = "differs"
)

// right reports whether nothing is to be explained.
func (b liveBudget) right() bool {
	return b.State == liveEqual || b.State == liveWithin || b.State == liveRevised
}

func (r *liveReport) differs() bool {
	return slices.ContainsFunc(r.Budgets, func(b liveBudget) bool { return b.State == liveDiffers })
}

// A proxy that is busy is looked at several times: a row is written a moment after what it says has happened.
const (
	liveTries = 6
	livePause = 250 * time.Millisecond
)

// compareLive compares the budgets of a running proxy with what the ledger makes of them.
func compareLive(ctx context.Context, c *Config, store ledger.Store, admin adminClient) (liveReport, error) {
	report := liveReport{Proxy: admin.base}
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
		look, err := lookAtLive(ctx, c, store, admin)
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

// lookAtLive asks for the budgets just before and just after the instant of a snapshot, from which they are rebuilt, and again
// after that: what refills goes on meanwhile.
func lookAtLive(ctx context.Context, c *Config, store ledger.Store, admin adminClient) (*liveLook, error) {
	var looks [3]budgetStates
	if err := admin.ask(ctx, http.MethodGet, "/budgets", nil, &looks[0]); err != nil {
		return nil, err
	}
	s, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := admin.ask(ctx, http.MethodGet, "/budgets", nil, &looks[1]); err != nil {
		return nil, err
	}
	var replays [3]map[string]budgetState
	var rebuilt []budgetState
	for i, dates := range []proxy.Dates{proxy.Safe, proxy.Earliest, proxy.Latest} {
		states, err := c.replayDated(ctx, s, dates)
		if err != nil {
			return nil, err
		}
		list := budgetStatesOf(states).Budgets
		if dates == proxy.Safe {
			rebuilt = list
		}
		replays[i] = byName(list)
	}
	if err := admin.ask(ctx, http.MethodGet, "/budgets", nil, &looks[2]); err != nil {
		return nil, err
	}
	open, err := openCharges(ctx, s)
	if err != nil {
		return nil, err
	}
	others, err := othersWrite(ctx, s, looks[2].Ledger)
	if err != nil {
		return nil, err
	}
	look := &liveLook{}
	second, third := byName(looks[1].Budgets), byName(looks[2].Budgets)
	for _, first := range looks[0].Budgets {
		name := first.Name
		_, live := second[name]
		_, still := third[name]
		replay, known := replays[0][name]
		switch {
		case !first.spends() || !live || !still:
			continue
		case !known:
			look.others = append(look.others, name)
			continue
		}
		delete(replays[0], name)
		look.order = append(look.order, name)
		var one liveBudget
		if first.lasts() {
			one = compareBudget(first, second[name], replay, open[name])
		} else {
			one = compareRefilling([]budgetState{first, second[name], third[name]}, replay, replays[1][name], replays[2][name], open[name])
		}
		if one.State == liveDiffers && one.Ledger > one.Live && others {
			one.State = liveOthers
		}
		look.budgets = append(look.budgets, one)
	}
	for _, b := range rebuilt {
		if _, missed := replays[0][b.Name]; missed {
			look.others = append(look.others, b.Name)
		}
	}
	return look, nil
}

// byName has the budgets that are compared.
func byName(list []budgetState) map[string]budgetState {
	out := map[string]budgetState{}
	for _, b := range list {
		if b.spends() {
			out[b.Name] = b
		}
	}
	return out
}

// othersWrite reports whether a writer was alive, since the proxy has counted what was in the ledger, that is not the proxy's own.
func othersWrite(ctx context.Context, s ledger.Snapshot, own *ledgerWriter) (bool, error) {
	lives, err := s.Writers(ctx)
	if err != nil {
		return false, fmt.Errorf("read who writes to the ledger: %w", err)
	}
	return slices.ContainsFunc(lives, func(l ledger.Life) bool {
		return own == nil && len(lives) > 1 || own != nil && l.Slot != own.Slot && l.Last.After(own.Since)
	}), nil
}

// spends reports whether a budget counts what is spent, rather than what runs.
func (b budgetState) spends() bool { return b.Kind != "at once" }

// lasts reports whether a budget is forgotten by nothing but the turn of its period.
func (b budgetState) lasts() bool { return b.Kind == "each" || b.Kind == "in total" }

func (b budgetState) counted() int64 { return b.Used + b.Held }

// compareBudget compares what a budget counted before and after with what the ledger makes of it in between. Calls that run
// are held live and reserved in the ledger, but not at the same instant; those of a budget that only observes are in the
// ledger alone.
func compareBudget(before, after, replay budgetState, open int64) liveBudget {
	first, second, rebuilt := before.counted(), after.counted(), replay.counted()
	b := liveBudget{
		Name: before.Name, Unit: before.Unit, Kind: before.Kind, Live: second, Ledger: rebuilt, Open: max(before.Held, after.Held, open), State: liveDiffers,
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

// compareRefilling compares a budget that time refills bit by bit. The ledger does not tell the very instants, so what it makes of
// the budget is between what the earliest and the latest come to, at an instant between the looks.
func compareRefilling(looks []budgetState, replay, earliest, latest budgetState, open int64) liveBudget {
	last := looks[len(looks)-1]
	b := liveBudget{
		Name: last.Name, Unit: last.Unit, Kind: last.Kind, Live: last.counted(), Ledger: replay.counted(), Open: open, State: liveDiffers,
	}
	least, most := last.counted(), last.counted()
	revised := false
	for _, look := range looks {
		least, most = min(least, look.counted()), max(most, look.counted())
		b.Open = max(b.Open, look.Held)
		revised = revised || look.Revised
	}
	switch low, high := earliest.counted(), latest.counted(); {
	case low <= most && high >= least:
		b.State = liveEqual
	case low <= most+b.Open && high >= least-b.Open:
		b.State = liveWithin
	case revised:
		b.State = liveRevised
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
