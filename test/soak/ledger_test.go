package soak

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/test/harness"
)

// readLedger reads every exchange of a ledger, by number, with the draws of streams. All have ended.
func readLedger(t testing.TB, path string) (byNumber map[int]*ledger.Exchange) {
	t.Helper()
	store, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	return readStore(t, store)
}

func readStore(t testing.TB, store ledger.Store) (byNumber map[int]*ledger.Exchange) {
	t.Helper()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	byNumber = map[int]*ledger.Exchange{}
	err = s.Began(context.WithoutCancel(t.Context()), time.Unix(0, 0), time.Now().Add(24*time.Hour), func(x *ledger.Exchange) error {
		number, ok := numberIn([]byte("Say some colours, " + x.Begin.Label))
		switch {
		case !ok:
			t.Errorf("the ledger has a call labelled %q, which nobody made", x.Begin.Label)
		case byNumber[number] != nil:
			t.Errorf("the ledger has %s twice", x.Begin.Label)
		case x.End == nil:
			t.Errorf("%s has not ended", x.Begin.Label)
		default:
			kept := *x
			byNumber[number] = &kept
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range byNumber {
		if !x.Begin.Stream || x.End.Ending == "complete" {
			continue
		}
		found, err := s.Find(context.WithoutCancel(t.Context()), x.Begin.Exchange)
		if err != nil {
			t.Fatal(err)
		}
		x.Draws = found.Draws
	}
	return byNumber
}

// used is what the budgets of the program that runs have counted, by name.
func used(t testing.TB, p *harness.Program) map[string]int64 {
	t.Helper()
	r := p.Do(t, harness.Request(t, http.MethodGet, p.Admin+"/budgets", "", "")).WantOK(t)
	var list struct {
		Budgets []struct {
			Name       string
			Used, Held int64
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, b := range list.Budgets {
		out[b.Name] = b.Used
		if b.Held != 0 {
			t.Errorf("%s: %d are held though nothing runs", b.Name, b.Held)
		}
	}
	return out
}

// verify has the program's own proof of the books made, with the budgets of the one that runs.
func verify(t testing.TB, ledger string, p *harness.Program, config string) {
	t.Helper()
	args := []string{"ledger", "verify", "-json", "-config", config}
	if p != nil {
		args = append(args, "-admin", p.Admin)
	}
	stdout, stderr, status := harness.RunFor(t, harness.Patience+*lasts, t.TempDir(), nil, args...) // a million calls take some minutes
	var found struct {
		Balances bool
		Unpriced int64
		Live     struct {
			Skipped string
			Budgets []struct{ Name, State string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil || status != 0 || !found.Balances || found.Unpriced != 0 {
		t.Errorf("the books of %s do not balance (status %d): %s%s", ledger, status, stdout, stderr)
		return
	}
	if p == nil {
		return
	}
	if found.Live.Skipped != "" || len(found.Live.Budgets) == 0 {
		t.Errorf("budgets were not compared: %q", found.Live.Skipped)
	}
	for _, b := range found.Live.Budgets {
		if b.State != "equal" && b.State != "within" && b.State != "revised" {
			t.Errorf("budget %s: %s", b.Name, b.State)
		}
	}
}

// lasts reports whether what is charged to a budget stays, and since when.
func (b budget) lasts(now time.Time) (since time.Time, ok bool) {
	periods := map[limit.Period]limiter.Period{limit.Day: limiter.Day, limit.Week: limiter.Week, limit.Month: limiter.Month, limit.Quarter: limiter.Quarter}
	switch b.limit.Kind {
	case limit.InTotal:
		return time.Time{}, true
	case limit.Each:
		return limiter.CalendarQuota{Limit: 1, Period: periods[b.limit.Period]}.Begin(now), true
	default:
		return time.Time{}, false
	}
}

// jitter is the longest that may lie between the making of an exchange's id and that of its reservation, on a busy machine.
const jitter = 300 * time.Millisecond

// neverOver fails the test if there is an interval in which a refilling budget was charged more than it had and got back.
func (b budget) neverOver(t testing.TB, rows map[int]*ledger.Exchange) {
	t.Helper()
	var spends []limiter.Spend
	for number, x := range rows {
		for _, c := range x.End.Charges {
			if c.Budget.Name != b.name() {
				continue
			}
			spends = append(spends, limiter.Spend{At: x.Begin.Exchange.Time(), N: c.N})
			if c.Late != 0 {
				t.Errorf("call %d used more than it had reserved of %s", number, b.name())
			}
		}
	}
	slices.SortFunc(spends, func(a, b limiter.Spend) int { return a.At.Compare(b.At) })
	sum, from, most := int64(0), 0, b.limit.Capacity()
	if b.limit.Kind == limit.Per {
		most += int64(float64(b.limit.Amount) * float64(jitter) / float64(b.limit.Every))
	}
	for i, s := range spends {
		if b.limit.Kind == limit.Per { // what is missing in the bucket
			if i > 0 {
				sum = max(0, sum-int64(float64(b.limit.Amount)*float64(s.At.Sub(spends[i-1].At))/float64(b.limit.Every))-1)
			}
		} else {
			for ; s.At.Sub(spends[from].At) > b.limit.Every-jitter; from++ {
				sum -= spends[from].N
			}
		}
		if sum += s.N; sum > most {
			t.Errorf("%s: %d are charged up to %s, and there were %d", b.name(), sum, s.At.Format(time.StampMilli), most)
			return
		}
	}
}
