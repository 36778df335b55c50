package proxy_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

func extras(t *testing.T, sentences ...string) []limit.Extra {
	t.Helper()
	var out []limit.Extra
	for _, s := range sentences {
		e, err := limit.ParseExtra(s, time.UTC)
		if err != nil {
			t.Fatalf("extra %q: %v", s, err)
		}
		out = append(out, e)
	}
	return out
}

// bubble is a house without sockets, for tests in virtual time, which begins on 2000-01-01 at midnight UTC. No upstream
// answers in it: its calls are such as are refused.
func bubble(t *testing.T, spec proxy.Spec) *house {
	t.Helper()
	h := &house{t: t, limiter: limiter.NewMemory(), registry: prometheus.NewRegistry()}
	var err error
	h.server, err = proxy.New(proxy.Options{Limiter: h.limiter, Estimator: estimator, Registry: h.registry}, h.policy(spec))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) policy(spec proxy.Spec) *proxy.Policy {
	h.t.Helper()
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up"}}
	for i := range spec.Keys {
		if spec.Keys[i].Hashes == nil {
			spec.Keys[i].Hashes = [][32]byte{sha256.Sum256([]byte(secret))}
		}
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		h.t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(spec, h.limiter, catalog)
	if err != nil {
		h.t.Fatal(err)
	}
	return policy
}

// asks serves one request without a socket.
func (h *house) asks(method, path, body string) answer {
	h.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	rec := httptest.NewRecorder()
	h.server.ServeHTTP(rec, r)
	return answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
}

// spends charges a budget.
func (h *house) spends(owner, sentence string, n int64) {
	h.t.Helper()
	l := limits(h.t, sentence)[0]
	rule := limiter.Rule(limiter.Revision{Rule: limiter.Total{Limit: 1}, Generation: 1}) // older than any: changes nothing
	if err := h.limiter.Inc(h.t.Context(), []limiter.Charge{{Budget: h.limiter.Budget(owner+": "+l.ID(), rule), N: n}}); err != nil {
		h.t.Fatal(err)
	}
}

func raisedAlice(t *testing.T, sentence string, raises ...string) proxy.Spec {
	t.Helper()
	spec := alice(t, "200k tokens per minute", sentence)
	spec.Keys[0].Extra = extras(t, raises...)
	return spec
}

// TestARaisedLimitFallsBackByItself: what was consumed stays, and so do the counter and its series.
func TestARaisedLimitFallsBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sentence = "100 tokens each month"
		h := bubble(t, raisedAlice(t, sentence, "+50 tokens until 2000-01-11", "+7 tokens each month until 2000-01-21"))
		h.spends("key alice", sentence, 120)
		shows := func(left, debt float64, budget, says string) {
			t.Helper()
			if got := h.metric("rate_limit_tokens", "budget", sentence); got != left {
				t.Errorf("the metrics show %v left, want %v", got, left)
			}
			if got := h.metric("rate_limit_debt", "budget", sentence); got != debt {
				t.Errorf("the metrics show a debt of %v, want %v", got, debt)
			}
			got := h.asks(http.MethodPost, "/v1/chat/completions", hi)
			if message, _, _, _ := got.errorOf(t); got.status != http.StatusTooManyRequests || !strings.Contains(message, says) {
				t.Errorf("%d %s, want %s", got.status, message, says)
			}
			if got.header.Get("x-tokenfare-budget") != budget {
				t.Errorf("x-tokenfare-budget is %q, want %q", got.header.Get("x-tokenfare-budget"), budget)
			}
		}
		both := func() {
			t.Helper()
			shows(37, 0, "key alice: 100 tokens each month, raised by 50 tokens until 2000-01-11 and by 7 tokens until 2000-01-21",
				`key alice, budget "100 tokens each month" raised by 50 tokens until 2000-01-11 and by 7 tokens until 2000-01-21 of your team's proxy (not OpenAI's): Limit 157, Used 120, Requested 58.`)
		}
		both()
		time.Sleep(10*24*time.Hour - time.Nanosecond)
		both()
		time.Sleep(time.Nanosecond)
		shows(0, 13, "key alice: 100 tokens each month, raised by 7 tokens until 2000-01-21",
			`key alice, budget "100 tokens each month" raised by 7 tokens until 2000-01-21 of your team's proxy (not OpenAI's): Limit 107, Used 120, Requested 58.`)
		time.Sleep(15 * 24 * time.Hour)
		shows(0, 20, "key alice: 100 tokens each month", `key alice, budget "100 tokens each month" of your team's proxy (not OpenAI's): Limit 100, Used 120, Requested 58.`)
		time.Sleep(30 * 24 * time.Hour)
		if got := h.metric("rate_limit_tokens", "budget", sentence); got != 100 {
			t.Errorf("a new month begins with %v tokens, want 100", got)
		}
	})
}

// TestTheDayALimitFallsBackIsNotRaised: at the turn of the day the quota starts anew, and without its extra, whoever asks first.
func TestTheDayALimitFallsBackIsNotRaised(t *testing.T) {
	first := map[string]func(h *house){
		"a call":   func(h *house) { h.asks(http.MethodPost, "/v1/chat/completions", "{") },
		"a scrape": func(h *house) { h.metric("rate_limit_tokens", "budget", "$10 each day") },
		"explain": func(h *house) {
			if _, err := h.server.Explain(h.t.Context(), "alice", wire.Chat, "", []byte(hi)); err != nil {
				h.t.Error(err)
			}
		},
	}
	for name, ask := range first {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := bubble(t, raisedAlice(t, "$10 each day", "+$20 until 2000-01-03"))
				time.Sleep(2*24*time.Hour - time.Second)
				if got := h.metric("rate_limit_tokens", "budget", "$10 each day"); got != 30e9 {
					t.Errorf("%v left on the last day, want $30", got)
				}
				time.Sleep(time.Second)
				ask(h)
				charge := []limiter.Charge{{Budget: h.limiter.Budget("key alice: dollars each day", limiter.Revision{Rule: limiter.Total{Limit: 1}, Generation: 1}), N: 10e9 + 1}}
				if d, err := h.limiter.Peek(t.Context(), charge); err != nil || d.OK || !d.TooBig {
					t.Errorf("more than $10 would pass: %+v %v", d, err)
				}
			})
		})
	}
}

// TestAReloadGoesBeforeADate: a date of the old policy that passes while the new one is compiled does not bring back its rule.
func TestAReloadGoesBeforeADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := bubble(t, raisedAlice(t, "1000 tokens in total", "+500 tokens until 2000-01-02"))
		compiled := h.policy(alice(t, "700 tokens in total"))
		time.Sleep(24 * time.Hour)
		h.asks(http.MethodPost, "/v1/chat/completions", "{")
		h.server.SetPolicy(compiled)
		if got := h.metric("rate_limit_tokens", "key", "alice"); got != 700 {
			t.Errorf("%v tokens left, want the new policy's 700", got)
		}
	})
}

// TestADateThatPassesUnderLoad: everybody asks at the turn, and the policy is replaced meanwhile.
func TestADateThatPassesUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := raisedAlice(t, "1000 tokens in total", "+500 tokens until 2000-01-02")
		h := bubble(t, spec)
		fresh := h.policy(spec)
		time.Sleep(24*time.Hour - time.Millisecond)
		var everybody sync.WaitGroup
		for i := range 32 {
			everybody.Go(func() {
				for range 20 {
					time.Sleep(time.Millisecond / 4)
					if got := h.asks(http.MethodPost, "/v1/chat/completions", "{"); got.header.Get("x-ratelimit-limit-tokens") == "" {
						t.Errorf("%d %v", got.status, got.header)
					}
				}
			})
			if i == 16 {
				everybody.Go(func() {
					time.Sleep(time.Millisecond)
					h.server.SetPolicy(fresh)
				})
			}
		}
		everybody.Wait()
		if got := h.metric("rate_limit_tokens", "budget", "1000 tokens in total"); got != 1000 {
			t.Errorf("%v tokens left, want 1000", got)
		}
	})
}

func TestExtrasThatRaiseNothingAreMistakes(t *testing.T) {
	spec := raisedAlice(t, "1000 tokens in total", "+$5 until 2100-01-01", "+5 tokens each day until 2100-01-01")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", URL: "http://127.0.0.1:1/v1"}}
	_, err := proxy.NewPolicy(spec, limiter.NewMemory(), &cost.Catalog{})
	for _, want := range []string{`key alice, extra "+$5 until 2100-01-01": there is no limit of dollars`, "write `+5 tokens in total until 2100-01-01`"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
}

func TestALimitThatOnlyObservesIsRaisedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := alice(t, "100 tokens in total, observe only")
		spec.Keys[0].Extra = extras(t, "+50 tokens until 2000-01-02")
		h := bubble(t, spec)
		for _, want := range []float64{150, 100} {
			if got := h.metric("rate_limit_tokens", "budget", "100 tokens in total, observe only"); got != want {
				t.Errorf("%v left, want %v", got, want)
			}
			time.Sleep(24 * time.Hour)
		}
	})
}

func TestExplainNamesWhatRaises(t *testing.T) {
	h := bubble(t, raisedAlice(t, "100 tokens in total", "+50 tokens until 2100-01-01"))
	e, err := h.server.Explain(context.Background(), "alice", wire.Chat, "", []byte(hi))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Draws[1]; got.Limit != "100 tokens in total, raised by 50 tokens until 2100-01-01" || got.Capacity != "150" {
		t.Errorf("%+v", got)
	}
}
