package cost_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

// The cookbook's own example: it counts 129 tokens for these messages, and the provider billed 129 for gpt-4 and 124
// for gpt-4o.
func TestChatFormulaOfTheCookbook(t *testing.T) {
	r := cost.Request{Messages: 6, Names: 4}
	for _, s := range []string{
		"system", "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
		"system", "example_user", "New synergies will help drive top-line growth.",
		"system", "example_assistant", "Things working well together will increase revenue.",
		"system", "example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
		"system", "example_assistant", "Let's talk later when we're less busy about how to do better.",
		"user", "This late pivot means we don't have time to boil the ocean for the client deliverable.",
	} {
		r.Text = append(r.Text, cost.Text{Part: cost.PartMessages, S: s})
	}
	for name, want := range map[string]int64{"gpt-4": 129, "gpt-3.5-turbo": 129, "gpt-4o": 124, "gpt-4o-mini": 124} {
		got := cost.NewEstimator().Estimate(r, catalog(t).Model(name))
		if got.Input != want {
			t.Errorf("%s: %d input tokens, want %d", name, got.Input, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	limited := func(r cost.Request) cost.Request {
		r.HasMaxOutput, r.MaxOutput = true, 100
		return r
	}
	hello := []cost.Text{{Part: cost.PartMessages, S: "user"}, {Part: cost.PartMessages, S: "hello world"}}
	for _, c := range []struct {
		name    string
		model   string
		request cost.Request
		want    cost.Estimate
	}{
		{
			"a message", "gpt-4o", limited(cost.Request{Messages: 1, Text: hello}),
			cost.Estimate{Input: 9, MaxOutput: 100, Basis: cost.Exact, ByPart: parts(cost.PartMessages, 3, cost.PartOverhead, 6)},
		},
		{
			"no limit", "gpt-4o",
			cost.Request{Messages: 1, Text: hello, Choices: 3},
			cost.Estimate{Input: 9, MaxOutput: 3 * 4096, Basis: cost.Assumed, ByPart: parts(cost.PartMessages, 3, cost.PartOverhead, 6)},
		},
		{
			"no limit, reasoning", "o3",
			cost.Request{},
			cost.Estimate{MaxOutput: 16_384, Basis: cost.Assumed},
		},
		{
			"choices", "gpt-4o", limited(cost.Request{Choices: 5}),
			cost.Estimate{MaxOutput: 500, Basis: cost.Exact},
		},
		{
			"another vocabulary", "claude-x", limited(cost.Request{Messages: 1, Text: hello}),
			cost.Estimate{Input: 9, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartMessages, 3, cost.PartOverhead, 6)},
		},
		{
			"a function", "gpt-4o", limited(cost.Request{Messages: 1, Names: 1, Tools: []string{`{"name":"now"}`}}),
			// namespace| functions| {\n\n|type| now| =| ()| =>| any|;\n\n|}| //| namespace| functions
			cost.Estimate{Input: 30, MaxOutput: 100, Basis: cost.Formula, ByPart: parts(cost.PartTools, 14, cost.PartOverhead, 3+3+1+9)},
		},
		{
			"a tool that is none", "gpt-4o", limited(cost.Request{Tools: []string{`{"type":"custom"}`}}),
			cost.Estimate{Input: 14, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartTools, 5, cost.PartOverhead, 9)},
		},
		{
			"a function behind a system message", "gpt-4o",
			limited(cost.Request{FirstSystem: 1, Text: []cost.Text{{S: "hello"}}, Tools: []string{`{"name":"now"}`}}),
			cost.Estimate{Input: 21, MaxOutput: 100, Basis: cost.Formula, ByPart: parts(cost.PartMessages, 1, cost.PartTools, 14, cost.PartOverhead, 9-4+1)},
		},
		{
			"a schema", "gpt-4o", limited(cost.Request{Text: []cost.Text{{Part: cost.PartSchema, S: "hello"}}}),
			cost.Estimate{Input: 1, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartSchema, 1)},
		},
		{
			"images", "gpt-4o", limited(cost.Request{Images: make([]cost.Image, 2)}),
			cost.Estimate{Input: 2890, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartImages, 2890)},
		},
		{
			"images of an unknown model", "llava", limited(cost.Request{Images: make([]cost.Image, 2)}),
			cost.Estimate{Input: 2 * cost.DefaultImageTokens, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartImages, 2*cost.DefaultImageTokens)},
		},
		{
			"audio and files", "gpt-4o", limited(cost.Request{Audio: make([]cost.Audio, 1), FileTokens: 40}),
			cost.Estimate{Input: 40, MaxOutput: 100, Basis: cost.Approximate, ByPart: parts(cost.PartFiles, 40)},
		},
		{
			"embedding", "text-embedding-3-small",
			cost.Request{TokenIDs: 7, Text: []cost.Text{{Part: cost.PartOther, S: "hello"}}},
			cost.Estimate{Input: 8, Basis: cost.Exact, ByPart: parts(cost.PartOther, 8)},
		},
		{
			"a limit above the model's maximum is taken at its word", "gpt-4o",
			cost.Request{HasMaxOutput: true, MaxOutput: 1 << 40},
			cost.Estimate{MaxOutput: 1 << 40, Basis: cost.Exact},
		},
		{
			"a part out of range", "gpt-4o", limited(cost.Request{Text: []cost.Text{{Part: 200, S: "hello"}}}),
			cost.Estimate{Input: 1, MaxOutput: 100, Basis: cost.Exact, ByPart: parts(cost.PartOther, 1)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cost.NewEstimator().Estimate(c.request, catalog(t).Model(c.model))
			got.BasisOf = c.want.BasisOf // tested with the parts
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// parts takes pairs of a part and its tokens.
func parts(pairs ...any) (by [cost.Parts]int64) {
	for i := 0; i < len(pairs); i += 2 {
		by[pairs[i].(cost.Part)] = int64(pairs[i+1].(int))
	}
	return by
}

func TestEstimateOfAbsurdNumbers(t *testing.T) {
	const most = math.MaxInt64
	for _, r := range []cost.Request{
		{
			TokenIDs: most, Audio: []cost.Audio{{Milliseconds: most}, {Milliseconds: -most, Assistant: true}}, FileTokens: most, Messages: math.MaxInt, Names: math.MaxInt, FunctionCalls: math.MaxInt, FunctionResults: math.MaxInt, CallTokens: most, FirstSystem: math.MaxInt, Tools: []string{"x"},
			Images:       []cost.Image{{Width: most, Height: most}, {Width: -most, Height: 1}},
			HasMaxOutput: true, MaxOutput: most, Choices: most,
		},
		{TokenIDs: -1, FileTokens: -1, Messages: -1, Names: -1, FunctionCalls: -1, FunctionResults: -1, CallTokens: -most, FirstSystem: -1, Tools: []string{""}, HasMaxOutput: true, MaxOutput: -1, Choices: -1},
		{Choices: most, Text: []cost.Text{{S: "\xff\xfe\xed\xa0\x80"}}},
	} {
		for _, m := range []cost.Model{{}, {Encoding: "none", DefaultOutput: -4, ImageTokens: -4}, {DefaultOutput: most, ImageTokens: most}, catalog(t).Model("gpt-4o")} {
			est := cost.NewEstimator().Estimate(r, m)
			var sum int64
			for _, n := range est.ByPart {
				sum += n
			}
			if est.Input < 0 || est.MaxOutput < 0 || sum != est.Input || est.Input+est.MaxOutput < 0 {
				t.Errorf("%+v for %+v: %+v", r, m, est)
			}
		}
	}
}

func TestCountKnowsTheVocabularies(t *testing.T) {
	e := cost.NewEstimator()
	for name, want := range map[string]int64{"gpt-4o": 5, "gpt-4": 11, "claude-x": 5} {
		if got := e.Count(catalog(t).Model(name), "Добрый день, 世界"); got != want {
			t.Errorf("%s counts %d, want %d", name, got, want)
		}
	}
	if got, want := e.Count(cost.Model{Encoding: "no such"}, "hello world"), int64(2); got != want {
		t.Errorf("an unknown encoding counts %d, want o200k_base's %d", got, want)
	}
	if err := e.Load("o200k_base"); err != nil {
		t.Error(err)
	}
	if err := e.Load("no such"); err == nil || !strings.Contains(err.Error(), "no such") {
		t.Errorf("Load: %v", err)
	}
}

func TestNamesOfPartsAndBases(t *testing.T) {
	seen := map[string]bool{}
	for p := range cost.Parts {
		seen[cost.Part(p).String()] = true
	}
	for _, b := range []cost.Basis{cost.Exact, cost.Formula, cost.Approximate, cost.Assumed} {
		seen[b.String()] = true
	}
	if len(seen) != cost.Parts+4 {
		t.Errorf("names are not distinct: %v", seen)
	}
}

func BenchmarkEstimate(b *testing.B) {
	prose := strings.Repeat("Budgets are charged before the call is made, and settled once the answer has ended. ", 250)
	m := catalog(b).Model("gpt-5-mini")
	for _, c := range []struct {
		name string
		size int
	}{{"1kB", 1_000}, {"20kB", 20_000}} {
		b.Run(c.name, func(b *testing.B) {
			e := cost.NewEstimator()
			r := cost.Request{Messages: 2, HasMaxOutput: true, MaxOutput: 500, Text: []cost.Text{{S: "user"}, {S: prose[:c.size]}}}
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for b.Loop() {
				e.Estimate(r, m)
			}
		})
	}
}
