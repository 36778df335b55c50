package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

func TestCorrectionsAreTakenOffWhatTheyCorrect(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 12, 1, 10, minute, 0, 0, time.UTC) }
	for name, c := range map[string]struct{ spends, want []limiter.Spend }{
		"none":               {[]limiter.Spend{{At: at(2), N: 5}, {At: at(1), N: 7}}, []limiter.Spend{{At: at(1), N: 7}, {At: at(2), N: 5}}},
		"the youngest":       {[]limiter.Spend{{At: at(1), N: 7}, {At: at(3), N: -4}, {At: at(3), N: 5}}, []limiter.Spend{{At: at(1), N: 7}, {At: at(3), N: 1}}},
		"before its charge":  {[]limiter.Spend{{At: at(3), N: -5}, {At: at(1), N: 7}, {At: at(3), N: 5}}, []limiter.Spend{{At: at(1), N: 7}}},
		"without its charge": {[]limiter.Spend{{At: at(3), N: -5}, {At: at(2), N: 4}, {At: at(4), N: 7}}, []limiter.Spend{{At: at(2), N: 4}, {At: at(4), N: 2}}},
		"beyond its charge":  {[]limiter.Spend{{At: at(3), N: -5}, {At: at(2), N: 4}, {At: at(3), N: 3}, {At: at(4), N: 1}}, []limiter.Spend{{At: at(2), N: 3}}},
		"more than there is": {[]limiter.Spend{{At: at(1), N: -9}, {At: at(1), N: 4}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := netted(c.spends)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a ledger keeps apart must reach back as far as the longest period a limit can have.
func TestSlotsReachBackAsFarAsLimits(t *testing.T) {
	now := time.Now()
	for _, sentence := range []string{"1000 tokens in any 366 days", "1000 tokens per 366 days, burst 1000", "$5 each quarter"} {
		l, err := limit.Parse(sentence, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := ruleOf(l, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		b := &budget{owner: keyOwner("alice"), limit: l, rule: rule, entry: ledger.Budget{Name: "budget"}}
		if back := now.Sub(b.history(now).Since); back > ledger.SlotsKept {
			t.Errorf("%q wants what was spent in the last %v, and slots are kept for %v", sentence, back, ledger.SlotsKept)
		}
	}
}
