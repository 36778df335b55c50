package proxy_test

import (
	"context"
	"crypto/sha256"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// lonely is a proxy without an upstream, so that it can live in a bubble: its calls are refused or fail.
func lonely(t *testing.T, spec proxy.Spec) (*proxy.Server, *limiter.Memory) {
	t.Helper()
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1", Limits: limits(t, "$5 each day", "5m tokens per minute")}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up"}}
	spec.Keys[0].Hashes = [][32]byte{sha256.Sum256([]byte(secret))}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	memory := limiter.NewMemory()
	policy, err := proxy.NewPolicy(spec, memory, catalog)
	if err != nil {
		t.Fatal(err)
	}
	server, err := proxy.New(proxy.Options{Limiter: memory, Estimator: estimator}, policy)
	if err != nil {
		t.Fatal(err)
	}
	return server, memory
}

// spend uses up some of a budget that is there.
func spend(t *testing.T, m *limiter.Memory, name string, rule limiter.Rule, n int64) {
	t.Helper()
	if err := m.Inc(context.Background(), []limiter.Charge{{Budget: m.Budget(name, rule), N: n}}); err != nil {
		t.Fatal(err)
	}
}

func quotas(t *testing.T, s *proxy.Server, percent int64) []proxy.Quota {
	t.Helper()
	list, err := s.Quotas(t.Context(), percent)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		spec := alice(t, "1000 tokens per minute", "60 requests in any minute", "100 tokens each day", "50 requests in total", "8 at once", "4k tokens per request",
			"$50 each month, observe only", "9 requests in total on o3, until 2000-01-01")
		spec.Zone = berlin
		spec.Groups = []proxy.GroupSpec{{Name: "all", Keys: []string{"*"}, Limits: limits(t, "$60 each hour")}}
		server, memory := lonely(t, spec)
		type line struct {
			name    string
			percent int64
			ends    string
		}
		seen := func(percent int64) (out []line) {
			for _, q := range quotas(t, server, percent) {
				l := line{q.Name, q.Percent, "never"}
				if !q.Ends.IsZero() {
					l.ends = q.Ends.In(berlin).Format(time.DateTime)
				}
				if q.Owner+": "+q.Limit.ID() != q.Name || q.Refused {
					t.Errorf("%+v", q)
				}
				out = append(out, l)
			}
			return out
		}
		spend(t, memory, "key alice: tokens each day", limiter.CalendarQuota{Limit: 100, Period: limiter.Day, Zone: berlin}, 80)
		spend(t, memory, "key alice: requests in total", limiter.Total{Limit: 50}, 60)
		spend(t, memory, "key alice: tokens per minute", limiter.TokenBucket{Size: 1000, Refill: 1000, Every: time.Minute}, 1000)
		for range 3 {
			if diff := cmp.Diff([]line{
				{"upstream up: dollars each day", 0, "2000-01-02 00:00:00"},
				{"group all: dollars each hour", 0, "2000-01-01 02:00:00"},
				{"key alice: tokens each day", 80, "2000-01-02 00:00:00"},
				{"key alice: requests in total", 120, "never"},
				{"key alice: dollars each month", 0, "2000-02-01 00:00:00"},
			}, seen(0), cmp.AllowUnexported(line{})); diff != "" {
				t.Errorf("all (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]line{{"key alice: tokens each day", 80, "2000-01-02 00:00:00"}, {"key alice: requests in total", 120, "never"}},
				seen(80), cmp.AllowUnexported(line{})); diff != "" {
				t.Errorf("those of which 80 %% is used (-want +got):\n%s", diff)
			}
			time.Sleep(17*time.Minute + 123456789)
		}
	})
}

// A refusal for want of what is settled is remembered until the period ends; one for want of what is only held is none.
func TestARefusalIsRememberedAsLongAsThePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, memory := lonely(t, alice(t, "100 tokens each day", "1000 tokens in total"))
		day, total := limiter.CalendarQuota{Limit: 100, Period: limiter.Day}, limiter.Total{Limit: 1000}
		chat := func(want string) {
			t.Helper()
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"gpt-4o-mini","max_tokens":20,"messages":[{"role":"user","content":"Hi"}]}`))
			r.Header.Set("Authorization", "Bearer "+secret)
			rec := httptest.NewRecorder()
			server.ServeHTTP(rec, r)
			if !strings.Contains(rec.Body.String(), want) {
				t.Fatalf("%d %s, want %s", rec.Code, rec.Body, want)
			}
		}
		refused := func(dayRefused, totalRefused bool) {
			t.Helper()
			for _, q := range quotas(t, server, 1) {
				if q.Refused != (dayRefused && q.Limit.Text == "100 tokens each day" || totalRefused && q.Limit.Text == "1000 tokens in total") {
					t.Errorf("%s: refused %v", q.Name, q.Refused)
				}
			}
		}
		held, d, err := memory.Reserve(t.Context(), []limiter.Charge{{Budget: memory.Budget("key alice: tokens each day", day), N: 90}})
		if err != nil || !d.OK {
			t.Fatal(d, err)
		}
		chat("rate_limit_exceeded")
		refused(false, false)
		if err := held.Settle(t.Context(), []int64{90}); err != nil {
			t.Fatal(err)
		}
		refused(false, false)
		chat("insufficient_quota")
		refused(true, false)
		time.Sleep(23 * time.Hour)
		refused(true, false)
		time.Sleep(time.Hour)
		spend(t, memory, "key alice: tokens each day", day, 90)
		refused(false, false)
		time.Sleep(24 * time.Hour)
		spend(t, memory, "key alice: tokens in total", total, 990)
		chat("insufficient_quota")
		refused(false, true)
		time.Sleep(1000 * time.Hour)
		refused(false, true)
	})
}

// What raises a limit counts as long as it holds, and the sentence stays as it is.
func TestWhatRaisesAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := alice(t, "100 tokens in total")
		extra, err := limit.ParseExtra("+100 tokens until 2000-01-03", time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		spec.Keys[0].Extra = []limit.Extra{extra}
		server, memory := lonely(t, spec)
		spend(t, memory, "key alice: tokens in total", limiter.Total{Limit: 200}, 90)
		want := func(percent int64, raised string) {
			t.Helper()
			q := quotas(t, server, 1)[0]
			if q.Percent != percent || q.Raised != raised || q.Limit.Text != "100 tokens in total" {
				t.Errorf("%d %% %q, want %d %% %q", q.Percent, q.Raised, percent, raised)
			}
		}
		want(45, "raised by 100 tokens until 2000-01-03")
		time.Sleep(48 * time.Hour)
		want(90, "")
	})
}

func TestPercentagesAreExact(t *testing.T) {
	server, memory := lonely(t, alice(t, "$50 in total"))
	const name = "key alice: dollars in total"
	counted := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.OneOf(rapid.Int64Range(1, 200), rapid.Int64Range(1, 1e18)).Draw(rt, "limit")
		rule := limiter.Total{Limit: most}
		more := rapid.OneOf(rapid.Int64Range(0, 200), rapid.Int64Range(0, 1e16)).Draw(rt, "used")
		spend(t, memory, name, rule, more)
		counted += more
		want := new(big.Int).Mul(big.NewInt(counted), big.NewInt(100))
		if want.Div(want, big.NewInt(most)); !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		for _, q := range quotas(t, server, 0) {
			if !q.Ends.Equal(q.Ends.Truncate(time.Minute)) { // here, time passes between two looks at a clock
				rt.Fatalf("%s ends at %v", q.Name, q.Ends)
			}
			if q.Name == name && big.NewInt(q.Percent).Cmp(want) != 0 {
				rt.Fatalf("%d of %d is %d %%, want %s", counted, most, q.Percent, want)
			}
		}
	})
}
