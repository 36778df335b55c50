package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// What was told of periods that are over is forgotten, with and without a ledger: else it would grow for ever.
func TestPeriodsThatAreOverAreForgotten(t *testing.T) {
	r := record{}
	day := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1000 {
		for _, period := range []time.Time{day.AddDate(0, 0, i), {}} {
			q := proxy.Quota{Name: fmt.Sprint("budget ", i%3), Percent: 85, Ends: period}
			r.add(due{q, 80}, []int64{80})
		}
		r.forget(day.AddDate(0, 0, i))
	}
	if len(r) > 2+3 {
		t.Errorf("%d periods are remembered, want those of the last two days, and of three budgets without any", len(r))
	}
}

// A budget of a name that is longer than a ledger keeps is known again after a restart, by the name that the ledger gave it.
func TestALongNameIsKnownAgain(t *testing.T) {
	now := time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC)
	q := proxy.Quota{Name: "group " + strings.Repeat("long ", 100) + ": dollars each month", Percent: 85, Ends: now.AddDate(0, 0, 10)}
	var kept []ledger.Notice
	for _, n := range (record{}).add(due{q, 80}, []int64{80}) {
		n.Budget = ledger.BudgetName(n.Budget) // as the ledger's writer does
		kept = append(kept, n)
	}
	again := record{}
	again.learn(kept, now)
	if list := again.due([]proxy.Quota{q}, []int64{80}); len(kept) != 1 || len(list) != 0 {
		t.Errorf("%d notices were kept, and after a restart %d are due again", len(kept), len(list))
	}
}
