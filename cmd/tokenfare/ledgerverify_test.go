package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
)

func TestLedgerNamesHideSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"sqlite:usage.db": "sqlite:usage.db",
		"postgres://tokenfare:s3cret@db:5432/books?sslmode=require&password=s3cret": "postgres://tokenfare:xxxxx@db:5432/books",
		"postgres://a b:s3cret@db/books":                                            "postgres:***",
	} {
		if got := ledgerName(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

// TestEveryKindOfDifferenceIsSaid: with its figures and what it means, for people and in JSON.
func TestEveryKindOfDifferenceIsSaid(t *testing.T) {
	at := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	id := ledger.At(at)
	hour := ledger.Hour{Start: at.Unix(), Series: ledger.Series{Key: "alice", Groups: "team", Endpoint: "chat", Upstream: "up"}, Model: "m\x1b[2J", Label: "l"}
	differences := []ledger.Difference{
		{Kind: ledger.HourDiffers, At: at, Key: "alice", Names: hour, Figure: "cost", Is: 7_000_000_000, Should: 9_000_000_000},
		{Kind: ledger.DayDiffers, At: at, Key: "alice", Names: hour, Figure: "requests", Is: 7, Should: 9},
		{Kind: ledger.DayDiffers, At: time.Unix(0, 0), Figure: "requests", Is: 7, Should: 9},
		{Kind: ledger.SlotDiffers, At: at, Budget: "key alice: tokens in total", Figure: "tokens", Is: 7, Should: 9},
		{Kind: ledger.SlotDiffers, At: at, Budget: "key alice: tokens in total", Figure: "tokens", Is: 7, Should: 9, Text: "of all time before"},
		{Kind: ledger.ChargeDiffers, Exchange: id, At: at, Key: "alice", Budget: "b", Figure: "dollars", Is: 7_000_000_000, Should: 9_000_000_000, Text: "corrected 2 times"},
		{Kind: ledger.ReserveDiffers, Exchange: id, At: at, Key: "alice", Budget: "b", Figure: "tokens", Is: 7, Should: 9},
		{Kind: ledger.NothingCosts, Exchange: id, At: at, Key: "alice", Figure: "cost", Is: 7_000_000_000},
		{Kind: ledger.BasisDiffers, Exchange: id, At: at, Key: "alice"},
		{Kind: ledger.MonthDiffers, At: at, Key: "alice", Budget: "b", Figure: "dollars", Is: 7_000_000_000, Should: 9_000_000_000},
		{Kind: ledger.TwoEnds, Exchange: id, At: at, Key: "alice"},
		{Kind: ledger.NeverEnds, Exchange: id, At: at, Key: "alice", Figure: "reserved", Should: 9_000_000_000},
		{Kind: ledger.EndWithoutBegin, Exchange: id, At: at},
		{Kind: ledger.DrawWithoutBegin, Exchange: id, At: at},
		{Kind: ledger.CorrectionOfNoEnd, Exchange: id, At: at},
	}
	v := verified{Report: &ledger.Report{Differences: differences, Further: 3}, ledger: "sqlite:x", at: at, zone: time.UTC}
	v.live = liveReport{Proxy: "http://x", Budgets: []liveBudget{
		{Name: "a", Unit: "dollars", State: liveEqual},
		{Name: "b", Unit: "dollars", Live: 5, Ledger: 6, Open: 2, State: liveWithin},
		{Name: "c", Unit: "tokens", Live: 55, Ledger: 66, Open: 1, State: liveDiffers},
	}, Others: []string{"d"}}
	var text, line strings.Builder
	if err := v.print(&text); err != nil {
		t.Fatal(err)
	}
	said := text.String()
	for _, want := range []string{
		"hour from 2026-11-21 14:00:00 UTC, key alice, groups team, endpoint chat, upstream up, model m\\x1b[2J, label l: the sum is a cost of $7.00, and the rows come to $9.00",
		"day from 2026-11-21 14:00:00 UTC", "all days: the sum is 7 requests, and the hours come to 9 requests",
		`budget "key alice: tokens in total": the sum is 7 tokens, and the rows charged 9 tokens`, "of all time before 2026-11-21",
		"charged $7.00, and the call comes to $9.00 (corrected 2 times)", "reserved 7 tokens, and the call may come to 9 tokens",
		"month 2026-11, key alice, budget \"b\": charged $7.00, and the calls cost $9.00", "it has ended twice", "$9.00 was reserved",
		"c: the running proxy has counted 55 tokens, and the ledger comes to 66 tokens, with at most 1 tokens open",
		"b: the proxy has counted $0.000000005 and the ledger $0.000000006", `Budget "d" is in only one`,
		"The books do NOT balance: 19 differences.", "1 equal, 1 within what is open, 1 different",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("this is not said: %s", want)
		}
	}
	if strings.Contains(said, "\x1b") || t.Failed() {
		t.Errorf("%s", said)
	}
	if err := v.printJSON(&line); err != nil {
		t.Fatal(err)
	}
	var back verifiedJSON
	if err := json.Unmarshal([]byte(line.String()), &back); err != nil || back.Balances || len(back.Differences) != len(differences) || strings.Count(line.String(), "\n") != 1 {
		t.Errorf("%v: %s", err, line.String())
	}
	for _, d := range back.Differences {
		if d.Text == "" || d.Means == "" || d.Kind == "" || !strings.Contains(said, d.Means) {
			t.Errorf("%+v", d)
		}
	}
}

// TestBudgetsCompare: what a busy proxy says twice, around the instant of a snapshot.
func TestBudgetsCompare(t *testing.T) {
	for name, one := range map[string]struct {
		before, after, ledger budgetState
		open                  int64
		want                  string
	}{
		"nothing runs":                  {budgetState{Used: 5}, budgetState{Used: 5}, budgetState{Used: 5}, 0, liveEqual},
		"one runs":                      {budgetState{Used: 5, Held: 3}, budgetState{Used: 5, Held: 3}, budgetState{Used: 8}, 3, liveEqual},
		"one begins":                    {budgetState{Used: 5}, budgetState{Used: 5, Held: 3}, budgetState{Used: 8}, 3, liveEqual},
		"one ends in between":           {budgetState{Used: 5, Held: 3}, budgetState{Used: 6}, budgetState{Used: 8}, 3, liveEqual},
		"one has ended, another begins": {budgetState{Used: 5, Held: 3}, budgetState{Used: 6, Held: 3}, budgetState{Used: 6}, 0, liveWithin},
		"one is not written yet":        {budgetState{Used: 5, Held: 3}, budgetState{Used: 5, Held: 3}, budgetState{Used: 5}, 0, liveWithin},
		"an observed one runs":          {budgetState{Used: 5}, budgetState{Used: 5}, budgetState{Used: 9}, 4, liveWithin},
		"too much":                      {budgetState{Used: 5, Held: 3}, budgetState{Used: 6, Held: 3}, budgetState{Used: 13}, 3, liveDiffers},
		"too little":                    {budgetState{Used: 5}, budgetState{Used: 5}, budgetState{Used: 4}, 0, liveDiffers},
	} {
		if got := compareBudget(one.before, one.after, one.ledger, one.open); got.State != one.want {
			t.Errorf("%s: %+v, want %s", name, got, one.want)
		}
	}
}

// TestVerifyNoticesALiveDifference: a running proxy that has counted something else than the ledger, and one whose token is
// another.
func TestVerifyNoticesALiveDifference(t *testing.T) {
	s := openShop(t)
	s.call()
	s.balances()
	if err := s.app.limiter.Correct(s.app.limiter.Budget("key carol: tokens in total", limiter.Total{Limit: 1_000_000}), time.Now(), 40); err != nil {
		t.Fatal(err)
	}
	code, said := s.command("verify")
	if code != 1 || !strings.Contains(said, "DIFFERS  key carol: tokens in total: the running proxy has counted 49 tokens, and the ledger comes to 9 tokens") {
		t.Errorf("exit code %d: %s", code, said)
	}
	s.app.config.Admin.Token = "another-token-xyz"
	s.admin.Config.Handler = s.app.adminHandler()
	code, said = s.command("verify")
	if code != 0 || !strings.Contains(said, "admin.token is not that of the one at "+s.admin.URL) {
		t.Errorf("with another token: exit code %d: %s", code, said)
	}
}

// TestVerifyBesideAnotherProgram: whatever answers at the admin address, the books are proven.
func TestVerifyBesideAnotherProgram(t *testing.T) {
	s := openShop(t)
	s.call()
	for says, h := range map[string]http.HandlerFunc{
		"no proxy of this version: it knows no /budgets": http.NotFound,
		"no proxy of this version: invalid":              func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") },
		"answered 500":                                   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		s.admin.Config.Handler = h
		if code, said := s.command("verify"); code != 0 || !strings.Contains(said, says) || !strings.Contains(said, "The books balance.") {
			t.Errorf("exit code %d, and not %q: %s", code, says, said)
		}
	}
}

// TestABackupIsALedger: it is made while the proxy runs, and balances.
func TestABackupIsALedger(t *testing.T) {
	s := openShop(t)
	s.call()
	to := filepath.Join(t.TempDir(), "copy.db")
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		return dispatch(t.Context(), append([]string{"ledger"}, args...), &out, &out), out.String()
	}
	if code, said := run("backup", "-config", s.config, to); code != 0 || !strings.Contains(said, "Copied to "+to) {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if code, said := run("verify", "-ledger", "sqlite:"+to); code != 0 || !strings.Contains(said, "The books balance.") || !strings.Contains(said, "not compared: without -config") {
		t.Errorf("the copy: exit code %d: %s", code, said)
	}
	if code, said := run("verify", "-ledger", "sqlite:"+to, "-config", s.config); code != 0 || !strings.Contains(said, "names another ledger") {
		t.Errorf("the copy beside a configuration: exit code %d: %s", code, said)
	}
	for args, one := range map[string]struct {
		code int
		says string
	}{
		"backup -config " + s.config + " " + to:      {1, "is there already"},
		"backup -config " + s.config:                 {2, "name one new file"},
		"backup " + to:                               {2, "say which ledger"},
		"backup -ledger postgres://u:pw@h/d " + to:   {1, "pg_dump"},
		"backup -ledger mysql://u:pw@h/d " + to:      {1, "no kind of ledger"},
		"verify -ledger mysql://u:pw@h/d":            {1, "no kind of ledger"},
		"verify -ledger sqlite:" + to + ".not-there": {1, "there is none yet"},
	} {
		if code, said := run(strings.Fields(args)...); code != one.code || !strings.Contains(said, one.says) || strings.Contains(said, "pw") {
			t.Errorf("%s: exit code %d, and not %q: %s", args, code, one.says, said)
		}
	}
}

// TestBooksNeedNoUpstream: who verifies and corrects at night has none of the variables that the proxy was started with.
func TestBooksNeedNoUpstream(t *testing.T) {
	s := openShop(t)
	id := s.call().String()
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "/v1\" }", "/v1\", key: \"${TOKENFARE_TEST_UNSET}\" }", 1)
	if err := os.WriteFile(s.config, []byte(changed), 0o600); err != nil || changed == string(text) {
		t.Fatal(err, changed)
	}
	if code, said := s.command("verify"); code != 0 || !strings.Contains(said, "not compared: budgets cannot be read") || !strings.Contains(said, "The books balance.") {
		t.Errorf("verify: exit code %d: %s", code, said)
	}
	if code, said := s.command("correct", "-id", id, "-charge-nothing", "-reason", "r"); code != 0 || !strings.Contains(said, "Corrected by the proxy") {
		t.Errorf("correct: exit code %d: %s", code, said)
	}
}
