package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// longLived is key alice with budgets of every length, none of which is ever short, so that all counts can be compared.
func longLived(t *testing.T, zone *time.Location) proxy.Spec {
	t.Helper()
	spec := alice(
		t,
		"1m tokens per minute", "50k requests in any minute", "$5 in any hour", "10m tokens in any 3 hours", "90k output tokens per hour, burst 1m",
		"9k requests each hour", "$90 each day", "10m tokens each week", "$5000 each month", "100m input tokens each quarter", "100m output tokens in total",
		"7k at once", "9k requests in any 90 minutes, observe only", "$9 in total, observe only",
	)
	spec.Groups = []proxy.GroupSpec{{Name: "research", Keys: []string{"alice"}, Limits: limits(t, "$100 each day", "1m tokens in any day")}}
	spec.Zone = zone
	return spec
}

// TestBudgetsAreRebuilt lets a proxy serve for days, ends it in the middle of some calls, and has another one begin with what the
// ledger's file holds at that instant. What a period or a total has spent is then as before, to the unit, and calls that ran count
// at all they had reserved. What refills has never more than before, and what is missing comes back within the time that rows are
// told apart by.
func TestBudgetsAreRebuilt(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			zone, err := time.LoadLocation([]string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"}[seed%4])
			if err != nil {
				t.Fatal(err)
			}
			inBubble(t, func(t *testing.T) { rebuild(t, rand.New(rand.NewPCG(seed, 1)), longLived(t, zone)) })
		})
	}
}

func rebuild(t *testing.T, random *rand.Rand, spec proxy.Spec) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	release := make(chan struct{})
	v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") == "hold" {
			<-release
			answerWith(http.StatusOK, plainAnswer(8, 3))(w, r)
			return
		}
		answerWith(http.StatusOK, plainAnswer(8, random.IntN(90)+1))(w, r) // more than is reserved, now and then
	}, func(s *settings) { s.durable, s.ledger.RollEvery = store, 10*time.Minute })
	var running sync.WaitGroup
	defer func() {
		close(release)
		running.Wait()
	}()
	pauses := []time.Duration{0, time.Millisecond, time.Second, 20 * time.Second, 7 * time.Minute, 50 * time.Minute, 5 * time.Hour}
	for range 60 {
		time.Sleep(pauses[random.IntN(len(pauses))])
		if got := v.chat(hi); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for range random.IntN(5) {
		running.Go(func() { v.chat(hi, "Traceparent", "hold") })
	}
	time.Sleep(time.Second) // all is durable
	synctest.Wait()
	before := v.states()
	after := rebuilt(t, v, spec, path)
	budgets, err := v.server.Budgets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range budgets {
		was, is := before[b.Name], after[b.Name]
		switch counted := was.Used + was.Held; {
		case b.Kind == "at once":
			if is.Used+is.Held != 0 {
				t.Errorf("%s: %d counted of calls that do not run", b.Name, is.Used+is.Held)
			}
		case b.Kind == "each" || b.Kind == "in total":
			if is.Used != counted && (!observes(b) || is.Used != counted+unsettled(v, b)) {
				t.Errorf("%s: %d counted, and %d before the end (%d of them held)", b.Name, is.Used, counted, was.Held)
			}
		case is.Used < counted || is.Used > mostRebuilt(v, b, counted):
			t.Errorf("%s: %d counted, and %d before the end, want no less, and no more than %d", b.Name, is.Used, counted, mostRebuilt(v, b, counted))
		}
	}
}

// mostRebuilt is the most that a budget which refills may count when it is rebuilt: rows are told apart by a quarter of an hour
// where they are older than one, and charged a second late.
func mostRebuilt(v *virtual, b proxy.BudgetState, counted int64) int64 {
	v.t.Helper()
	l := limits(v.t, b.Limit)[0]
	late := ledger.SlotLength + 2*time.Second
	if b.Kind == "per" {
		return counted + int64(float64(l.Amount)*float64(late)/float64(l.Every))
	}
	if l.Every <= time.Hour {
		late = 2 * time.Second
	}
	since := time.Now().Add(-l.Every - l.Every/1000 - late)
	most := int64(0)
	v.reading(func(s ledger.Snapshot) error {
		corrected := corrections(v.t, s)
		return s.Began(v.t.Context(), time.Unix(0, 0), time.Now(), func(x *ledger.Exchange) error {
			end := x.End
			if end == nil {
				end = x.Crash()
			}
			for _, c := range end.Charges {
				if c.Budget.Name == b.Name && end.Exchange.Time().After(since) {
					most += c.N
				}
				if c.Budget.Name == b.Name && (end.Seq == 0 || end.Seq.Time().After(since)) {
					most += c.Late
				}
			}
			for _, one := range corrected[end.Exchange] {
				if end.Exchange.Time().After(since) {
					most += charged(one.Charges)[b.Name]
				}
			}
			return nil
		})
	})
	return most
}

// observes reports whether a limit only observes: what runs is not counted by it yet, but by the next process.
func observes(b proxy.BudgetState) bool { return strings.Contains(b.Limit, "observe") }

// unsettled is what the calls that run have reserved of a budget that only observes, of which none is held.
func unsettled(v *virtual, b proxy.BudgetState) (n int64) {
	v.t.Helper()
	v.reading(func(s ledger.Snapshot) error {
		list, err := s.Unfinished(v.t.Context())
		for _, x := range list {
			n += charged(x.Begin.Charges)[b.Name]
		}
		return err
	})
	return n
}

// reading reads the ledger that the proxy writes to.
func (v *virtual) reading(f func(ledger.Snapshot) error) {
	v.t.Helper()
	snapshot, err := v.durable.Snapshot(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	defer snapshot.Close()
	if err := f(snapshot); err != nil {
		v.t.Fatal(err)
	}
}

// rebuilt are the states of the budgets of a process that begins with what the ledger's files hold now.
func rebuilt(t *testing.T, v *virtual, spec proxy.Spec, path string) map[string]limiter.State {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "usage.db")
	for _, part := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(path + part)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+part, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlite.Open(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, _, err := ledger.Open(t.Context(), store, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	memory := limiter.NewMemory()
	policy := v.policyOf(spec, memory)
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	if _, err := proxy.NewRestorer(memory).Restore(t.Context(), policy, snapshot); err != nil {
		t.Fatal(err)
	}
	budgets, err := policy.Budgets(t.Context(), memory)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]limiter.State{}
	for _, b := range budgets {
		states[b.Name] = b.State
	}
	return states
}
