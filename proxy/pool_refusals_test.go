package proxy_test

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// Who comes back when told is not early.
func TestAPunctualRetryIsNotEarly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "1m tokens in total")
		spec.Upstreams = []proxy.UpstreamSpec{
			{Name: "one", Key: "sk-key-one", Limits: limits(t, "60 tokens per 10 minutes")},
			{Name: "two", Key: "sk-key-two", Limits: limits(t, "60 tokens per minute")},
		}
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
		v := newVirtual(t, spec, answerWith(200, plainAnswer(8, 50)))
		v.chat(hi)
		v.chat(hi)
		got := v.chat(hi)
		if got.status != 429 {
			t.Fatal(got.status)
		}
		time.Sleep(56 * time.Second)
		got = v.chat(hi)
		if n := v.metric("tokenfare_early_retries_total"); n != 0 || got.status != 200 {
			t.Errorf("%d, %v early retries", got.status, n)
		}
	})
}
