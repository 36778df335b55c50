package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

const unknownModel = `{"model":"house-llm","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":100}`

func TestWhatAnUnpricedModelCosts(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy proxy.Unpriced
		limit  string
		status int
		cost   string
	}{
		{"refused where money limits", proxy.RefuseUnpriced, "$10 each month", 400, ""},
		{"passed where money is only watched", proxy.RefuseUnpriced, "$10 each month, observe only", 200, ""},
		{"passed where nothing is in dollars", proxy.RefuseUnpriced, "1000 tokens in total", 200, ""},
		{"as the dearest", proxy.DearestUnpriced, "$10 each month", 200, "$0.003"}, // 8 x $150 + 3 x $600
		{"free", proxy.FreeUnpriced, "$10 each month", 200, "$0.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := alice(t, c.limit)
			spec.Upstreams = []proxy.UpstreamSpec{{Name: "up"}}
			spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", Unpriced: c.policy}}
			h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
			got := h.chat(unknownModel)
			if got.status != c.status || got.header.Get("x-tokenfare-cost") != c.cost {
				t.Fatalf("%d, cost %q: %s", got.status, got.header.Get("x-tokenfare-cost"), got.body)
			}
			if c.status == 400 {
				message, _, param, code := got.errorOf(t)
				for _, says := range []string{`models: { "house-llm": { upstream: up, price: {`, "prices: file.json", "unpriced: dearest", "$10 each month"} {
					if !strings.Contains(message, says) {
						t.Errorf("the message does not say %q: %s", says, message)
					}
				}
				if code != "model_not_priced" || param != "model" {
					t.Errorf("code %s, param %s", code, param)
				}
			}
		})
	}
}

// The price an unpriced model gets is of no concern to one that has its own.
func TestThePolicyForUnpricedModelsLeavesOthersAlone(t *testing.T) {
	for _, policy := range []proxy.Unpriced{proxy.RefuseUnpriced, proxy.DearestUnpriced, proxy.FreeUnpriced} {
		spec := alice(t, "$10 each month")
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up"}}
		spec.Models = []proxy.ModelSpec{
			{Pattern: "*", Upstream: "up", Unpriced: policy},
			{Pattern: "mine", Upstream: "up", Unpriced: policy, Price: &cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{cost.Input: 1_000_000_000}}}},
		}
		h := newHouse(t, spec, answerWith(200, plainAnswer(1000, 3)))
		for model, want := range map[string]string{"gpt-4o": "$0.00253", "mine": "$0.001"} {
			if got := h.chat(strings.Replace(unknownModel, "house-llm", model, 1)).header.Get("x-tokenfare-cost"); got != want {
				t.Errorf("policy %d: %s costs %s, want %s", policy, model, got, want)
			}
		}
	}
}

// The tier that the answer names is the one that is charged, in plain answers and streams, reported or counted.
func TestTheTierOfTheAnswerIsCharged(t *testing.T) {
	const body = `{"model":"o4-mini","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":5000%s}`
	for _, c := range []struct {
		tier string
		want int64 // nano-dollars: 1000 tokens of input and 1000 of output
	}{
		{`"default"`, 1_100_000 + 4_400_000},
		{`"flex"`, 550_000 + 2_200_000},
		{`"priority"`, 2_000_000 + 8_000_000},
		{`"scale"`, 1_100_000 + 4_400_000},
		{`null`, 1_100_000 + 4_400_000},
		{`"ultrafast"`, 2_000_000 + 8_000_000}, // the dearest that is known
	} {
		plain := strings.Replace(plainAnswer(1000, 1000), `{`, `{"service_tier":`+c.tier+`,`, 1)
		h := newHouse(t, alice(t, "$10 in total"), answerWith(200, plain))
		if got := h.chat(fmt.Sprintf(body, "")); got.header.Get("x-tokenfare-cost") != cost.NanoUSD(c.want).String() {
			t.Errorf("plain, %s: %d, cost %s, want %v", c.tier, got.status, got.header.Get("x-tokenfare-cost"), cost.NanoUSD(c.want))
		}
		last := fmt.Sprintf(`data: {"service_tier":%s,"choices":[],"usage":%s}`+"\n\ndata: [DONE]\n\n", c.tier, usage(1000, 1000, 2000))
		h = newHouse(t, alice(t, "$10 in total"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, last)
		})
		h.chat(fmt.Sprintf(body, `,"stream":true`))
		if got := h.settledSoon("$10 in total", c.want); got != c.want {
			t.Errorf("streamed, %s: %v, want %v", c.tier, cost.NanoUSD(got), cost.NanoUSD(c.want))
		}
	}
}

// What an upstream adds is in what is reserved and in what is charged.
func TestAnUpstreamsRegionAndTierArePriced(t *testing.T) {
	for _, c := range []struct {
		name       string
		upstream   proxy.UpstreamSpec
		body, want string
	}{
		{"neither", proxy.UpstreamSpec{}, plainAnswer(1000, 1000), "$0.035"},
		{"region", proxy.UpstreamSpec{Region: "eu"}, plainAnswer(1000, 1000), "$0.0385"},
		{"an answer that names no tier", proxy.UpstreamSpec{Tier: cost.Priority}, plainAnswer(1000, 1000), "$0.07"},
		{"one that does", proxy.UpstreamSpec{Tier: cost.Priority}, strings.Replace(plainAnswer(1000, 1000), `{`, `{"service_tier":"default",`, 1), "$0.035"},
	} {
		spec := alice(t, "$10 each month")
		c.upstream.Name = "up"
		spec.Upstreams = []proxy.UpstreamSpec{c.upstream}
		h := newHouse(t, spec, answerWith(200, c.body))
		got := h.chat(`{"model":"gpt-5.5","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":5000}`)
		if got.header.Get("x-tokenfare-cost") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.header.Get("x-tokenfare-cost"), c.want)
		}
	}
}
