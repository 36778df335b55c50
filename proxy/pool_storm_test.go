package proxy_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestAStormOverAPool: calls fail over, break off and are given up at random; nothing stays open, booked or unended (see newVirtual's
// cleanup).
func TestAStormOverAPool(t *testing.T) { inBubble(t, stormOverAPool) }

func stormOverAPool(t *testing.T) {
	spec := alice(t, "1000m tokens in total", "40 at once", "500 requests in any minute, observe only", "100m tokens per minute, observe only")
	var pool []proxy.PoolSpec
	for i := range 4 {
		n := fmt.Sprint("up", i)
		spec.Upstreams = append(spec.Upstreams, proxy.UpstreamSpec{Name: n, Key: "sk-key-" + n, Limits: limits(t, "8 at once", "1m tokens per second, burst 2m")})
		pool = append(pool, proxy.PoolSpec{Upstream: n, Priority: i/2 + 1})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: pool}}
	v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
		switch rand.IntN(10) {
		case 0:
			answerWith(503, errorBody("down"))(w, r)
		case 1:
			answerWith(429, errorBody("full"))(w, r)
		case 2:
			answerWith(401, errorBody("key"))(w, r)
		case 3:
			panic(http.ErrAbortHandler)
		case 4:
			time.Sleep(3 * time.Millisecond)
			answerWith(500, errorBody("oops"))(w, r)
		case 5:
			answerWith(200, plainAnswer(8, 3))(w, r)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for range rand.IntN(40) {
				if _, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" hello\"}}]}\n\n"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
			}
			if rand.IntN(4) == 0 {
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":40,\"total_tokens\":48}}\n\ndata: [DONE]\n\n")
		}
	})
	var statuses [6]atomic.Int64 // by hundreds; 0: the client left
	var all sync.WaitGroup
	for w := range 24 {
		all.Go(func() {
			for i := range 60 {
				ctx, cancel := context.WithCancel(context.Background())
				if rand.IntN(2) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, cancel)
				}
				text := strings.Repeat("hi ", []int{1, 1000, 15000, 40000}[rand.IntN(4)])
				got := v.chatUntil(ctx, fmt.Sprintf(`{"model":"gpt-4o-mini","stream":%v,"prompt_cache_key":"%d-%d","messages":[{"role":"user","content":"%s"}]}`, rand.IntN(2) == 0, w, i%7, text))
				statuses[min(got.status/100, 5)].Add(1)
				cancel()
			}
		})
		if w == 10 {
			v.server.SetPolicy(v.policy(spec))
		}
	}
	all.Wait()
	time.Sleep(3 * time.Second)
	for _, kind := range []int{0, 2, 5} {
		if statuses[kind].Load() == 0 {
			t.Errorf("no call ended with %dxx", kind)
		}
	}
	if n := v.metric("tokenfare_buffered_body_bytes"); n != 0 {
		t.Errorf("%v bytes of bodies are booked", n)
	}
	if n := v.metric("tokenfare_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
	for name, s := range v.states() {
		if s.Held != 0 || strings.Contains(name, "at once") && s.Used != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
