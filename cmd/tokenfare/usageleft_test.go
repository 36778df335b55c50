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

// TestWhatBindsAKeyIsBesideIt: the budget of a group that has less left than the key's own, and what raises a limit.
func TestWhatBindsAKeyIsBesideIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(40 * 24 * time.Hour) // it is the 10th of February 2000
		u := newUsageBook(t)
		u.write("config.yaml", strings.NewReplacer(
			`"200k tokens per minute"]`, `"200k tokens per minute"], extra: ["+$20 until 2000-03-01"]`,
			`keys: [alice, bob] }`, `keys: [alice, bob], limits: ["$450 each month", "1m output tokens in total"] }`,
		).Replace(usageConfig))
		of := func(owner string, n int64) func(*ledger.Exchange) {
			return func(x *ledger.Exchange) {
				x.End.Charges = []ledger.Charge{{Budget: ledger.Budget{Name: owner + ": dollars each month", Unit: "dollars"}, N: n}}
			}
		}
		now := time.Now()
		u.call(now.Add(-2*time.Hour), "alice", "everyone,research", "m", "", of("key alice", 12_340_000_000))
		u.call(now.Add(-2*time.Hour), "bob", "everyone,research", "m", "", of("group research", 400_000_000_000))
		u.call(now.Add(-2*time.Hour), "carol", "everyone", "m", "", of("group everyone", 449_000_000_000))
		u.keep()
		var out, errs bytes.Buffer
		if code := runUsage(t.Context(), []string{"-config", filepath.Join(u.dir, "config.yaml")}, &out, &errs); code != 0 || errs.Len() > 0 {
			t.Fatalf("%d %s", code, errs.String())
		}
		lines := map[string]string{} // of each key, from its line on
		key := ""
		for line := range strings.Lines(out.String()) {
			if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(line, " ") {
				key = fields[0]
			}
			lines[key] += " " + strings.Join(strings.Fields(line), " ")
		}
		for key, want := range map[string][]string{
			"alice": {"group research: $450 each month $50.00 2000-03-01", "$50 each month, raised by $20 until 2000-03-01 $57.66 2000-03-01", "group research: 1m output tokens in total 1,000,000 never"},
			"bob":   {"$5 each day $5.00", "9m tokens in total", "group research: 1m output tokens in total"}, // and a group has more left than five dollars
			"carol": {"group everyone: $500 each month $51.00 2000-03-01"},
		} {
			for _, w := range want {
				if !strings.Contains(lines[key], w) {
					t.Errorf("key %s: no %q in\n%s", key, w, out.String())
				}
			}
			if strings.Count(lines[key], "each month") != map[string]int{"alice": 2, "carol": 1}[key] {
				t.Errorf("key %s: what does not bind it is beside it:\n%s", key, out.String())
			}
		}
		out.Reset()
		if code := runUsage(t.Context(), []string{"-config", filepath.Join(u.dir, "config.yaml"), "-json"}, &out, &errs); code != 0 {
			t.Fatalf("%d %s", code, errs.String())
		}
		for _, want := range []string{`"owner":"group research"`, `"owner":"group everyone"`, `"unit":"dollars","raised":"raised by $20 until 2000-03-01","limit_amount":70000000000`} {
			if strings.Count(out.String(), want) != map[bool]int{true: 2, false: 1}[want == `"owner":"group research"`] {
				t.Errorf("not as often as it should be: %s in\n%s", want, out.String())
			}
		}
	})
}
