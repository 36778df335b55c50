package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// usageConfig is what stands beside the ledgers of these tests.
const usageConfig = `
timezone: Europe/Berlin
upstreams: { openai: { url: "http://127.0.0.1:1/v1", key: sk-none } }
keys:
  alice: { hash: "sha256:0101010101010101010101010101010101010101010101010101010101010101", limits: ["$50 each month", "200k tokens per minute"] }
  bob: { hash: "sha256:0202020202020202020202020202020202020202020202020202020202020202", limits: ["9m tokens in total", "$5 each day"] }
  carol: { hash: "sha256:0303030303030303030303030303030303030303030303030303030303030303", limits: none }
groups:
  everyone: { keys: ["*"], limits: ["$500 each month"] }
  research: { keys: [alice, bob] }
`

// usageNow is when these tests take place, an hour and a half after midnight in Berlin: the newest hours are of another day in
// UTC.
var usageNow = time.Date(2026, 11, 21, 0, 30, 0, 0, time.UTC)

// usageBook is a ledger that a test writes, and the configuration beside it.
type usageBook struct {
	t      *testing.T
	dir    string
	list   []ledger.Exchange
	counts []ledger.Refusal
	left   budgetsLeft
}

func newUsageBook(t *testing.T) *usageBook {
	t.Helper()
	u := &usageBook{t: t, dir: t.TempDir()}
	u.write("config.yaml", usageConfig)
	return u
}

func (u *usageBook) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// call adds an exchange that began then and took two seconds. change, unless it is nil, makes it another.
func (u *usageBook) call(at time.Time, key, groups, model, label string, change func(x *ledger.Exchange)) *usageBook {
	id := ledger.At(at) + ledger.ID(len(u.list))<<10
	charges := func(n int64) []ledger.Charge {
		return []ledger.Charge{{Budget: ledger.Budget{Name: "key " + key + ": dollars each month", Unit: "dollars"}, N: n}}
	}
	x := ledger.Exchange{
		Begin: ledger.Begin{
			Exchange: id, Series: ledger.Series{Key: key, Groups: groups, Endpoint: "chat/completions", Upstream: "openai"},
			Model: model, Label: label, Stream: true, Price: "v1",
			Estimate: cost.Estimate{Input: 1000, MaxOutput: 4096, Basis: cost.Formula, ByPart: [cost.Parts]int64{cost.PartMessages: 990, cost.PartOverhead: 10}},
			Most:     cost.Usage{Input: 1000, Output: 4096}, Reserved: 42_210_000, Charges: charges(42_210_000),
		},
		End: &ledger.End{
			Exchange: id, Seq: ledger.At(at.Add(2*time.Second)) + ledger.ID(len(u.list))<<10, Status: 200, Ending: "complete", Basis: ledger.Reported,
			Usage: cost.Usage{Input: 1000, CachedInput: 400, Output: 300, Reasoning: 120}, Cost: 3_600_000, Took: 2 * time.Second,
			FirstToken: 310 * time.Millisecond, UpstreamID: "req_upstream", Charges: charges(3_600_000),
		},
	}
	if change != nil {
		change(&x)
	}
	u.list = append(u.list, x)
	return u
}

// refuse counts refusals.
func (u *usageBook) refuse(at time.Time, key, model string, n int64) *usageBook {
	u.counts = append(u.counts, ledger.Refusal{Hour: ledger.HourOf(at), Key: key, Model: model, Code: "rate_limit_exceeded", N: n})
	return u
}

// keep writes the ledger beside the configuration.
func (u *usageBook) keep() *usageBook { return u.keepAt("sqlite:" + filepath.Join(u.dir, "usage.db")) }

// keepAt writes another.
func (u *usageBook) keepAt(url string) *usageBook {
	u.t.Helper()
	store, err := openLedger(u.t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		u.t.Fatal(err)
	}
	defer store.Close()
	past, err := store.Resume(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	b := &ledger.Batch{Slot: past.Slot, Number: past.Batch + 1, Refusals: u.counts}
	var ended []ledger.Exchange
	for i := range u.list {
		x := &u.list[i]
		b.Begins = append(b.Begins, &x.Begin)
		for d := range x.Draws {
			b.Draws = append(b.Draws, &x.Draws[d])
		}
		if x.End != nil {
			b.Ends = append(b.Ends, x.End)
			ended = append(ended, *x)
			continue
		}
		if b.Oldest == 0 || x.Begin.Exchange < b.Oldest {
			b.Oldest = x.Begin.Exchange
		}
	}
	b.Rolled = ledger.RollOf(ended, nil)
	if err := store.Commit(u.t.Context(), b); err != nil {
		u.t.Fatal(err)
	}
	return u
}

// run runs the command at usageNow. Unless args name another, the configuration is the one beside the ledger.
func (u *usageBook) run(args ...string) (code int, stdout, stderr string) {
	u.t.Helper()
	var out, errs bytes.Buffer
	c := usageCommand{now: func() time.Time { return usageNow }, left: u.left, stdout: &out, stderr: &errs}
	if !strings.Contains(strings.Join(args, " "), "-config") {
		args = append([]string{"-config", filepath.Join(u.dir, "config.yaml")}, args...)
	}
	code = c.run(u.t.Context(), args)
	return code, out.String(), errs.String()
}

// prints wants a run to succeed and returns what it prints.
func (u *usageBook) prints(args ...string) string {
	u.t.Helper()
	code, out, errs := u.run(args...)
	if code != 0 || errs != "" {
		u.t.Fatalf("usage %q exits %d\n%s%s", args, code, out, errs)
	}
	return out
}

// aWeek is a ledger with something of everything.
func aWeek(t *testing.T) *usageBook {
	t.Helper()
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	u := newUsageBook(t)
	for i := range 120 {
		u.call(at(16, 8, 0).Add(time.Duration(i)*40*time.Minute), "alice", "everyone,research", []string{"gpt-5-mini", "gpt-5.6"}[i%7/6], []string{"", "nightly", "search"}[i%3], nil)
	}
	for i := range 40 {
		u.call(at(17, 10, i), "bob", "everyone,research", "gpt-5-mini", "", func(x *ledger.Exchange) {
			x.Begin.Retry = i % 2
			x.End.Usage, x.End.Cost = cost.Usage{Input: 5}, 7_301
			if i < 3 {
				x.End.Basis, x.End.Ending = ledger.Counted, "broken_stream"
			}
		})
	}
	u.call(at(18, 9, 0), "bob", "everyone,research", "gpt-5-mini", "", func(x *ledger.Exchange) {
		x.End.Basis, x.End.Ending, x.End.Usage, x.End.Cost = ledger.Nothing, "upstream_error", cost.Usage{}, 0
	})
	u.call(at(18, 9, 1), "carol", "everyone", "whisper-1", "", func(x *ledger.Exchange) {
		x.Begin.Series.Endpoint = "audio/transcriptions"
		x.End.Usage, x.End.Cost = cost.Usage{Milliseconds: 61_500}, 6_150_000
		x.End.Basis = ledger.Unreported
	})
	u.call(at(21, 0, 10), "carol", "everyone", "gpt-5.6", "nightly", func(x *ledger.Exchange) {
		x.Draws = []ledger.Draw{{Exchange: x.Begin.Exchange, Step: 1, More: cost.Usage{Output: 4096}, Reserved: 40_960_000, Charges: []ledger.Charge{{Budget: x.Begin.Charges[0].Budget, N: 40_960_000}}}}
		x.End = nil
	})
	u.refuse(at(17, 11, 0), "bob", "gpt-5-mini", 12).refuse(at(17, 12, 0), "dave", "gpt-5-mini", 3)
	u.left = func(context.Context, *Config, ledger.Snapshot) (map[budgetOwner][]budgetLeft, error) {
		b := func(sentence string, used int64, resets time.Time) budgetLeft {
			l, err := limit.Parse(sentence, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			return budgetLeft{limit: l, amount: l.Amount, used: used, remaining: l.Amount - used, resets: resets}
		}
		month, day := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC), time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
		return map[budgetOwner][]budgetLeft{
			{"key", "alice"}:      {b("$50 each month", 12_340_000_000, month), b("200k tokens per minute", 0, usageNow)},
			{"key", "bob"}:        {b("9m tokens in total", 200, time.Time{}), b("$5 each day", 4_999_000_000, day)},
			{"group", "everyone"}: {b("$500 each month", 12_341_000_000, month)},
		}, nil
	}
	return u.keep()
}
