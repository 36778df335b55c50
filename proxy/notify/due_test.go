package notify

import (
	"fmt"
	"testing"
	"time"

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
