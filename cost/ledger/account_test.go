package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

var accountUnits = []string{"dollars", "tokens", "input tokens", "uncached input tokens", "output tokens", "requests"}

func drawUsage(t *rapid.T) cost.Usage {
	n := rapid.Int64Range(0, 1000)
	u := cost.Usage{Input: n.Draw(t, "input"), Output: n.Draw(t, "output"), Images: n.Draw(t, "images"), Fees: cost.NanoUSD(n.Draw(t, "fees"))}
	u.CachedInput = rapid.Int64Range(0, u.Input).Draw(t, "cached")
	u.Reasoning = rapid.Int64Range(0, u.Output).Draw(t, "reasoning")
	return u
}

func drawAccount(t *rapid.T) ledger.Account {
	if rapid.IntRange(0, 4).Draw(t, "nothing") == 0 {
		return ledger.Account{Basis: ledger.Nothing}
	}
	return ledger.Account{
		Basis: rapid.SampledFrom([]string{ledger.Reported, ledger.Counted, ledger.Unreported, ledger.Distrusted}).Draw(t, "basis"),
		Usage: drawUsage(t), Cost: cost.NanoUSD(rapid.Int64Range(0, 1<<40).Draw(t, "cost")),
	}
}

// charges are what the budgets are charged that come to anything.
func charges(a ledger.Account) map[string]int64 {
	out := map[string]int64{}
	for _, unit := range accountUnits {
		if n, _ := a.Figure(unit); n != 0 {
			out[unit] = n
		}
	}
	return out
}

// TestCorrectionsLeadWhereTheyShould: whatever an exchange was charged, and however often it was corrected, the next correction
// makes its account what it is to be, in every unit, and none is made where nothing changes.
func TestCorrectionsLeadWhereTheyShould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := drawUsage(t)
		most.Input, most.Output = most.Input+1, most.Output+1
		x := ledger.Exchange{Begin: ledger.Begin{
			Exchange: 77 << 10, Series: ledger.Series{Key: "alice", Endpoint: "chat"}, Model: "m", Label: "l", Most: most, Reserved: 5,
		}}
		whole := ledger.Account{Basis: ledger.Unreported, Usage: most, Cost: 5}
		for _, unit := range accountUnits {
			n, _ := whole.Figure(unit)
			x.Begin.Charges = append(x.Begin.Charges, ledger.Charge{Budget: ledger.Budget{Name: unit, Unit: unit}, N: max(1, n)})
		}
		ended := drawAccount(t)
		ended.Usage.Tier = cost.Flex
		x.End = &ledger.End{Exchange: x.Begin.Exchange, Seq: 78 << 10, Served: "s", Basis: ended.Basis, Usage: ended.Usage, Cost: ended.Cost}
		for unit, n := range charges(ended) {
			late := rapid.Int64Range(0, n).Draw(t, "late")
			x.End.Charges = append(x.End.Charges, ledger.Charge{Budget: ledger.Budget{Name: unit, Unit: unit}, N: n - late, Late: late})
		}
		var made []ledger.Correction
		for range rapid.IntRange(1, 4).Draw(t, "corrections") {
			to := drawAccount(t)
			was := x.Account(made)
			c, err := x.Correct(made, to, "because")
			if err != nil {
				t.Fatal(err)
			}
			if c != nil {
				if c.Was != was.Basis || c.Series != x.Begin.Series || c.Model != "m" || c.Served != "s" || c.Label != "l" || c.Reason != "because" || c.Usage.Tier != 0 {
					t.Fatalf("%+v", c)
				}
				made = append(made, *c)
			}
			is := x.Account(made)
			got := map[string]int64{}
			for _, charge := range is.Charges {
				if charge.N+charge.Late != 0 {
					got[charge.Budget.Name] = charge.N + charge.Late
				}
			}
			if diff := cmp.Diff(charges(to), got); diff != "" {
				t.Fatalf("charges (want, got):\n%s", diff)
			}
			to.Usage.Tier, is.Charges = cost.Flex, nil
			if diff := cmp.Diff(to, is); diff != "" {
				t.Fatalf("account (want, got):\n%s", diff)
			}
			if again, err := x.Correct(made, to, "again"); again != nil || err != nil {
				t.Fatalf("what is charged so already is corrected: %+v, %v", again, err)
			}
		}
	})
}

func TestWhatCannotBeCorrected(t *testing.T) {
	x := ledger.Exchange{Begin: ledger.Begin{Exchange: 77 << 10, Charges: []ledger.Charge{{Budget: ledger.Budget{Name: "b", Unit: "songs"}, N: 1}}}}
	if _, err := x.Correct(nil, ledger.Account{Basis: ledger.Nothing}, "r"); !errors.Is(err, ledger.ErrNotEnded) {
		t.Errorf("of one that has not ended: %v", err)
	}
	x.End = &ledger.End{Exchange: 77 << 10, Basis: ledger.Reported, Usage: cost.Usage{Input: 1}}
	if _, err := x.Correct(nil, ledger.Account{Basis: ledger.Reported, Usage: cost.Usage{Input: 2}}, "r"); err == nil || !strings.Contains(err.Error(), "songs") {
		t.Errorf("in a unit that is not known: %v", err)
	}
}
