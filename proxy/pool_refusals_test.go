package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
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

// TestWhatHasNoPriceAtOneUpstreamIsAskedOfAnother: a tier, and a model of which a budget in dollars must know what it costs. Only where
// none has a price the call is refused, and where one has and is short, for that.
func TestWhatHasNoPriceAtOneUpstreamIsAskedOfAnother(t *testing.T) {
	standard := cost.Schedule{Rates: cost.Rates{cost.Input: 1_000_000_000, cost.Output: 4_000_000_000}}
	tiers := &cost.Price{Schedule: standard, Flex: &standard}
	flex, plain := strings.Replace(hi, `{`, `{"service_tier":"flex",`, 1), hi
	full := limits(t, "1 requests per hour")
	for name, c := range map[string]struct {
		body       string
		one, two   *cost.Price
		oneFull    []limit.Limit
		twoFull    []limit.Limit
		status     int
		code, from string
	}{
		"a tier that the second has":                 {flex, nil, tiers, nil, nil, 200, "", "two"},
		"a tier that the first has":                  {flex, tiers, nil, nil, nil, 200, "", "one"},
		"a tier that nobody has":                     {flex, nil, nil, nil, nil, 400, "tier_not_priced", ""},
		"a tier that one has that is full":           {flex, nil, tiers, nil, full, 429, "rate_limit_exceeded", ""},
		"a tier that one has that is full and first": {flex, tiers, nil, full, nil, 429, "rate_limit_exceeded", ""},
		"a model that the second has":                {plain, nil, tiers, nil, nil, 200, "", "two"},
		"a model that nobody has":                    {plain, nil, nil, nil, nil, 400, "model_not_priced", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := pairSpec(t, "$100 in total")
			spec.Upstreams[0].Limits, spec.Upstreams[1].Limits = c.oneFull, c.twoFull
			spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one", Price: c.one}, {Upstream: "two", Price: c.two, Priority: 2}}}}
			h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
			body := strings.Replace(c.body, "gpt-4o-mini", "house-llm", 1)
			if c.status == 429 { // the only call there is room for
				if got := h.chat(body); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				<-h.asked
			}
			got := h.chat(body)
			if got.status != c.status {
				t.Fatalf("%d, want %d: %s", got.status, c.status, got.body)
			}
			if c.status != 200 {
				if _, _, _, code := got.errorOf(t); code != c.code || len(h.asked) != 0 {
					t.Errorf("code %s, want %s, and %d calls upstream: %s", code, c.code, len(h.asked), got.body)
				}
				return
			}
			if from := (<-h.asked).Header.Get("Authorization"); from != "Bearer sk-key-"+c.from {
				t.Errorf("asked was %s, want %s", from, c.from)
			}
		})
	}
}
