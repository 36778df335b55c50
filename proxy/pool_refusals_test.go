package proxy_test

import (
	"fmt"
	"net/http"
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

// TestWhoeverHasRoomFirstIsTold: where one upstream did not take the call, and the limits of another have no room for it yet, the caller is to
// come back when the first of them will take it, whichever that is.
func TestWhoeverHasRoomFirstIsTold(t *testing.T) {
	short := func(wait string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", wait)
			answerWith(429, errorBody("slow down"))(w, r)
		}
	}
	for name, c := range map[string]struct {
		one         http.HandlerFunc
		wait, whose string
	}{
		"a provider that is short for longer": {short("90"), "56", "upstream two"},
		"a provider that is short for less":   {short("20"), "20", "upstream one"},
		"a provider that does not say":        {answerWith(429, errorBody("slow down")), "56", "upstream two"},
		"a key that is not known":             {answerWith(401, errorBody("bad key")), "56", "upstream two"},
		"one that is not well":                {answerWith(503, errorBody("overloaded")), "56", "upstream two"},
	} {
		for _, last := range []int{1, 2} { // who is asked last
			t.Run(fmt.Sprint(name, " ", last), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					spec := alice(t, "1m tokens in total", "2 requests in total")
					spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two", Limits: limits(t, "60 tokens per minute")}}
					spec.Models = []proxy.ModelSpec{
						{Pattern: "gpt-4o-mini", Pool: []proxy.PoolSpec{{Upstream: "one", Priority: 3 - last}, {Upstream: "two", Priority: last}}},
						{Pattern: "two", Upstream: "two", As: "gpt-4o-mini"},
					}
					v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
						if r.Header.Get("Authorization") == "Bearer sk-key-one" {
							c.one(w, r)
							return
						}
						answerWith(200, plainAnswer(8, 50))(w, r)
					})
					if got := v.chat(strings.Replace(hi, "gpt-4o-mini", "two", 1)); got.status != 200 { // it has 2 left of 60 then
						t.Fatalf("%d %s", got.status, got.body)
					}
					got := v.chat(hi)
					message, _, _, _ := got.errorOf(t)
					if got.status != 429 || got.header.Get("Retry-After") != c.wait || got.header.Get("x-should-retry") != "" || !strings.Contains(message, c.whose) {
						t.Fatalf("%d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), message)
					}
					if c.whose == "upstream one" {
						return
					}
					time.Sleep(56 * time.Second)
					if got := v.chat(hi); got.status != 200 {
						t.Errorf("it was told to come back now: %d %s", got.status, got.body)
					}
				})
			})
		}
	}
}

// TestAProviderThatNamesATimeIsTold rather than one that names none, whoever was asked first; but not a time that no client waits for.
func TestAProviderThatNamesATimeIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		waits [2]string
		want  string
	}{
		"the first":    {[2]string{"7", ""}, "7"},
		"the second":   {[2]string{"", "7"}, "7"},
		"both":         {[2]string{"9", "7"}, "7"},
		"none":         {[2]string{"", ""}, ""},
		"in an hour":   {[2]string{"3600", ""}, ""},
		"both, late":   {[2]string{"3600", "90"}, "90"},
		"one is over":  {[2]string{"0", "7"}, "7"},
		"one is never": {[2]string{"never", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := alice(t, "1m tokens in total")
			spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-0"}, {Name: "two", Key: "sk-key-1"}}
			spec.Models = []proxy.ModelSpec{{Pattern: "gpt-4o-mini", Pool: []proxy.PoolSpec{{Upstream: "one", Priority: 1}, {Upstream: "two", Priority: 2}}}}
			h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
				switch wait := c.waits[r.Header.Get("Authorization")[len("Bearer sk-key-")]-'0']; wait {
				case "":
					answerWith(429, errorBody("slow down"))(w, r)
				case "never":
					answerWith(429, errorBody("Limit 10, Requested 16"))(w, r)
				default:
					w.Header().Set("Retry-After", wait)
					answerWith(429, errorBody("slow down"))(w, r)
				}
			})
			got := h.chat(hi)
			message, _, _, _ := got.errorOf(t)
			if got.status != 429 || got.header.Get("Retry-After") != c.want || !strings.HasSuffix(message, "slow down") {
				t.Errorf("%d, Retry-After %q, want %q: %s", got.status, got.header.Get("Retry-After"), c.want, message)
			}
		})
	}
}
