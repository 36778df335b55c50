package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

func TestLedgerMisuse(t *testing.T) {
	const id = "req_1k0t3br3da500"
	for _, one := range []struct{ args, says string }{
		{"", "tokenfare ledger verify"},
		{"verfy", "did you mean verify?"},
		{"frobnicate", "say verify, correct or backup"},
		{"verify", "say which ledger"},
		{"verify -config c.yaml now", "unexpected"},
		{"correct -config c.yaml -reason r -charge-nothing", "say which calls"},
		{"correct -config c.yaml -reason r -charge-nothing -id " + id + " -unreported", "say which calls"},
		{"correct -config c.yaml -reason r -charge-nothing " + id, "named by -id"},
		{"correct -config c.yaml -reason r -charge-nothing -id x", "13 letters"},
		{"correct -config c.yaml -reason r -charge-nothing -id " + id + "," + id, "named twice"},
		{"correct -config c.yaml -charge-nothing -id " + id, "say why"},
		{"correct -reason r -charge-nothing -id " + id, "name the configuration"},
		{"correct -config c.yaml -reason r -id " + id, "say what to charge"},
		{"correct -config c.yaml -reason r -id " + id + " -counted -charge-nothing", "say what to charge"},
		{"correct -config c.yaml -reason r -id " + id + " -counted -key alice", "-key goes with -unreported"},
		{"correct -config c.yaml -reason r -id " + id + " -counted -yes -dry-run", "choose one"},
		{"correct -config c.yaml -reason r -id " + id + " -cost 1e3", "-cost"},
		{"correct -config c.yaml -reason r -id " + id + " -usage inptu=3", "did you mean input?"},
		{"correct -config c.yaml -reason r -id " + id + " -usage input=-3", "no number of tokens"},
		{"correct -config c.yaml -reason r -id " + id + " -usage input=3,input=4", "given twice"},
		{"correct -config c.yaml -reason r -id " + id + " -usage input=3,cached=4", "no part is more than its whole"},
		{"correct -config c.yaml -reason r -unreported -charge-nothing", "wants an interval"},
		{"correct -config c.yaml -reason r -unreported -since 1h -cost 1", "are for one call"},
		{"correct -config c.yaml -reason r -file f -charge-nothing", "the lines of -file"},
		{"correct -config c.yaml -reason " + strings.Repeat("x", 257) + " -counted -id " + id, "longer than 256"},
	} {
		var out bytes.Buffer
		if code := dispatch(t.Context(), append([]string{"ledger"}, strings.Fields(one.args)...), &out, &out); code != 2 || !strings.Contains(out.String(), one.says) {
			t.Errorf("ledger %s: exit code %d, and not %q: %s", one.args, code, one.says, out.String())
		}
	}
}

func TestLedgerHelpGoesToStdout(t *testing.T) {
	for args, says := range map[string]string{
		"--help": "tokenfare ledger verify -config", "help": "Proves the books", "help verify": "What is proven", "verify -h": "What is proven",
		"correct --help": "After a crash",
	} {
		var out, wrong bytes.Buffer
		if code := dispatch(t.Context(), append([]string{"ledger"}, strings.Fields(args)...), &out, &wrong); code != 0 || !strings.Contains(out.String(), says) || wrong.Len() > 0 {
			t.Errorf("ledger %s: exit code %d: %s%s", args, code, out.String(), wrong.String())
		}
	}
}

func TestMoments(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 15, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"2h":                   now.Add(-2 * time.Hour),
		"3d":                   now.Add(-72 * time.Hour),
		"2026-11-20":           time.Date(2026, 11, 20, 0, 0, 0, 0, zone),
		"2026-11-20 14:03":     time.Date(2026, 11, 20, 14, 3, 0, 0, zone),
		"2026-11-20 14:03:07":  time.Date(2026, 11, 20, 14, 3, 7, 0, zone),
		"2026-11-20T14:03":     time.Date(2026, 11, 20, 14, 3, 0, 0, zone),
		"2026-11-20T14:03:00Z": time.Date(2026, 11, 20, 15, 3, 0, 0, zone),
	} {
		if got, err := momentOf(text, now, zone); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "now", "3w", "999999d", "-2h", "20.11.2026", "2026-13-01"} {
		if got, err := momentOf(text, now, zone); err == nil {
			t.Errorf("%q is %v", text, got)
		} else if !strings.Contains(err.Error(), "2026-11-21 15:30") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTheLedgerKnowsEveryUnit: what a limit counts in can be proven and corrected.
func TestTheLedgerKnowsEveryUnit(t *testing.T) {
	a := ledger.Account{Basis: ledger.Reported, Usage: cost.Usage{Input: 5, CachedInput: 2, Output: 7}, Cost: 11}
	got := map[string]int64{}
	for u := limit.Unit(0); u.String() != "unknown unit"; u++ {
		n, known := a.Figure(u.String())
		if !known {
			t.Errorf("the ledger does not know %q", u)
		}
		got[u.String()] = n
	}
	want := map[string]int64{"tokens": 12, "input tokens": 5, "uncached input tokens": 3, "output tokens": 7, "requests": 1, "dollars": 11}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
}

// TestCorrectEachWay: the ways to say what a call is to be charged, and what it costs then.
func TestCorrectEachWay(t *testing.T) {
	s := openShop(t)
	s.status.Store(0)
	id := s.call().String()
	s.status.Store(http.StatusOK)
	account := func() ledger.Account {
		calls := s.calls()
		return calls[0].Account(s.corrections())
	}
	most := account().Usage
	if most.Output != 50 || most.Input == 0 || account().Basis != ledger.Unreported {
		t.Fatalf("%+v", account())
	}
	// gpt-4o-mini costs $0.15, $0.075 cached and $0.60 for a million tokens.
	for _, one := range []struct {
		args  []string
		basis string
		usage cost.Usage
		cost  cost.NanoUSD
	}{
		{[]string{"-counted"}, ledger.Counted, cost.Usage{Input: most.Input}, cost.NanoUSD(150 * most.Input)},
		{[]string{"-usage", "input=100,cached=40,output=9,reasoning=2"}, ledger.Reported, cost.Usage{Input: 100, CachedInput: 40, Output: 9, Reasoning: 2}, 60*150 + 40*75 + 9*600},
		{[]string{"-cost", "$0.25"}, ledger.Corrected, cost.Usage{Input: 100, CachedInput: 40, Output: 9, Reasoning: 2}, 250_000_000},
		{[]string{"-usage", "input=1,output=1", "-cost", "0"}, ledger.Corrected, cost.Usage{Input: 1, Output: 1}, 0},
		{[]string{"-charge-nothing"}, ledger.Nothing, cost.Usage{}, 0},
		{[]string{"-usage", "input=2,output=3,images=4"}, ledger.Reported, cost.Usage{Input: 2, Output: 3, Images: 4}, 2*150 + 3*600},
	} {
		code, said := s.command("correct", append([]string{"-id", id, "-reason", "because"}, one.args...)...)
		if code != 0 || !strings.Contains(said, "Corrected by the proxy") {
			t.Fatalf("%v: exit code %d: %s", one.args, code, said)
		}
		got := account()
		got.Charges = nil
		if diff := cmp.Diff(ledger.Account{Basis: one.basis, Usage: one.usage, Cost: one.cost}, got); diff != "" {
			t.Errorf("%v (want, got):\n%s", one.args, diff)
		}
		want := map[string]int64{}
		for _, unit := range []string{"tokens", "dollars", "requests"} {
			want[unit], _ = got.Figure(unit)
		}
		if diff := cmp.Diff(want, s.used()); diff != "" {
			t.Errorf("%v: budgets (want, got):\n%s", one.args, diff)
		}
		s.balances()
	}
}

// TestCorrectFromAFile: each line says what one call is charged, and nothing happens before -yes.
func TestCorrectFromAFile(t *testing.T) {
	s := openShop(t)
	first, second := s.call().String(), s.call().String()
	file := filepath.Join(t.TempDir(), "figures.jsonl")
	write := func(lines ...string) {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, says := range map[string]string{
		`{"id": "` + first + `"}`:                    "line 3: " + first + ": this is no correction: say what to charge",
		`{"id": "` + first + `", "cost": "1"}`:       `unknown field "cost"`,
		`{"id": "` + first + `", "cost_usd": "many"`: "line 3",
	} {
		write(`{"id": "`+second+`", "charge": "nothing"}`, "", line)
		if code, said := s.command("correct", "-file", file, "-reason", "r", "-yes"); code != 2 || !strings.Contains(said, says) {
			t.Errorf("%s: exit code %d, and not %q: %s", line, code, says, said)
		}
	}
	write(`{"id": "`+first+`", "usage": {"input_tokens": 3, "output_tokens": 4}}`, `{"id": "`+second+`", "charge": "nothing"}`)
	if code, said := s.command("correct", "-file", file, "-reason", "r"); code != 0 || !strings.Contains(said, "2 calls:") || !strings.Contains(said, "add -yes") {
		t.Errorf("without -yes: exit code %d: %s", code, said)
	}
	if made := s.corrections(); len(made) != 0 {
		t.Fatalf("without -yes: %+v", made)
	}
	if code, said := s.command("correct", "-file", file, "-reason", "r", "-yes"); code != 0 || !strings.Contains(said, "Corrected by the proxy") {
		t.Errorf("with -yes: exit code %d: %s", code, said)
	}
	if diff := cmp.Diff(map[string]int64{"tokens": 7, "requests": 1, "dollars": 3*150 + 4*600}, s.used()); diff != "" {
		t.Errorf("budgets (want, got):\n%s", diff)
	}
	if code, said := s.command("correct", "-file", file, "-reason", "r", "-yes"); code != 0 || !strings.Contains(said, "2 calls are charged so already") {
		t.Errorf("again: exit code %d: %s", code, said)
	}
	s.balances()
}

// TestCorrectWithoutAProxy: the command opens the ledger itself, and what another holds open it leaves alone.
func TestCorrectWithoutAProxy(t *testing.T) {
	s := openShop(t)
	id := s.call().String()
	live := s.admin
	s.admin.Close() // the proxy runs, and nobody can ask it
	if code, said := s.command("correct", "-id", id, "-charge-nothing", "-reason", "r"); code != 1 || !strings.Contains(said, "has it open") || !strings.Contains(said, "-admin URL") {
		t.Errorf("while the ledger is open: exit code %d: %s", code, said)
	}
	if err := s.app.books.close(); err != nil {
		t.Fatal(err)
	}
	if code, said := s.command("correct", "-id", id, "-charge-nothing", "-reason", "r"); code != 0 || !strings.Contains(said, "as no proxy answers") {
		t.Errorf("when it is not: exit code %d: %s", code, said)
	}
	nowhere := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(nowhere, []byte("ledger: { url: \"sqlite:none.db\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := dispatch(t.Context(), []string{"ledger", "correct", "-config", nowhere, "-admin", "http://127.0.0.1:1", "-id", id, "-charge-nothing", "-reason", "r"}, &out, &out)
	if _, err := os.Stat(filepath.Join(filepath.Dir(nowhere), "none.db")); code != 1 || !strings.Contains(out.String(), "there is none yet") || err == nil {
		t.Errorf("without a ledger: exit code %d, %v: %s", code, err, out.String())
	}
	s.open()
	if diff := cmp.Diff(map[string]int64{"tokens": 0, "dollars": 0, "requests": 0}, s.used()); diff != "" {
		t.Errorf("budgets (want, got):\n%s", diff)
	}
	if live == s.admin {
		t.Fatal("it is the old one")
	}
	s.balances()
}

// TestCorrectDistrusted: a call whose report cannot be true is among those that usage marks with ^, so -unreported takes it.
func TestCorrectDistrusted(t *testing.T) {
	s := openShop(t)
	s.absurd.Store(true)
	s.call()
	s.absurd.Store(false)
	s.status.Store(0)
	s.call()
	if calls := s.calls(); calls[0].End.Ending != "incredible_usage" || calls[0].End.Basis != ledger.Distrusted || calls[1].End.Basis != ledger.Unreported {
		t.Fatalf("%+v, %+v", calls[0].End, calls[1].End)
	}
	var report bytes.Buffer
	if code := dispatch(t.Context(), []string{"usage", "-config", s.config}, &report, &report); code != 0 || !strings.Contains(report.String(), "was used by 2 requests") {
		t.Errorf("exit code %d, and not two calls with ^: %s", code, report.String())
	}
	of := func(args ...string) (int, string) {
		return s.command("correct", append([]string{"-unreported", "-since", "1h", "-charge-nothing", "-reason", "outage"}, args...)...)
	}
	if code, said := of(); code != 0 || !strings.Contains(said, "2 calls:") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, said := of("-ending", "incredible_usage", "-yes"); code != 0 || !strings.Contains(said, "1 call:") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if got := s.corrections(); len(got) != 1 || got[0].Was != ledger.Distrusted || got[0].Basis != ledger.Nothing {
		t.Errorf("%+v", got)
	}
	if code, said := of("-ending", "incredible_usage"); code != 0 || !strings.Contains(said, "There are no such calls.") {
		t.Errorf("exit code %d: %s", code, said)
	}
	s.balances()
}

// TestCorrectSelects: -unreported takes the calls of an interval that were charged as reserved, by key, model, upstream and
// ending.
func TestCorrectSelects(t *testing.T) {
	s := openShop(t)
	s.status.Store(0)
	s.call()
	s.call()
	s.status.Store(http.StatusOK)
	s.call()
	for args, calls := range map[string]string{
		"-since 1h": "2 calls:", "-since 1h -key carol -model gpt-* -upstream up -ending no_status": "2 calls:",
		"-since 1h -key alice": "There are no such calls.", "-since 1h -model gpt-5": "There are no such calls.", "-since 1h -upstream other": "There are no such calls.",
		"-since 1h -ending crashed": "There are no such calls.", "-since 3d -until 2d": "There are no such calls.",
	} {
		code, said := s.command("correct", append([]string{"-unreported", "-charge-nothing", "-reason", "r"}, strings.Fields(args)...)...)
		if code != 0 || !strings.Contains(said, calls) {
			t.Errorf("%s: exit code %d, and not %q: %s", args, code, calls, said)
		}
	}
	for args, says := range map[string]string{"-since 1h -until 2h": "is not after", "-since soon": "is no time", "-since 2h -until then": "is no time"} {
		if code, said := s.command("correct", append([]string{"-unreported", "-charge-nothing", "-reason", "r"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(said, says) {
			t.Errorf("%s: exit code %d, and not %q: %s", args, code, says, said)
		}
	}
	if code, said := s.command("correct", "-unreported", "-since", "1h", "-charge-nothing", "-reason", "outage", "-yes"); code != 0 || !strings.Contains(said, "2 calls:") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if got := s.used()["requests"]; got != 1 {
		t.Errorf("%d requests are counted, want 1", got)
	}
	s.balances()
}
