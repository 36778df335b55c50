package proxy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// A call may ask for a tier that has a price; it pays that tier's unless the answer names another.
func TestATierThatIsAskedForIsPriced(t *testing.T) {
	const body = `{"model":"o4-mini","messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":1000,"service_tier":"priority"}`
	for answered, want := range map[string]string{
		plainAnswer(1000, 1000): "$0.01", // $2 and $8
		strings.Replace(plainAnswer(1000, 1000), `{`, `{"service_tier":"default",`, 1): "$0.0055",
	} {
		h := newHouse(t, alice(t, "$10 in total"), answerWith(200, answered))
		if got := h.chat(body); got.header.Get("x-tokenfare-cost") != want {
			t.Errorf("%d, cost %s, want %s: %s", got.status, got.header.Get("x-tokenfare-cost"), want, got.body)
		}
	}
	// What is reserved is the dearer tier's: 8 x $2 + 1000 x $8.
	for budget, status := range map[string]int{"$0.008016 in total": 200, "$0.008015 in total": 400} {
		h := newHouse(t, alice(t, budget), answerWith(200, plainAnswer(8, 1)))
		if got := h.chat(body); got.status != status {
			t.Errorf("%s: %d %s", budget, got.status, got.body)
		}
	}
}

func TestWhatHasNoPriceIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ body, code, param, says string }{
		"a tier": {
			`{"model":"gpt-4o","messages":[],"service_tier":"flex"}`, "tier_not_priced", "service_tier",
			`models: { "gpt-4o": { upstream: up, price: { input: $1, output: $4, flex: {`,
		},
		"a search": {
			`{"model":"house-llm","messages":[],"web_search_options":{}}`, "tool_not_priced", "tools",
			`models: { "house-llm": { upstream: up, tools: { web_search_preview: $0.01 } } }`,
		},
	} {
		h := newHouse(t, alice(t, "1m tokens in total"), answerWith(200, plainAnswer(8, 3)))
		got := h.chat(c.body)
		message, _, param, code := got.errorOf(t)
		if got.status != 400 || code != c.code || param != c.param || !strings.Contains(message, c.says) || len(h.asked) != 0 {
			t.Errorf("%s: %d, code %s, param %s, %d calls upstream: %s", name, got.status, code, param, len(h.asked), message)
		}
	}
}

// A tool that the provider runs is reserved and charged by the call, besides tokens.
func TestAToolThatTheProviderRunsIsCharged(t *testing.T) {
	spec := alice(t, "$10 in total", "1m tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", Fees: map[string]cost.Fee{"web_search_preview": {Call: 20_000_000}}}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(1000, 1000)))
	got := h.chat(`{"model":"gpt-4o","messages":[],"max_completion_tokens":100,"web_search_options":{}}`)
	if got.header.Get("x-tokenfare-cost") != "$0.0325" { // $0.02 + 1000 x $2.50 + 1000 x $10
		t.Errorf("%d, cost %s: %s", got.status, got.header.Get("x-tokenfare-cost"), got.body)
	}
	if got.header.Get("x-tokenfare-reserved") != "8100" { // 100 of output, 8,000 of what it finds
		t.Errorf("%s tokens were reserved", got.header.Get("x-tokenfare-reserved"))
	}
	h = newHouse(t, spec, answerWith(500, `{}`))
	h.chat(`{"model":"gpt-4o","messages":[],"max_completion_tokens":100,"web_search_options":{}}`)
	if used := h.settledSoon("$10 in total", 0); used != 0 {
		t.Errorf("a call that failed was charged %d", used)
	}
}

// A prediction that does not come true is billed as output, beyond what the limit allows.
func TestAPredictionIsReservedAsOutput(t *testing.T) {
	h := newHouse(t, alice(t, "1m tokens in total"), answerWith(200, plainAnswer(8, 3)))
	plain := h.chat(`{"model":"gpt-4o","messages":[],"max_tokens":100}`).header.Get("x-tokenfare-reserved")
	predicted := h.chat(`{"model":"gpt-4o","messages":[],"max_tokens":100,"prediction":{"type":"content","content":"Hello there"}}`).header.Get("x-tokenfare-reserved")
	if plain != "100" || predicted != "104" { // two tokens of input and two of output
		t.Errorf("%s tokens are reserved, %s with a prediction", plain, predicted)
	}
}

func TestExplainReadsEveryEndpoint(t *testing.T) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	memory := limiter.NewMemory()
	spec := alice(t, "30k tokens per minute", "$1 each month")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", URL: "http://up.test/v1"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up"}}
	spec.Keys[0].Hashes = [][32]byte{{1}}
	policy, err := proxy.NewPolicy(spec, memory, catalog)
	if err != nil {
		t.Fatal(err)
	}
	server, err := proxy.New(proxy.Options{Limiter: memory, Estimator: cost.NewEstimator()}, policy)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		endpoint      wire.Endpoint
		body          string
		input, output int64
		ceiling       string
		never         string // part of why it can never pass
	}{
		"a response":             {wire.Responses, `{"model":"gpt-4o","input":"Hi","max_output_tokens":100}`, 8, 100, "$0.00102", ""},
		"one that searches":      {wire.Responses, `{"model":"gpt-4o","input":"Hi","max_output_tokens":100,"max_tool_calls":2,"tools":[{"type":"web_search"}]}`, 24_069, 100, "$0.0811725", ""},
		"one that may search on": {wire.Responses, `{"model":"gpt-4o","input":"Hi","max_output_tokens":100,"tools":[{"type":"web_search"}]}`, 24_069, 100, "$0.0811725", ""},
		"one that searches much": {wire.Responses, `{"model":"gpt-4o","input":"Hi","max_output_tokens":100,"max_tool_calls":9,"tools":[{"type":"web_search"}]}`, 360_230, 100, "$0.991575", "lower max_tool_calls"},
		"a completion":           {wire.Completions, `{"model":"gpt-3.5-turbo-instruct","prompt":["Hi","Ho"]}`, 2, 32, "$0.000067", ""},
		"an embedding":           {wire.Embeddings, `{"model":"text-embedding-3-small","input":[1,2,3]}`, 3, 0, "$0.00000006", ""},
		"one that is too long":   {wire.Embeddings, `{"model":"text-embedding-3-small","input":"` + strings.Repeat("long ", 40_000) + `"}`, 40_001, 0, "$0.00080002", "shorten it by at least 10001"},
		"a moderation":           {wire.Moderations, `{"input":"Hi"}`, 1, 0, "$0.00", ""},
		"a picture":              {wire.Pictures, `{"model":"gpt-image-1","prompt":"Hi","size":"1024x1024","quality":"low"}`, 1, 272, "$0.01089", ""},
		"pictures too many":      {wire.Pictures, `{"model":"gpt-image-1","prompt":"Hi","n":10}`, 1, 62_400, "$2.49601", "fewer pictures"},
		"a picture by piece":     {wire.Pictures, `{"model":"dall-e-3","prompt":"Hi","size":"1024x1024","quality":"standard"}`, 1, 0, "$0.04", ""},
		"speech by character":    {wire.Speech, `{"model":"tts-1","input":"Hello"}`, 1, 0, "$0.000075", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := server.Explain(context.Background(), "alice", c.endpoint, "application/json", []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if e.Estimate.Input != c.input || e.Estimate.MaxOutput != c.output || e.Ceiling.String() != c.ceiling {
				t.Errorf("input %d, output %d, ceiling %s; want %d, %d, %s (by part %v)", e.Estimate.Input, e.Estimate.MaxOutput, e.Ceiling, c.input, c.output, c.ceiling, e.Estimate.ByPart)
			}
			if (c.never == "") != (e.NeverPasses == "") || !strings.Contains(e.NeverPasses, c.never) {
				t.Errorf("it can never pass: %q", e.NeverPasses)
			}
		})
	}
}
