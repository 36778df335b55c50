package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// serverWith is a server for one caller with these limits.
func serverWith(t *testing.T, sentences ...string) *Server {
	t.Helper()
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	var limits []limit.Limit
	for _, sentence := range sentences {
		l, problem := limit.Parse(sentence, time.UTC)
		if problem != nil {
			t.Fatal(problem)
		}
		limits = append(limits, l)
	}
	memory := limiter.NewMemory()
	policy, err := NewPolicy(Spec{
		Keys:      []KeySpec{{Name: "alice", Hashes: [][32]byte{{1}}, Limits: limits}},
		Upstreams: []UpstreamSpec{{Name: "up", URL: "http://up.test/v1"}}, Models: []ModelSpec{{Pattern: "*", Upstream: "up"}},
	}, memory, catalog)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Limiter: memory, Estimator: cost.NewEstimator()}, policy)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// admitted takes a request as far as its reservation.
func admitted(t *testing.T, s *Server, body string) (*exchange, error) {
	t.Helper()
	p := s.policy.Load()
	x := &exchange{server: s, endpoint: wire.Responses, policy: p, caller: p.callers[[32]byte{1}], rec: &record{}, began: s.wall(), choices: 1}
	request, err := wire.Read(x.endpoint, "", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.find(request); err != nil {
		t.Fatal(err)
	}
	x.route = x.routes[0]
	if err := x.resolve(request); err != nil {
		t.Fatal(err)
	}
	if err := x.meter(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	err = x.reserve(t.Context(), request.Cost.HasMaxOutput)
	return x, err
}

// How often the provider may run tools is the usual number, or what fits the smallest budget, or, where that is partly used, once.
func TestHowOftenTheProviderMayRunTools(t *testing.T) {
	const free, limited = `{"model":"gpt-4o","input":"Hi","max_output_tokens":100,"tools":[{"type":"web_search"}]}`,
		`{"model":"gpt-4o","input":"Hi","max_output_tokens":100,"max_tool_calls":2,"tools":[{"type":"web_search"}]}`
	for name, c := range map[string]struct {
		sentence, body string
		runs           []int64 // of calls that come one behind the other and all run; 0: refused
	}{
		"as usual":               {"1m tokens in total", free, []int64{3, 3}},
		"what fits":              {"30k tokens in total", free, []int64{2, 0}},
		"once, where no more is": {"60k tokens in total", free, []int64{3, 1, 0}},
		"beside its own output":  {"30k tokens in total", strings.Replace(free, "100", "8000", 1), []int64{1}},
		"as the caller says":     {"60k tokens in total", limited, []int64{2, 2, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serverWith(t, c.sentence)
			for i, runs := range c.runs {
				x, err := admitted(t, s, c.body)
				if (err == nil) != (runs > 0) || err == nil && x.estimate.HostedCalls != runs {
					t.Fatalf("call %d: %d runs (%v), want %d", i, x.estimate.HostedCalls, err, runs)
				}
				if err == nil && x.draws.charges[0].N != x.boundTokens() {
					t.Errorf("call %d: %d are reserved of %d", i, x.draws.charges[0].N, x.boundTokens())
				}
			}
		})
	}
}

// OpenAI takes no output limit below 16 for a response: where there is no room for that, the prompt is too long.
func TestTheLeastOutputLimit(t *testing.T) {
	for _, c := range []struct {
		body, sentence, says string
		output               int64
	}{
		{`{"model":"gpt-4o","input":"Hi"}`, "24 tokens in total", "", 16},
		{`{"model":"gpt-4o","input":"Hi"}`, "23 tokens in total", "shorten it by at least 1", 0},
	} {
		x, err := admitted(t, serverWith(t, c.sentence), c.body)
		if c.says == "" && (err != nil || x.inserted != c.output) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %d inserted, %v", c.sentence, x.inserted, err)
		}
	}
}

// What is reported of several readings is believed.
func TestUsageOfSeveralReadingsIsCredible(t *testing.T) {
	facts := cost.Model{Context: 1000, MaxOutput: 100}
	searching := cost.Estimate{HostedCalls: 2}
	searching.ByPart[cost.PartHosted] = 1
	for name, c := range map[string]struct {
		x     *exchange
		input int64
		want  bool
	}{
		"one prompt":                {&exchange{endpoint: wire.Chat, choices: 1}, 1000, true},
		"more than it holds":        {&exchange{endpoint: wire.Chat, choices: 1}, 1001, false},
		"one for all choices":       {&exchange{endpoint: wire.Chat, choices: 4}, 1001, false},
		"four prompts":              {&exchange{endpoint: wire.Completions, choices: 4}, 4000, true},
		"no more than four":         {&exchange{endpoint: wire.Completions, choices: 4}, 4004, false},
		"three readings":            {&exchange{endpoint: wire.Responses, choices: 1, attempt: attempt{estimate: searching}}, 3000, true},
		"no more than four of them": {&exchange{endpoint: wire.Responses, choices: 1, attempt: attempt{estimate: searching}}, 4004, false},
	} {
		c.x.facts = facts
		if got := c.x.credible(wire.Report{Reported: true, Usage: cost.Usage{Input: c.input, Output: 1}}); got != c.want {
			t.Errorf("%s: %d tokens are credible: %v", name, c.input, got)
		}
	}
}
