package proxy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// usageSeen is GET /v1/usage as a typed client would read it.
type usageSeen struct {
	Object, Key string
	Budgets     []struct {
		Owner, Limit, Unit, Kind string
		Models                   []string
		Observed                 bool
		Amount                   json.RawMessage `json:"limit_amount"`
		Used, Held, Remaining    json.RawMessage
		ResetsAt                 *time.Time `json:"resets_at"`
		ResetsIn                 *int64     `json:"resets_in_seconds"`
	}
}

func (a answer) usage(t *testing.T) usageSeen {
	t.Helper()
	var seen usageSeen
	if err := json.Unmarshal([]byte(a.body), &seen); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return seen
}

// TestUsageOfEveryKind is held against a file: what callers read must not change by chance.
func TestUsageOfEveryKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := []string{
			"200k tokens per minute, burst 600k", "60 requests in any minute", "$50 each month", "$10 each day on gpt-5* o3, observe only", "4k output tokens per request",
			"8 at once", "3 requests at once on o3, observe only", "$0.25 in total, until 2000-06-01", "2m input tokens each week",
		}
		spec := alice(t, own...)
		zone, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		spec.Zone = zone
		spec.Keys[0].Extra = extras(t, "+$20 each month until 2000-01-15", "+$0.000000001 each month until 2001-01-01", "+$1 each day until 2000-01-02 on o3 gpt-5*")
		spec.Groups = []proxy.GroupSpec{
			{Name: "research", Keys: []string{"alice", "bob"}, Limits: limits(t, "1m tokens in total", "20 at once")},
			{Name: "others", Keys: []string{"bob"}, Limits: limits(t, "$7 each month")},
		}
		h := bubble(t, spec)
		time.Sleep(36*time.Hour + 12*time.Minute + 1500*time.Millisecond)
		h.spends("key alice", own[0], 650_000) // more than there is
		h.spends("key alice", own[1], 2)
		h.spends("key alice", own[2], 12_340_000_000)
		h.spends("key alice", own[3], 500_000_001)
		h.spends("group research", "1m tokens in total", 1234)
		held, d, err := h.limiter.Reserve(t.Context(), []limiter.Charge{
			{Budget: h.budget("key alice", own[2]), N: 500_000_000},
			{Budget: h.budget("key alice", own[5]), N: 1},
			{Budget: h.budget("key alice", own[6]), N: 1},
			{Budget: h.budget("group research", "20 at once"), N: 1},
			{Budget: h.budget("group research", "1m tokens in total"), N: 77},
		})
		if err != nil || !d.OK {
			t.Fatal(d, err)
		}
		defer held.Cancel(t.Context())
		time.Sleep(time.Second / 4)
		got := h.asks(http.MethodGet, "/v1/usage", "")
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.header.Get("Cache-Control") != "no-store" || got.header.Get("x-ratelimit-remaining-requests") != "58" {
			t.Errorf("%d, headers %v", got.status, got.header)
		}
		const file = "testdata/usage.json"
		if *update {
			if err := os.WriteFile(file, []byte(got.body), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.body); diff != "" {
			t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", file, diff)
		}
	})
}

// budget is the handle of a counter, its rule left alone.
func (h *house) budget(owner, sentence string) *limiter.Budget {
	h.t.Helper()
	return h.limiter.Budget(owner+": "+limits(h.t, sentence)[0].ID(), limiter.Revision{Rule: limiter.Total{Limit: 1}, Generation: 1})
}

// TestUsageOfAKeyWithoutLimits is an empty list, not null.
func TestUsageOfAKeyWithoutLimits(t *testing.T) {
	h := bubble(t, alice(t))
	if got := h.asks(http.MethodGet, "/v1/usage", "").body; got != "{\n  \"object\": \"tokenfare.usage\",\n  \"key\": \"alice\",\n  \"budgets\": []\n}\n" {
		t.Errorf("%q", got)
	}
}

// TestUsageWaitsThatAreTrue: at the time that is told, and not a second before, the budget is whole.
func TestUsageWaitsThatAreTrue(t *testing.T) {
	for _, sentence := range []string{"100 tokens per minute", "100 tokens in any minute", "100 tokens each hour", "100 tokens each day", "100 tokens each week", "100 tokens each month", "100 tokens each quarter"} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := bubble(t, alice(t, sentence))
				time.Sleep(75*time.Hour + 30*time.Minute + 300*time.Millisecond)
				h.spends("key alice", sentence, 99)
				time.Sleep(200 * time.Millisecond)
				b := h.asks(http.MethodGet, "/v1/usage", "").usage(t).Budgets[0]
				if b.ResetsAt == nil || b.ResetsIn == nil || string(b.Used) != "99" || string(b.Remaining) != "1" {
					t.Fatalf("%+v", b)
				}
				left := func() string {
					return string(h.asks(http.MethodGet, "/v1/usage", "").usage(t).Budgets[0].Remaining)
				}
				time.Sleep(time.Until(*b.ResetsAt) - time.Second)
				if got := left(); got == "100" {
					t.Errorf("a second before %v all is left", b.ResetsAt)
				}
				time.Sleep(time.Second)
				if got := left(); got != "100" {
					t.Errorf("at %v there is %s left", b.ResetsAt, got)
				}
			})
		})
	}
}

// TestUsageForgetsLimitsThatEnded at their date, and shows what raises a limit until its own.
func TestUsageForgetsLimitsThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := alice(t, "100 tokens in total, until 2000-01-02", "$5 in total")
		spec.Keys[0].Extra = extras(t, "+$2.50 until 2000-01-02")
		spec.Keys[0].Expires = time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC)
		h := bubble(t, spec)
		show := func() string {
			var out []string
			for _, b := range h.asks(http.MethodGet, "/v1/usage", "").usage(t).Budgets {
				out = append(out, fmt.Sprintf("%s: %s", b.Limit, b.Remaining))
			}
			return strings.Join(out, "; ")
		}
		time.Sleep(24*time.Hour - time.Nanosecond)
		if got := show(); got != `100 tokens in total, until 2000-01-02: 100; $5 in total: "7.50"` {
			t.Error(got)
		}
		time.Sleep(time.Nanosecond)
		if got := show(); got != `$5 in total: "5.00"` {
			t.Error(got)
		}
		time.Sleep(24 * time.Hour)
		if got := h.asks(http.MethodGet, "/v1/usage", ""); got.status != http.StatusUnauthorized || strings.Contains(got.body, "$5") {
			t.Errorf("an expired key: %d %s", got.status, got.body)
		}
	})
}

// TestUsageIsOneLook: whatever runs, what is used, held and remaining are of one instant, in each budget and between them.
func TestUsageIsOneLook(t *testing.T) {
	spec := alice(t, "1000 tokens in total", "50 requests in total")
	spec.Groups = []proxy.GroupSpec{{Name: "all", Keys: []string{"*"}, Limits: limits(t, "1000 tokens in total")}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for range 5 {
				h.chat(hi)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		calls.Wait()
		close(ended)
	}()
	for last := false; !last; {
		select {
		case <-ended:
			last = true
		default:
		}
		seen := h.get("/v1/usage").usage(t)
		if len(seen.Budgets) != 3 {
			t.Fatalf("%+v", seen)
		}
		number := func(b int, what json.RawMessage) (n int64) {
			if err := json.Unmarshal(what, &n); err != nil {
				t.Fatalf("budget %d: %s: %v", b, what, err)
			}
			return n
		}
		for i, b := range seen.Budgets {
			if number(i, b.Used)+number(i, b.Held)+number(i, b.Remaining) != number(i, b.Amount) {
				t.Fatalf("used %s, held %s and remaining %s are not %s", b.Used, b.Held, b.Remaining, b.Amount)
			}
		}
		own, calls, all := seen.Budgets[0], seen.Budgets[1], seen.Budgets[2]
		if string(own.Used) != string(all.Used) || string(own.Held) != string(all.Held) || number(0, own.Used) != 11*number(1, calls.Used) || number(0, own.Held) != 58*number(1, calls.Held) {
			t.Fatalf("budgets of different instants: %+v", seen)
		}
	}
	if n := len(h.asked); n != 20 {
		t.Errorf("the upstream was asked %d times, want 20", n)
	}
}

// TestUsageCostsNothingAndIsNotLimited and shows nothing of others.
func TestUsageCostsNothingAndIsNotLimited(t *testing.T) {
	spec := alice(t, "1 request in total", "1 at once")
	spec.Keys = append(spec.Keys, proxy.KeySpec{Name: "bob", Hashes: [][32]byte{{1}}, Limits: limits(t, "77 requests in total")}, proxy.KeySpec{Name: "eve", Hashes: [][32]byte{{2}}, Disabled: true})
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Limits: limits(t, "88 requests in total")}}
	spec.Groups = []proxy.GroupSpec{{Name: "theirs", Keys: []string{"bob"}, Limits: limits(t, "99 requests in total")}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for range 10 {
		got := h.get("/v1/usage")
		if seen := got.usage(t); len(seen.Budgets) != 2 || string(seen.Budgets[0].Remaining) != "1" || seen.Key != "alice" {
			t.Fatalf("%s", got.body)
		}
		for _, others := range []string{"bob", "77", "88", "99", "theirs", "upstream"} {
			if strings.Contains(got.body, others) {
				t.Fatalf("shows %q: %s", others, got.body)
			}
		}
	}
	if len(h.asked) != 0 {
		t.Error("the upstream was asked")
	}
}

// TestUsageIsRefusedAsTheModelsAre: other methods, and keys that open nothing.
func TestUsageIsRefusedAsTheModelsAre(t *testing.T) {
	h := bubble(t, alice(t))
	for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		got, want := h.asks(method, "/v1/usage", ""), h.asks(method, "/v1/models", "")
		if got.status != want.status || got.status < 400 || strings.ReplaceAll(got.body, "usage", "models") != want.body {
			t.Errorf("%s: %d %s, but models %d %s", method, got.status, got.body, want.status, want.body)
		}
	}
	for _, path := range []string{"/v1/usage/", "/v1/usage/alice", "/usage"} {
		if got := h.asks(http.MethodGet, path, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}
