package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

func pairSpec(t *testing.T, sentences ...string) proxy.Spec {
	spec := alice(t, sentences...)
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
	return spec
}

func isOne(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer sk-key-one" }

func TestRetryAfterIsNotShortened2(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var n, ones atomic.Int32
		v := newVirtual(t, pairSpec(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				ones.Add(1)
				time.Sleep(time.Second)
				if n.Add(1) == 1 {
					w.Header().Set("Retry-After", "30")
				} else {
					time.Sleep(time.Second)
				}
				answerWith(429, errorBody("oops"))(w, r)
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { v.chat(hi) })
		}
		all.Wait()
		if ones.Load() != 2 {
			t.Fatal("not as meant")
		}
		time.Sleep(3 * time.Second)
		ones.Store(0)
		v.chat(hi)
		if ones.Load() != 0 {
			t.Errorf("asked again 4 seconds after it said 30")
		}
	})
}

// A 503 whose body never ends: the other upstream is asked when?
func TestA503WithASlowBodyFailsOverSoon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, pairSpec(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				w.WriteHeader(503)
				io.WriteString(w, "{")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		began := time.Now()
		got := v.chat(hi)
		if took := time.Since(began); took > 15*time.Second || got.status != 200 {
			t.Errorf("%d after %s", got.status, took)
		}
	})
}

// Who waits for an upstream that hangs waits for long: one call is enough to know.
func TestOneCallThatHangsSparesTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := pairSpec(t, "1m tokens in total")
		for i := range spec.Upstreams {
			spec.Upstreams[i].HeaderTimeout = 20 * time.Minute
		}
		v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				<-r.Context().Done()
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		for i, want := range []int{504, 200, 200} {
			if got := v.chat(hi); got.status != want {
				t.Errorf("call %d: %d, want %d: %s", i, got.status, want, got.body)
			}
		}
	})
}

// Calls in flight across a reload tell of the upstream's health, too.
func TestHealthOfCallsAcrossAReload(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var ones atomic.Int32
		v := newVirtual(t, pairSpec(t, "1m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				ones.Add(1)
				time.Sleep(time.Second)
				answerWith(503, errorBody("oops"))(w, r)
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { v.chat(hi) })
		}
		time.Sleep(time.Second / 2)
		v.server.SetPolicy(v.policy(pairSpec(t, "1m tokens in total")))
		all.Wait()
		ones.Store(0)
		v.chat(hi)
		if ones.Load() != 0 {
			t.Errorf("three calls in a row failed, and it is asked first")
		}
	})
}

// A stream with a known length whose upstream has no key is held back.
func TestAStreamWithALengthIsFlushed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t)
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Usage: "never"}}
		const a, b = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n", "data: [DONE]\n\n"
		v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Length", fmt.Sprint(len(a)+len(b)))
			io.WriteString(w, a)
			w.(http.Flusher).Flush()
			time.Sleep(time.Minute)
			io.WriteString(w, b)
		})
		if got := v.chat(strings.Replace(hi, `{`, `{"stream":true,`, 1)); got.first > time.Second {
			t.Errorf("the first event came after %s (%d)", got.first, got.status)
		}
	})
}

type panicsAt struct {
	*limiter.Memory
	n, at atomic.Int32
}

func (p *panicsAt) Reserve(ctx context.Context, c []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	if p.n.Add(1) == p.at.Load() {
		panic("oops")
	}
	return p.Memory.Reserve(ctx, c)
}

func TestAPanicWhileFailingOver(t *testing.T) {
	p := &panicsAt{}
	h := newHouse(t, pairSpec(t, "1m tokens in total", "3 at once"), func(w http.ResponseWriter, r *http.Request) {
		if isOne(r) {
			answerWith(503, errorBody("oops"))(w, r)
			return
		}
		answerWith(200, plainAnswer(8, 3))(w, r)
	}, func(o *proxy.Options) { p.Memory = o.Limiter.(*limiter.Memory); o.Limiter = p })
	p.at.Store(2)
	got := h.chat(hi)
	if got.status != 500 || h.used("1m tokens in total") != 0 {
		t.Errorf("%d %s, used %d", got.status, got.body, h.used("1m tokens in total"))
	}
}

// Draws after a failover.
func TestDrawsAfterFailover(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, pairSpec(t, "20000 tokens in total", "2 at once", "500 requests in any minute, observe only"), func(w http.ResponseWriter, r *http.Request) {
			if isOne(r) {
				answerWith(503, errorBody("oops"))(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for range 9000 {
				if _, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" hello\"}}]}\n\n"); err != nil {
					return
				}
			}
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":9000,\"total_tokens\":9008}}\n\ndata: [DONE]\n\n")
		})
		got := v.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"stream":true}`)
		if got.status != 200 || got.err != nil || !strings.Contains(got.body, "[DONE]") {
			t.Errorf("%d %v …%s", got.status, got.err, got.body[max(0, len(got.body)-300):])
		}
		s := v.states()["key alice: tokens in total"]
		if s.Used != 9008 || s.Held != 0 {
			t.Errorf("%+v", s)
		}
	})
}
