package cost_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

func catalog(tb testing.TB) *cost.Catalog {
	tb.Helper()
	c, err := cost.DefaultCatalog()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestModelMatching(t *testing.T) {
	type match struct {
		Name, Encoding          string
		Known, Reasoning, Price bool
		Input                   string
	}
	for asked, want := range map[string]match{
		"gpt-4":                               {"gpt-4", "cl100k_base", true, false, true, "$30.00"},
		"gpt-4-0613":                          {"gpt-4-0613", "cl100k_base", true, false, true, "$30.00"},
		"gpt-4-turbo-2024-04-09":              {"gpt-4-turbo", "cl100k_base", true, false, true, "$10.00"},
		"gpt-4-1106-preview":                  {"gpt-4-1106-preview", "cl100k_base", true, false, true, "$10.00"},
		"gpt-4-32k":                           {"gpt-4-32k", "cl100k_base", true, false, false, "$0.00"},
		"gpt-4o":                              {"gpt-4o", "o200k_base", true, false, true, "$2.50"},
		"openrouter/openai/gpt-4":             {"openrouter/openai/gpt-4", "cl100k_base", true, false, false, "$0.00"},
		"groq/openai/gpt-oss-120b":            {"groq/openai/gpt-oss-120b", "o200k_base", true, true, false, "$0.00"},
		"meta-llama/llama-4":                  {"meta-llama/llama-4", "o200k_base", false, false, false, "$0.00"},
		"gpt-4o-2024-08-06":                   {"gpt-4o", "o200k_base", true, false, true, "$2.50"},
		"gpt-4o-2024-05-13":                   {"gpt-4o-2024-05-13", "o200k_base", true, false, true, "$5.00"},
		"gpt-4o-audio-preview":                {"gpt-4o-audio-preview", "o200k_base", true, false, true, "$2.50"},
		"gpt-4o-search-preview":               {"gpt-4o-search-preview", "o200k_base", true, false, true, "$2.50"},
		"gpt-4o-mini":                         {"gpt-4o-mini", "o200k_base", true, false, true, "$0.15"},
		"gpt-4.1":                             {"gpt-4.1", "o200k_base", true, false, true, "$2.00"},
		"gpt-4.1-mini-2025-04-14":             {"gpt-4.1-mini", "o200k_base", true, false, true, "$0.40"},
		"gpt-4.5-preview":                     {"gpt-4.5-preview", "o200k_base", true, false, false, "$0.00"},
		"chatgpt-4o-latest":                   {"chatgpt-4o-latest", "o200k_base", true, false, true, "$5.00"},
		"gpt-5":                               {"gpt-5", "o200k_base", true, true, true, "$1.25"},
		"gpt-5-mini-2025-08-07":               {"gpt-5-mini", "o200k_base", true, true, true, "$0.25"},
		"gpt-5-pro-2025-10-06":                {"gpt-5-pro", "o200k_base", true, true, true, "$15.00"},
		"gpt-5.1-codex-max":                   {"gpt-5.1-codex-max", "o200k_base", true, true, true, "$1.25"},
		"gpt-5.4-mini-2026-03-17":             {"gpt-5.4-mini", "o200k_base", true, true, true, "$0.75"},
		"gpt-5.6-luna":                        {"gpt-5.6-luna", "o200k_base", true, true, true, "$1.00"},
		"gpt-5.9-ultra":                       {"gpt-5.9-ultra", "o200k_base", true, true, false, "$0.00"},
		"o1":                                  {"o1", "o200k_base", true, true, true, "$15.00"},
		"o3-mini-2025-01-31":                  {"o3-mini", "o200k_base", true, true, true, "$1.10"},
		"o4-mini":                             {"o4-mini", "o200k_base", true, true, true, "$1.10"},
		"o3-deep-research":                    {"o3-deep-research", "o200k_base", true, true, true, "$10.00"},
		"gpt-oss-120b":                        {"gpt-oss-120b", "o200k_base", true, true, false, "$0.00"},
		"gpt-3.5-turbo":                       {"gpt-3.5-turbo", "cl100k_base", true, false, true, "$0.50"},
		"gpt-35-turbo":                        {"gpt-35-turbo", "cl100k_base", true, false, true, "$0.50"},
		"gpt-3.5-turbo-1106":                  {"gpt-3.5-turbo-1106", "cl100k_base", true, false, true, "$1.00"},
		"text-embedding-3-large":              {"text-embedding-3-large", "cl100k_base", true, false, true, "$0.13"},
		"openai/gpt-4o":                       {"gpt-4o", "o200k_base", true, false, true, "$2.50"},
		"azure/gpt-4o-2024-11-20":             {"gpt-4o", "o200k_base", true, false, true, "$2.50"},
		"openai/gpt-oss-20b":                  {"openai/gpt-oss-20b", "o200k_base", true, true, false, "$0.00"},
		"ft:gpt-4o-mini-2024-07-18:org::id":   {"ft:gpt-4o-mini", "o200k_base", true, false, true, "$0.30"},
		"ft:gpt-4o-2024-08-06:org:name:id":    {"ft:gpt-4o", "o200k_base", true, false, true, "$3.75"},
		"ft:gpt-3.5-turbo-0125:org::id":       {"ft:gpt-3.5-turbo-0125", "cl100k_base", true, false, true, "$3.00"},
		"openai/ft:gpt-4.1-2025-04-14:o::id":  {"ft:gpt-4.1", "o200k_base", true, false, true, "$3.00"},
		"ft:gpt-5-2030-01-01:org::id":         {"ft:gpt-5-2030-01-01:org::id", "o200k_base", true, true, false, "$0.00"},
		"codex-mini-2025":                     {"codex-mini-2025", "o200k_base", true, true, false, "$0.00"},
		"gpt-realtime-3":                      {"gpt-realtime-3", "o200k_base", true, false, false, "$0.00"},
		"gpt-35-turbo-0301":                   {"gpt-35-turbo-0301", "cl100k_base", true, false, false, "$0.00"},
		"davinci-002":                         {"davinci-002", "cl100k_base", true, false, true, "$2.00"},
		"davinci-002-ft":                      {"davinci-002-ft", "cl100k_base", true, false, false, "$0.00"},
		"ft:babbage-002:org::id":              {"ft:babbage-002", "cl100k_base", true, false, true, "$1.60"},
		"text-embedding-ada-002-v2":           {"text-embedding-ada-002-v2", "cl100k_base", true, false, false, "$0.00"},
		"text-davinci-003":                    {"text-davinci-003", "p50k_base", true, false, false, "$0.00"},
		"code-davinci-002":                    {"code-davinci-002", "p50k_base", true, false, false, "$0.00"},
		"text-davinci-001":                    {"text-davinci-001", "r50k_base", true, false, false, "$0.00"},
		"davinci":                             {"davinci", "r50k_base", true, false, false, "$0.00"},
		"gpt2":                                {"gpt2", "r50k_base", true, false, false, "$0.00"},
		"claude-x":                            {"claude-x", "o200k_base", false, false, false, "$0.00"},
		"anthropic/gpt-4o":                    {"anthropic/gpt-4o", "o200k_base", true, false, false, "$0.00"},
		"GPT-4o":                              {"GPT-4o", "o200k_base", false, false, false, "$0.00"},
		"o100":                                {"o100", "o200k_base", false, true, false, "$0.00"},
		"":                                    {"", "o200k_base", false, false, false, "$0.00"},
		"ft:":                                 {"ft:", "o200k_base", false, false, false, "$0.00"},
		"-2024-08-06":                         {"-2024-08-06", "o200k_base", false, false, false, "$0.00"},
		"gpt-4o-2024-8-6":                     {"gpt-4o-2024-8-6", "o200k_base", true, false, false, "$0.00"},
		"openai/azure/openai/text-embedding-": {"openai/azure/openai/text-embedding-", "o200k_base", false, false, false, "$0.00"},
	} {
		m := catalog(t).Model(asked)
		got := match{m.Name, m.Encoding, m.KnownEncoding, m.Reasoning, m.Priced, m.Price.Rates[cost.Input].String()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", asked, diff)
		}
	}
}

func TestModelLimits(t *testing.T) {
	for name, want := range map[string][4]int64{ // context, most output, default output, an image
		"gpt-4o":                 {144_384, 16_384, 4_096, 1_445},
		"gpt-4o-mini":            {144_384, 16_384, 4_096, 48_169},
		"gpt-5":                  {400_000, 128_000, 16_384, 1_190},
		"gpt-5.6":                {1_178_000, 128_000, 16_384, 12_000},
		"gpt-3.5-turbo":          {20_481, 4_096, 4_096, 0},
		"text-embedding-3-small": {8_191, 0, 0, 0},
		"gpt-5.9":                {0, 0, 16_384, 12_000},
		"llama-4":                {0, 0, 4_096, 0},
	} {
		m := catalog(t).Model(name)
		if got := [4]int64{m.Context, m.MaxOutput, m.DefaultOutput, m.ImageTokens}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestKnownModelsAreComplete(t *testing.T) {
	known := catalog(t).Known()
	if len(known) < 50 {
		t.Errorf("only %d models", len(known))
	}
	last := ""
	for _, m := range known {
		r := m.Price.Rates
		byUnit := r[cost.PerImage]+r[cost.PerSecond]+r[cost.PerCharacter] > 0
		free := strings.Contains(m.Name, "moderation")
		sized := !byUnit && !strings.Contains(m.Name, "-image") && !strings.HasSuffix(m.Name, "-tts")
		inputOnly := byUnit || free || strings.HasPrefix(m.Name, "text-embedding-")
		switch {
		case m.Name <= last:
			t.Errorf("%s comes after %s", m.Name, last)
		case !m.KnownEncoding || !m.Priced || m.Source != cost.Embedded || sized && m.Context == 0:
			t.Errorf("%s lacks a fact: %+v", m.Name, m)
		case !byUnit && !free && (r[cost.Input] <= 0 || !inputOnly && r[cost.Output] < r[cost.Input]):
			t.Errorf("%s has a doubtful price: %+v", m.Name, m.Price)
		case r[cost.CachedInput] > r[cost.Input] || r[cost.CacheWrite] < r[cost.Input]:
			t.Errorf("%s has doubtful cache prices: %+v", m.Name, m.Price)
		case r[cost.AudioInput] < r[cost.Input] || r[cost.AudioOutput] < r[cost.Output] || r[cost.ImageOutput] < r[cost.Output]:
			t.Errorf("%s has sound or pictures cheaper than text: %+v", m.Name, m.Price)
		case len(m.Price.Long) > 0 && m.Price.Long[0].Rates[cost.Input] <= r[cost.Input]:
			t.Errorf("%s is cheaper when long: %+v", m.Name, m.Price)
		case (m.DefaultOutput == 0) != inputOnly:
			t.Errorf("%s reserves %d", m.Name, m.DefaultOutput)
		}
		u := cost.Usage{Input: 300_000, CachedInput: 100_000, Output: 1000, Reasoning: 500}
		standard := m.Price.Cost(u)
		for tier, dearer := range map[cost.Tier]bool{cost.Batch: false, cost.Flex: false, cost.Priority: true, cost.OtherTier: true} {
			u.Tier = tier
			if got := m.Price.Cost(u); dearer && got < standard || !dearer && got > standard {
				t.Errorf("%s costs %v in tier %v and %v in the standard one", m.Name, got, tier, standard)
			}
		}
		if got := catalog(t).Model(m.Name); got.Name != m.Name {
			t.Errorf("%s is found as %s", m.Name, got.Name)
		}
		last = m.Name
	}
}
