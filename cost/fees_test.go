package cost_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

const cent = dollar / 100

func TestFeesOfTools(t *testing.T) {
	ours := map[string]cost.Fee{
		"web_search": {Call: cent}, "web_search_2025_08_26": {Call: cent},
		"web_search_preview": {Call: cent * 5 / 2}, "web_search_preview_2025_03_11": {Call: cent * 5 / 2},
		"file_search": {Call: cent / 4}, "code_interpreter": {Session: 3 * cent},
	}
	reasoning := map[string]cost.Fee{
		"web_search": {Call: cent}, "web_search_2025_08_26": {Call: cent},
		"web_search_preview": {Call: cent}, "web_search_preview_2025_03_11": {Call: cent},
		"file_search": {Call: cent / 4}, "code_interpreter": {Session: 3 * cent},
	}
	for model, want := range map[string]map[string]cost.Fee{
		"gpt-4o": ours, "gpt-4.1-mini-2025-04-14": ours, "ft:gpt-4o:acme::1": ours, "gpt-4o-of-tomorrow": ours,
		"gpt-5": reasoning, "o3": reasoning, "gpt-5.9-ultra": reasoning, "o5-mini": nil,
		"text-embedding-3-small": nil, "whisper-1": nil, "claude-x": nil,
	} {
		if diff := cmp.Diff(want, catalog(t).Model(model).Fees); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
}

// What a price file says of searches holds for its model, at the dearest size; what it does not say is as we know it.
func TestFeesOfAPriceFile(t *testing.T) {
	c := with(t, `{"gpt-4o":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6,"search_context_cost_per_query":{"search_context_size_low":0.03,"search_context_size_high":0.05,"search_context_size_medium":0.035}},
		"gpt-4.1":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6},
		"vendor/gpt-5":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6,"search_context_cost_per_query":{}},
		"claude-x":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6,"search_context_cost_per_query":{"search_context_size_low":0.01}},
		"gemini-y":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6}}`)
	for _, want := range []struct {
		model, tool string
		call        cost.NanoUSD
		known       bool
	}{
		{"gpt-4o", "web_search", 5 * cent, true},
		{"gpt-4o", "web_search_preview_2025_03_11", 5 * cent, true},
		{"gpt-4o", "file_search", cent / 4, true},
		{"gpt-4.1", "web_search_preview", cent * 5 / 2, true},
		{"vendor/gpt-5", "web_search_preview", cent, true},
		{"claude-x", "web_search", cent, true},
		{"claude-x", "file_search", 0, false},
		{"gemini-y", "web_search", 0, false},
	} {
		m := c.Model(want.model)
		fee, known := m.Fees[want.tool]
		if fee.Call != want.call || known != want.known || (m.Unpriced(cost.Request{Hosted: []cost.Hosted{{Type: want.tool}}}) == "") != known {
			t.Errorf("%s: %s is %+v, %v", want.model, want.tool, fee, known)
		}
	}
	if fee := catalog(t).Model("gpt-4o").Fees["web_search"]; fee.Call != cent {
		t.Errorf("a price file changed the list it stands before: %+v", fee)
	}
	_, err := catalog(t).With([]byte(`{"gpt-4o":{"input_cost_per_token":1e-6,"output_cost_per_token":1e-6,"search_context_cost_per_query":{"search_context_size_low":30}}}`))
	if err == nil || !strings.Contains(err.Error(), "model gpt-4o: search_context_cost_per_query: $30.00 for one call is more than $5.00") {
		t.Error(err)
	}
}

func TestFeesThatCannotBeMeant(t *testing.T) {
	for _, f := range []cost.Fee{{}, {Call: cent}, {Session: 2 * dollar}} {
		if err := f.Check(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for f, says := range map[cost.Fee]string{
		{Call: -1}:          "negative",
		{Call: 10 * dollar}: "not for a thousand",
		{Session: 1}:        "another unit",
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", f, err, says)
		}
	}
}

// What tools may cost: every session, the calls of those that run once, and of the others as many as the caller allows,
// each as the dearest.
func TestHostedToolsInAnEstimate(t *testing.T) {
	search, preview, files, code := cost.Hosted{Type: "web_search"}, cost.Hosted{Type: "web_search_preview"}, cost.Hosted{Type: "file_search"}, cost.Hosted{Type: "code_interpreter"}
	once := cost.Hosted{Type: "web_search_preview", Once: true}
	for _, c := range []struct {
		name  string
		tools []cost.Hosted
		most  int64
		calls int64
		fees  string
		input int64
	}{
		{"none", nil, 5, 0, "$0.00", 100},
		{"no limit", []cost.Hosted{search}, 0, 3, "$0.03", (1+2+3)*8_000 + 4*100},
		{"a limit", []cost.Hosted{search}, 5, 5, "$0.05", (1+2+3+4+5)*8_000 + 6*100},
		{"two share the limit", []cost.Hosted{files, preview}, 4, 4, "$0.10", (1+2+3+4)*8_000 + 5*100},
		{"a session besides", []cost.Hosted{search, code}, 2, 2, "$0.05", (1+2)*8_000 + 3*100},
		{"a session", []cost.Hosted{code}, 1, 1, "$0.03", 8_000 + 2*100},
		{"once", []cost.Hosted{once}, 0, 0, "$0.025", 8_000 + 100},
		{"once and again", []cost.Hosted{once, search}, 2, 2, "$0.045", 8_000 + (1+2)*8_000 + 3*100},
		{"unknown", []cost.Hosted{{Type: "mcp"}}, 1, 1, "$0.00", 8_000 + 2*100},
	} {
		m := catalog(t).Model("gpt-4o")
		est := cost.NewEstimator().Estimate(cost.Request{TokenIDs: 100, Hosted: c.tools, MostHosted: c.most, HasMaxOutput: true}, m)
		if est.HostedCalls != c.calls || est.Fees.String() != c.fees || est.Input != c.input || est.Bound().Fees != est.Fees {
			t.Errorf("%s: %+v", c.name, est)
		}
		for n := range c.calls {
			fewer := cost.NewEstimator().Estimate(cost.Request{TokenIDs: 100, Hosted: c.tools, MostHosted: n, HasMaxOutput: true}, m)
			if got := est.Hosting(n); n > 0 && (got.Fees != fewer.Fees || got.Input != fewer.Input || got.HostedCalls != n) {
				t.Errorf("%s, no more than %d: %+v, want %+v", c.name, n, got, fewer)
			}
		}
		if got, want := m.Price.Ceiling(est.Bound()), m.Price.Ceiling(cost.Bound{Input: est.Input})+est.Fees; got != want {
			t.Errorf("%s: reserves %v, want %v", c.name, got, want)
		}
	}
	if tool := catalog(t).Model("gpt-4o").Unpriced(cost.Request{Hosted: []cost.Hosted{search, {Type: "mcp"}, {Type: "shell"}}}); tool != "mcp" {
		t.Errorf("the first tool without a fee is %q", tool)
	}
}

// Some models search in every call, whether they are asked to or not.
func TestModelsThatAlwaysSearch(t *testing.T) {
	for name, fee := range map[string]string{"gpt-4o-search-preview": "$0.025", "gpt-4o-mini-search-preview-2025-03-11": "$0.025", "gpt-5-search-api": "$0.01"} {
		m := catalog(t).Model(name)
		for _, r := range []cost.Request{{}, {Hosted: []cost.Hosted{{Type: "web_search_preview", Once: true}}}} {
			est := cost.NewEstimator().Estimate(r, m)
			if est.Fees.String() != fee || est.Input != cost.DefaultHostedTokens || est.HostedCalls != 0 || m.Unpriced(r) != "" || !m.Priced {
				t.Errorf("%s: fees %v, input %d, unpriced %q", name, est.Fees, est.Input, m.Unpriced(r))
			}
		}
	}
}
