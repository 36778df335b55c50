package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
)

// limit gives carol other limits, by a reload if the proxy runs.
func (s *shop) limit(sentences ...string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), "limits: [")
	_, tail, closed := strings.Cut(rest, "]")
	if !found || !closed {
		s.t.Fatalf("no limits: %s", text)
	}
	list := `"` + strings.Join(sentences, `", "`) + `"`
	if err := os.WriteFile(s.config, []byte(head+"limits: ["+list+"]"+tail), 0o600); err != nil {
		s.t.Fatal(err)
	}
	newReloader(s.config, s.app.config, s.app).reload(s.t.Context(), "test")
}

// compared is how verify finds each budget.
func (s *shop) compared() (code int, found map[string]liveBudget, said string) {
	s.t.Helper()
	code, said = s.command("verify", "-json")
	var all verifiedJSON
	if err := json.Unmarshal([]byte(said), &all); err != nil {
		s.t.Fatalf("%v: %s", err, said)
	}
	found = map[string]liveBudget{}
	for _, b := range all.Live.Budgets {
		found[b.Name] = b
	}
	return code, found, said
}

// equal wants so many budgets, each as the ledger has it, and returns what they count.
func (s *shop) equal(n int) map[string]int64 {
	s.t.Helper()
	code, found, said := s.compared()
	if code != 0 || len(found) != n {
		s.t.Fatalf("exit code %d: %s", code, said)
	}
	counts := map[string]int64{}
	for name, b := range found {
		if b.State != liveEqual {
			s.t.Errorf("%+v", b)
		}
		counts[name] = b.Live
	}
	return counts
}

// TestCorrectionsReachWhatRefills: after calls of which nobody knows what they used are charged nothing, every budget is whole,
// as it is after a restart, and what is charged more counts as the ledger has it.
func TestCorrectionsReachWhatRefills(t *testing.T) {
	s := openShop(t)
	s.limit("$5 in any 30 days", "$0.01 per day, burst $9", "$50 each month", "10k tokens per hour, burst 20k", "1000 requests in any hour, observe only", "3 at once")
	s.status.Store(0)
	var last ledger.ID
	for range 3 {
		last = s.call()
	}
	for name, n := range s.equal(5) {
		if n == 0 {
			t.Errorf("%s has counted nothing", name)
		}
	}
	code, said := s.command("correct", "-unreported", "-since", "1h", "-charge-nothing", "-reason", "outage", "-yes")
	if code != 0 || !strings.Contains(said, "Corrected by the proxy") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for name, n := range s.equal(5) {
		if n != 0 {
			t.Errorf("%s still counts %d", name, n)
		}
	}
	if code, said = s.command("correct", "-id", last.String(), "-usage", "input=3000,output=9", "-reason", "as on the invoice", "-yes"); code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	live := s.equal(5)
	if n := live["key carol: tokens per hour"]; n < 2900 || n > 3009 {
		t.Errorf("%d tokens an hour, and 3009 were used a moment ago", n)
	}
	s.close()
	s.open()
	for name, n := range s.equal(5) {
		if was := live[name]; n < was*9/10 || n > was*11/10 {
			t.Errorf("%s: %d, and %d before the restart", name, n, was)
		}
	}
}

// TestALimitThatComesBackIsCorrected: one that a reload removes is corrected all the same, and is the ledger's when another reload
// brings it back.
func TestALimitThatComesBackIsCorrected(t *testing.T) {
	s := openShop(t)
	all := []string{"1000000 tokens in total", "$50 each month", "10k tokens per hour, burst 20k", "1000 requests in any hour"}
	s.limit(all...)
	first, second := s.call(), s.call()
	s.limit("1000000 tokens in total")
	for _, args := range [][]string{
		{"-id", first.String(), "-charge-nothing"}, {"-id", second.String(), "-cost", "$0.5"},
	} {
		if code, said := s.command("correct", append(args, "-reason", "r", "-yes")...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, said)
		}
	}
	s.call()
	s.limit(all...)
	if counts := s.equal(4); counts["key carol: dollars each month"] != 500_000_000 || counts["key carol: requests in any hour"] != 1 {
		t.Errorf("%v", counts)
	}
}

// TestVerifyNoticesWhatRefills: what the running proxy has counted otherwise, unless a reload is why.
func TestVerifyNoticesWhatRefills(t *testing.T) {
	s := openShop(t)
	s.limit("1000 requests in any hour", "2k tokens per hour, burst 20k")
	s.call()
	s.equal(2)
	budget := s.app.limiter.Budget("key carol: requests in any hour", limiter.SlidingWindow{Limit: 1000, Window: time.Hour, Grain: time.Hour / 1000})
	if err := s.app.limiter.Correct(budget, time.Now(), 7); err != nil {
		t.Fatal(err)
	}
	code, found, said := s.compared()
	if code != 1 || found["key carol: requests in any hour"].State != liveDiffers || found["key carol: tokens per hour"].State != liveEqual {
		t.Errorf("exit code %d: %s", code, said)
	}
	s.limit("999 requests in any hour", "2k tokens per hour, burst 20k")
	code, found, said = s.compared()
	if code != 0 || found["key carol: requests in any hour"].State != liveRevised {
		t.Errorf("after a reload: exit code %d: %s", code, said)
	}
	if code, said = s.command("verify"); code != 0 || !strings.Contains(said, "1 not compared, as a reload has changed what refills") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestWhatRefillsCompares: at an instant between looks, of what the ledger dates roughly.
func TestWhatRefillsCompares(t *testing.T) {
	used := func(n int64) budgetState { return budgetState{Used: n} }
	for name, one := range map[string]struct {
		looks            []budgetState
		earliest, latest int64
		open             int64
		want             string
	}{
		"between both":          {[]budgetState{used(9), used(9), used(8)}, 7, 10, 0, liveEqual},
		"the time between":      {[]budgetState{used(9), used(9), used(5)}, 6, 6, 0, liveEqual},
		"too much":              {[]budgetState{used(9), used(9), used(8)}, 5, 7, 0, liveDiffers},
		"too little":            {[]budgetState{used(9), used(9), used(8)}, 10, 12, 0, liveDiffers},
		"as much as runs":       {[]budgetState{used(9), {Used: 6, Held: 3}, used(8)}, 11, 12, 0, liveWithin},
		"more than runs":        {[]budgetState{used(9), {Used: 6, Held: 3}, used(8)}, 13, 13, 2, liveDiffers},
		"an observed one runs":  {[]budgetState{used(9), used(9), used(9)}, 12, 12, 3, liveWithin},
		"changed by a reload":   {[]budgetState{used(9), used(9), {Used: 9, Revised: true}}, 1, 2, 0, liveRevised},
		"changed to the better": {[]budgetState{used(9), used(9), {Used: 9, Revised: true}}, 9, 9, 0, liveEqual},
	} {
		if got := compareRefilling(one.looks, used(one.latest), used(one.earliest), used(one.latest), one.open); got.State != one.want {
			t.Errorf("%s: %+v, want %s", name, got, one.want)
		}
	}
}

// lives is a ledger that some have written to.
type lives struct {
	ledger.Snapshot
	list []ledger.Life
}

func (l lives) Writers(context.Context) ([]ledger.Life, error) { return l.list, nil }

// TestOthersWrite: what the ledger has more may be theirs only if they have lived since the proxy began.
func TestOthersWrite(t *testing.T) {
	began := time.Now()
	own := &ledgerWriter{Slot: 3, Since: began}
	mine := ledger.Life{Slot: 3, Last: began.Add(time.Hour)}
	for name, one := range map[string]struct {
		own  *ledgerWriter
		list []ledger.Life
		want bool
	}{
		"alone":                      {own, []ledger.Life{mine}, false},
		"others ended before":        {own, []ledger.Life{mine, {Slot: 1, Last: began.Add(-time.Second)}}, false},
		"others live":                {own, []ledger.Life{{Slot: 1, Last: began.Add(time.Second)}, mine}, true},
		"it does not say who it is":  {nil, []ledger.Life{mine, {Slot: 1}}, true},
		"nor does it, and was alone": {nil, []ledger.Life{mine}, false},
	} {
		if got, err := othersWrite(t.Context(), lives{list: one.list}, one.own); got != one.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	s := openShop(t)
	s.call()
	s.read(func(snapshot ledger.Snapshot) error {
		list, err := snapshot.Writers(t.Context())
		if len(list) != 1 || list[0].Slot != s.app.books.writer.Slot() || time.Since(list[0].Last) > time.Minute {
			t.Errorf("%+v, want the one writer", list)
		}
		return err
	})
	if s.app.books.opened.IsZero() {
		t.Error("it is not known when the ledger was opened")
	}
}
