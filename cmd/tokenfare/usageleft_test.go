package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// TestBudgetsAreReplayedFromTheLedger: what a report says is left is what a proxy would say that starts now.
func TestBudgetsAreReplayedFromTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(40 * 24 * time.Hour) // it is the 10th of February 2000
		u := newUsageBook(t)
		budget := func(name, unit string, n int64) func(x *ledger.Exchange) {
			return func(x *ledger.Exchange) {
				x.End.Charges = []ledger.Charge{{Budget: ledger.Budget{Name: name, Unit: unit}, N: n}}
			}
		}
		u.write("config.yaml", strings.Replace(usageConfig, "limits: none", `limits: ["$9 each day, until 2000-02-01", "60 requests in any hour", "4 at once", "20m tokens per day, burst 40m"]`, 1))
		now := time.Now()
		u.call(now.Add(-13*24*time.Hour), "alice", "everyone,research", "m", "", budget("key alice: dollars each month", "dollars", 48_000_000_000)) // in January
		u.call(now.Add(-2*24*time.Hour), "alice", "everyone,research", "m", "", budget("key alice: dollars each month", "dollars", 12_340_000_000))
		u.call(now.Add(-20*24*time.Hour), "bob", "everyone,research", "m", "", budget("key bob: tokens in total", "tokens", 1_000_000))
		u.call(now.Add(-2*24*time.Hour), "bob", "everyone,research", "m", "", budget("key bob: dollars each day", "dollars", 5_000_000_000)) // not today
		u.call(now.Add(-time.Hour), "bob", "everyone,research", "m", "", budget("group everyone: dollars each month", "dollars", 400_000_000_000))
		u.call(now.Add(-10*time.Minute), "carol", "everyone", "m", "", budget("key carol: requests in any hour", "requests", 15))
		u.call(now.Add(-time.Minute), "carol", "everyone", "m", "", func(x *ledger.Exchange) { // it runs, and counts as reserved
			x.End, x.Begin.Charges = nil, []ledger.Charge{{Budget: ledger.Budget{Name: "key carol: requests in any hour", Unit: "requests"}, N: 1}}
		})
		u.keep()
		for _, c := range []struct {
			by   string
			want []string
		}{
			{"key", []string{"$50 each month $37.66 2000-03-01 00:00", "$5 each day $5.00 2000-02-11 00:00", "9m tokens in total 8,000,000 never", "60 requests in any hour 44 2000-02-10 01:59"}},
			{"group", []string{"$500 each month $100.00 2000-03-01 00:00"}},
			{"group,model", []string{"group everyone $500 each month $100.00 2000-03-01 00:00"}},
		} {
			var out, errs bytes.Buffer
			code := runUsage(t.Context(), []string{"-config", filepath.Join(u.dir, "config.yaml"), "-since", "30d", "-by", c.by}, &out, &errs)
			text := strings.Join(strings.Fields(out.String()), " ")
			if code != 0 || errs.Len() > 0 {
				t.Fatalf("%d %s", code, errs.String())
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("-by %s: no %q in\n%s", c.by, want, out.String())
				}
			}
			for _, never := range []string{"at once", "until 2000", "200k tokens per minute"} {
				if strings.Contains(text, never) {
					t.Errorf("-by %s: %q is in\n%s", c.by, never, out.String())
				}
			}
		}
	})
}
