package proxy_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// The head of a stream must reach the client when the upstream sends it, not with the first event.
func TestTheHeadOfAStreamIsPassedOnAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Minute) // a reasoning model thinks
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: [DONE]\n\n")
		})
		got := v.chat(strings.Replace(hi, `{`, `{"stream":true,`, 1))
		if got.first > time.Second {
			t.Errorf("the head came after %s", got.first)
		}
	})
}

// Two deployments at one resource: config and policy allow them, docs say weights are shares.
func TestTwoDeploymentsAtOneUpstreamShare(t *testing.T) {
	spec := alice(t, "1m tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "azure", Key: "sk-key-one"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "azure", As: "gpt-4o-mini"}, {Upstream: "azure", As: "gpt-4.1-mini"}}}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	seen := map[string]int{}
	for i := range 60 {
		h.chat(strings.Replace(hi, "{", fmt.Sprintf(`{"prompt_cache_key":"s-%d",`, i), 1))
		b, _ := io.ReadAll((<-h.asked).Body)
		seen[fmt.Sprint(strings.Contains(string(b), "gpt-4.1-mini"))]++
	}
	if len(seen) != 2 {
		t.Errorf("60 sessions: the second deployment was asked: %v", seen)
	}
}

// Callers are spread over the upstreams of a pool, whether or not their sessions have names, and the same names even; each stays where it is.
func TestCallersAreSpread(t *testing.T) {
	spec := proxy.Spec{Upstreams: []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}}
	for i := range 20 {
		spec.Keys = append(spec.Keys, proxy.KeySpec{
			Name: fmt.Sprint("caller", i), Hashes: [][32]byte{sha256.Sum256([]byte(fmt.Sprint("tf-secret-", i)))}, Limits: limits(t, "1m tokens in total"),
		})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two"}}}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for _, body := range []string{hi, strings.Replace(hi, "{", `{"prompt_cache_key":"session",`, 1)} {
		callers := map[string]int{}
		for i := range 20 {
			where := func() string {
				if got := h.chat(body, "Authorization", fmt.Sprint("Bearer tf-secret-", i)); got.status != 200 {
					t.Fatalf("caller %d: %d %s", i, got.status, got.body)
				}
				return (<-h.asked).Header.Get("Authorization")
			}
			home := where()
			if again := where(); again != home {
				t.Errorf("caller %d goes to %s and to %s", i, home, again)
			}
			callers[home]++
		}
		if len(callers) != 2 {
			t.Errorf("20 callers all go to the same of two upstreams: %v", callers)
		}
	}
}

// Where five have no room of their own, the sixth is tried.
func TestSixUpstreamsFiveFull(t *testing.T) {
	spec := alice(t, "1m tokens in total")
	var pool []proxy.PoolSpec
	for i := range 6 {
		u := proxy.UpstreamSpec{Name: fmt.Sprint("up", i), Key: fmt.Sprint("sk-key-", i)}
		if i < 5 {
			u.Limits = limits(t, "60 tokens per 10 minutes")
		}
		spec.Upstreams = append(spec.Upstreams, u)
		pool = append(pool, proxy.PoolSpec{Upstream: u.Name, Priority: i + 1})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: pool}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 50)))
	for i := range 6 {
		if got := h.chat(hi); got.status != 200 {
			t.Errorf("call %d: %d %s", i, got.status, got.body)
		}
	}
}

// A 429 of one and a bad key at the other: the call is worth a retry, and the 429 says when.
func TestA429IsNotHiddenByAnothersBadKey(t *testing.T) {
	limited := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "17")
		answerWith(429, errorBody("slow down"))(w, r)
	}
	for name, two := range map[string]http.HandlerFunc{"401": answerWith(401, errorBody("bad key")), "down": nil} {
		tw := newTwins(t, alice(t, "1000 tokens in total"), limited, two)
		got := tw.chat(hi)
		if got.status != 429 || got.header.Get("Retry-After") != "17" {
			t.Errorf("%s: %d, Retry-After %q, x-should-retry %q: %s", name, got.status, got.header.Get("Retry-After"), got.header.Get("X-Should-Retry"), got.body)
		}
	}
}

// Provider limits are per model: that one model is short must not move all the others.
func TestA429OfOneModelLeavesTheOthersWhereTheyAre(t *testing.T) {
	var two atomic.Int32
	spec := alice(t, "1m tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
	spec.Models = []proxy.ModelSpec{
		{Pattern: "gpt-4o", Upstream: "one"},
		{Pattern: "gpt-4o-mini", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}},
	}
	h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), `"gpt-4o"`) {
			w.Header().Set("Retry-After", "30")
			answerWith(429, errorBody("TPM of gpt-4o"))(w, r)
			return
		}
		if r.Header.Get("Authorization") == "Bearer sk-key-two" {
			two.Add(1)
		}
		answerWith(200, plainAnswer(8, 3))(w, r)
	})
	h.chat(strings.Replace(hi, "gpt-4o-mini", "gpt-4o", 1))
	for range 10 {
		h.chat(hi)
	}
	if n := two.Load(); n != 0 {
		t.Errorf("%d of 10 calls for another model were moved to the second upstream", n)
	}
}

// A caller whose calls provoke 403 (OpenRouter: moderation) makes everybody's upstream rest.
func TestOneCallers403sRestTheUpstreamForAll(t *testing.T) {
	var two atomic.Int32
	tw := newTwins(t, alice(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "flag me") {
			answerWith(403, errorBody("Your chosen model requires moderation and your input was flagged"))(w, r)
			return
		}
		answerWith(200, plainAnswer(8, 3))(w, r)
	}, func(w http.ResponseWriter, r *http.Request) { two.Add(1); answerWith(200, plainAnswer(8, 3))(w, r) })
	for range 3 {
		tw.chat(strings.Replace(hi, "Hi", "flag me", 1))
	}
	two.Store(0)
	for range 10 {
		tw.chat(hi)
	}
	if n := two.Load(); n != 0 {
		t.Errorf("%d of 10 clean calls go to the second upstream", n)
	}
}

// 500s between other failures, and a probe that answers 500.
func TestA500DoesNotMakeAnUpstreamWell(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var n atomic.Int32
		spec := alice(t, "1m tokens in total")
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
		v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer sk-key-one" {
				if n.Add(1)%3 == 0 {
					answerWith(500, errorBody("oops"))(w, r)
				} else {
					answerWith(503, errorBody("oops"))(w, r)
				}
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		bad := 0
		for range 30 {
			if v.chat(hi).status != 200 {
				bad++
			}
		}
		if n.Load() > 10 {
			t.Errorf("an upstream that never answered well was asked %d times in 30 calls, %d failed for good", n.Load(), bad)
		}
	})
}

// A secret that stands under headers: set.
func TestSecretsInSetHeadersAreTakenOut(t *testing.T) {
	spec := alice(t, "1m tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Set: map[string]string{"X-Api-Key": "very-secret-4711"}}}
	h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
		answerWith(400, errorBody("Incorrect API key provided: "+r.Header.Get("X-Api-Key")))(w, r)
	})
	if got := h.chat(hi); strings.Contains(got.body, "very-secret-4711") {
		t.Errorf("%s", got.body)
	}
}

// faulty fails what observes.
type faulty struct {
	*limiter.Memory
	fail atomic.Bool
}

func (f *faulty) Peek(ctx context.Context, c []limiter.Charge) (limiter.Decision, error) {
	if f.fail.Load() && len(c) == 1 && strings.Contains(fmt.Sprint(c[0].Budget), "") && f.observing(c) {
		return limiter.Decision{}, errors.New("store down")
	}
	return f.Memory.Peek(ctx, c)
}

func (f *faulty) observing(c []limiter.Charge) bool {
	probe := []limiter.Charge{{Budget: c[0].Budget}}
	f.Memory.Peek(context.Background(), probe)
	return probe[0].State.Limit == 777
}

// The second upstream's reservation is held when the watched limit cannot be read: it must come back.
func TestNoReservationIsLostBetweenUpstreams(t *testing.T) {
	f := &faulty{}
	spec := alice(t, "1m tokens in total", "777 tokens per minute, observe only")
	spec.Upstreams = []proxy.UpstreamSpec{
		{Name: "one", Key: "sk-key-one", Limits: limits(t, "60 tokens per 10 minutes")}, {Name: "two", Key: "sk-key-two"},
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 50)), func(o *proxy.Options) {
		f.Memory = o.Limiter.(*limiter.Memory)
		o.Limiter = f
	})
	h.chat(hi)
	f.fail.Store(true)
	got := h.chat(hi)
	t.Logf("%d %s", got.status, got.body)
	if n := h.limiter.OpenCount(); n != 0 {
		t.Errorf("%d reservations are held with no call running: %+v", n, h.limiter.Open())
	}
}
