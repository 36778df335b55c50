package cost_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

// with reads a price file into the embedded catalog.
func with(tb testing.TB, file string) *cost.Catalog {
	tb.Helper()
	c, err := catalog(tb).With([]byte(file))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func fixture(tb testing.TB) *cost.Catalog {
	tb.Helper()
	file, err := os.ReadFile("testdata/prices.json")
	if err != nil {
		tb.Fatal(err)
	}
	return with(tb, string(file))
}

func TestPriceFile(t *testing.T) {
	c := fixture(t)
	for _, want := range []struct {
		model string
		tier  cost.Tier
		input int64
		item  cost.Item
		price string
	}{
		{"gpt-5.6", cost.Standard, 1, cost.Input, "$5.00"},
		{"gpt-5.6", cost.Standard, 272_001, cost.CacheWrite, "$12.50"},
		{"gpt-5.6", cost.Flex, 1, cost.CachedInput, "$0.25"},
		{"gpt-5.6", cost.Priority, 1, cost.Output, "$60.00"},
		{"o4-mini", cost.Flex, 1, cost.CachedInput, "$0.1375"}, // 1.375e-07
		{"azure/gpt-4o", cost.Standard, 1, cost.Input, "$2.50"},
		{"azure/eu/gpt-4o-2024-08-06", cost.Standard, 1, cost.Input, "$2.75"},
		{"gpt-audio", cost.Standard, 1, cost.AudioInput, "$32.00"},
		{"gpt-audio", cost.Standard, 1, cost.AudioOutput, "$64.00"},
		{"gpt-realtime", cost.Standard, 1, cost.ImageInput, "$5.00"},
		{"gpt-image-1", cost.Standard, 1, cost.Output, "$40.00"},                   // nothing but pictures comes out
		{"dall-e-3", cost.Standard, 1, cost.PerImage, "$120000.00"},                // of whatever kind
		{"hd/1024-x-1792/dall-e-3", cost.Standard, 1, cost.PerImage, "$120000.00"}, // 1024 x 1792 x 6.539e-08, which was cut off
		{"whisper-1", cost.Standard, 1, cost.PerSecond, "$100.00"},                 // heard or made, not both
		{"tts-1", cost.Standard, 1, cost.PerCharacter, "$15.00"},
		{"dashscope/qwen-flash", cost.Standard, 256_000, cost.Input, "$0.05"},
		{"dashscope/qwen-flash", cost.Standard, 256_001, cost.Input, "$0.25"},
		{"dashscope/qwen-plus-2025-07-28", cost.Standard, 1, cost.Reasoning, "$4.00"},
		{"gemini/gemini-2.5-pro", cost.Standard, 200_001, cost.Output, "$15.00"},
		{"databricks/databricks-gemini-2-5-flash", cost.Standard, 1, cost.Input, "$0.30002"}, // 3.0001999999999996e-07, rounded up
		{"ft:gpt-4o-2024-11-20", cost.Standard, 1, cost.CacheWrite, "$3.75"},                 // the list has the price of reads there
		{"text-embedding-3-small", cost.Batch, 1, cost.Input, "$0.01"},
		{"xai/grok-4-fast-reasoning", cost.Standard, 128_001, cost.Input, "$0.40"},
		{"gpt-4.1", cost.Standard, 1, cost.Input, "$2.00"}, // not in the file
	} {
		m := c.Model(want.model)
		if got := m.Price.At(want.tier, want.input)[want.item].String(); got != want.price || !m.Priced {
			t.Errorf("%s, %v, %d tokens: %v is %s, want %s", want.model, want.tier, want.input, want.item, got, want.price)
		}
	}
	if m := c.Model("gpt-5.6"); m.Source != cost.FromFile || m.Context != 1_178_000 || m.MaxOutput != 128_000 || m.Encoding != "o200k_base" || !m.KnownEncoding || !m.Reasoning || m.Price.EU != 11_000 {
		t.Errorf("%+v", m)
	}
	if m := c.Model("gpt-4.1"); m.Source != cost.Embedded {
		t.Errorf("gpt-4.1 is from %v", m.Source)
	}
	if m := c.Model("xai/grok-4-fast-reasoning"); m.KnownEncoding || m.MaxOutput != 2_000_000 {
		t.Errorf("%+v", m)
	}
	if m := c.Model("text-embedding-3-small"); m.DefaultOutput != 0 {
		t.Errorf("an embedding reserves %d tokens of output", m.DefaultOutput)
	}
}

// What is not taken is listed with its reason, and has no price.
func TestSkippedEntries(t *testing.T) {
	c := fixture(t)
	want := map[string]string{
		"wandb/zai-org/GLM-4.5":     "input: $55000.00 for a million tokens is more than $5000.00",
		"tavily/search":             "input_cost_per_query",
		"github_copilot/gpt-4o":     "no price",
		"perplexity/pplx-7b-online": "every request",
		"perplexity/sonar":          "searches",
		"sora-2":                    "output_cost_per_video_per_second",
		"bedrock/*/1-month-commitment/cohere.command-text-v14": "input_cost_per_second",
	}
	for _, s := range c.Skipped() {
		says, ok := want[s.Name]
		if !ok || !strings.Contains(s.Reason, says) || s.Absurd != strings.HasPrefix(s.Name, "wandb/") {
			t.Errorf("%+v", s)
		}
		if c.Model(s.Name).Source == cost.FromFile {
			t.Errorf("%s has a price", s.Name)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("not skipped: %v", want)
	}
	if _, known := slices.BinarySearchFunc(c.Known(), "sample_spec", func(m cost.Model, name string) int { return strings.Compare(m.Name, name) }); known {
		t.Error("sample_spec is a model")
	}
}

func TestMistakesInPriceFiles(t *testing.T) {
	for file, says := range map[string]string{
		``:                       "JSON object",
		`[]`:                     "JSON object",
		`{} {}`:                  "follows",
		`{}`:                     "no model",
		`{"sample_spec":{}}`:     "no model",
		`{"last_updated":"now"}`: "no model",
		`{"gpt-4o":{"input_cost_per_token":2.5,"output_cost_per_token":10}}`:        "model gpt-4o: input: $2500000.00 for a million tokens is more than $5000.00: it must be in another unit (the file gives dollars for one unit",
		`{"gpt-4o":{"input_cost_per_token":-1e-6,"output_cost_per_token":1e-05}}`:   "negative",
		`{"gpt-4o":{"input_cost_per_token":2.5e-09,"output_cost_per_token":1e-08}}`: "model gpt-4o: input: $0.0025 for a million tokens, where $2.50 is known",
		`{"gpt-4o":{"input_cost_per_token":2.5e-06,"output_cost_per_token":1e-08}}`: "output: $0.01 for a million tokens, where $10.00 is known",
		`{"mine":{"input_cost_per_token":2.5,"output_cost_per_token":10}}`:          "1 of 1 prices cannot be meant, the first that of mine",
	} {
		if _, err := catalog(t).With([]byte(file)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
	c := with(t, `{"gpt-4o":{"input_cost_per_token":2.5e-06,"mode":"chat"},"text-embedding-3-small":{"input_cost_per_token":2e-08,"mode":"embedding"}}`)
	if m := c.Model("gpt-4o"); m.Source != cost.Embedded || m.DefaultOutput == 0 || !strings.Contains(m.Skipped, "none for output") {
		t.Errorf("an entry without a price for output: %+v", m)
	}
	if m := c.Model("text-embedding-3-small"); m.Source != cost.FromFile || m.DefaultOutput != 0 || m.Skipped != "" {
		t.Errorf("an entry of a model without output: %+v", m)
	}
	c = with(t, `{"a":{"input_cost_per_token":"cheap"},"b":{"input_cost_per_token":1e-999999999},"c":{"input_cost_per_token":1e-6,"output_cost_per_token":true},
		"d":{"tiered_pricing":[{}]},"e":{"input_cost_per_token":1e-06,"output_cost_per_token":1e-06,"max_input_tokens":"many","max_tokens":-1e30}}`)
	for i, says := range []string{"not a number", "exponent", "not a number", "range"} {
		if s := c.Skipped()[i]; !strings.Contains(s.Reason, says) {
			t.Errorf("%+v, want %q", s, says)
		}
	}
	if m := c.Model("e"); !m.Priced || m.Context != 0 || m.MaxOutput != 0 {
		t.Errorf("%+v", m)
	}
}

// The public list, the whole of it where it stands beside the repository and else the part in testdata: every model is
// priced or has a reason.
func TestThePublicListIsRead(t *testing.T) {
	file, err := os.ReadFile("../../shared/data/model_prices_and_context_window.json")
	whole := err == nil
	if !whole {
		if file, err = os.ReadFile("testdata/prices.json"); err != nil {
			t.Fatal(err)
		}
	}
	var entries map[string]any
	if err := json.Unmarshal(file, &entries); err != nil {
		t.Fatal(err)
	}
	for name := range entries {
		if _, isModel := entries[name].(map[string]any); !isModel || name == "sample_spec" || name == "fallback_generalizations" {
			delete(entries, name)
		}
	}
	c := with(t, string(file))
	fromFile, absurd := 0, 0
	for _, m := range c.Known() {
		if m.Source == cost.FromFile {
			fromFile++
		}
	}
	for _, s := range c.Skipped() {
		if s.Reason == "" {
			t.Errorf("%s is skipped for no reason", s.Name)
		}
		if s.Absurd {
			absurd++
		}
	}
	models, least := len(entries), len(entries)/2
	if whole {
		least = models * 9 / 10
		models++ // azure/dall-e-3, which has entries for its kinds of picture alone
	}
	if fromFile+len(c.Skipped()) != models || fromFile < least {
		t.Errorf("%d models have a price and %d are skipped, of %d", fromFile, len(c.Skipped()), models)
	}
	if input, output := c.Dearest().Dearest(); input != 150*dollar || output != 600*dollar {
		t.Errorf("the dearest model costs %v and %v", input, output)
	}
	t.Logf("%d priced, %d skipped, of these %d absurd", fromFile, len(c.Skipped()), absurd)
	// Our own list is the same, but for images that gpt-realtime-mini sees, which the public list prices for its dated names
	// only.
	for _, m := range catalog(t).Known() {
		public := c.Model(m.Name)
		if public.Source != cost.FromFile || m.Name == "gpt-realtime-mini" {
			continue
		}
		for _, tier := range []cost.Tier{cost.Batch, cost.Flex, cost.Standard, cost.Priority} {
			for _, input := range []int64{1, 300_000} {
				ours, theirs := m.Price.At(tier, input), public.Price.At(tier, input)
				if ours != theirs {
					t.Errorf("%s, %v, %d tokens:\nours   %v\nthe list %v", m.Name, tier, input, ours, theirs)
				}
			}
		}
		if diff := cmp.Diff(m.Price.Pictures, public.Price.Pictures); diff != "" {
			t.Errorf("%s: pictures in our list (-) and the public one (+)\n%s", m.Name, diff)
		}
		if m.Price.EU != public.Price.EU || m.Price.US != public.Price.US {
			t.Errorf("%s: regions %d %d, in the list %d %d", m.Name, m.Price.EU, m.Price.US, public.Price.EU, public.Price.US)
		}
	}
}

func FuzzPriceFile(f *testing.F) {
	for _, s := range []string{
		`{"a":{"input_cost_per_token":1e-6,"output_cost_per_token":2e-6,"input_cost_per_token_above_200k_tokens_priority":3e-6}}`,
		`{"64x64/p":{"mode":"image_generation","input_cost_per_pixel":1e-8}}`, `{"q":{"tiered_pricing":[{"range":[0,5],"input_cost_per_token":1e-6}]}}`,
	} {
		f.Add([]byte(s))
	}
	c := catalog(f)
	f.Fuzz(func(t *testing.T, file []byte) {
		read, err := c.With(file)
		if err != nil {
			return
		}
		for _, m := range read.Known() {
			if m.Source == cost.FromFile && m.Price.Cost(cost.Usage{Input: 1000, Output: 10}) > m.Price.Ceiling(cost.Bound{Input: 1000, Output: 10}) {
				t.Fatalf("%+v", m)
			}
		}
	})
}

// Files list tiers for the undated name of a model, and so does our own list; the dated one is the same model.
func TestDatedEntriesHaveTheTiersOfTheirModel(t *testing.T) {
	c := with(t, `{"gpt-4.1-2025-04-14":{"input_cost_per_token":2e-06,"output_cost_per_token":8e-06,"cache_read_input_token_cost":5e-07,"mode":"chat"},
		"o3":{"input_cost_per_token":2e-06,"output_cost_per_token":8e-06,"cache_read_input_token_cost":5e-07,"mode":"chat"},
		"gpt-4o-2024-05-13":{"input_cost_per_token":5e-06,"output_cost_per_token":1.5e-05,"output_cost_per_token_priority":5e-05,"mode":"chat"},
		"o4-mini-2025-04-16":{"input_cost_per_token":1e-06,"output_cost_per_token":4e-06,"mode":"chat"}}`)
	for name, want := range map[string][3]string{ // output in the flex, batch and priority tiers
		"gpt-4.1-2025-04-14": {"", "$4.00", "$14.00"},
		"o3":                 {"$4.00", "", "$14.00"},
		"gpt-4o-2024-05-13":  {"", "$7.50", "$50.00"}, // what it says itself goes before
		"o4-mini-2025-04-16": {"", "", ""},            // another price
	} {
		p := c.Model(name).Price
		for i, tier := range []*cost.Schedule{p.Flex, p.Batch, p.Priority} {
			got := ""
			if tier != nil {
				got = tier.Rates[cost.Output].String()
			}
			if got != want[i] {
				t.Errorf("%s, tier %d: %q, want %q", name, i, got, want[i])
			}
		}
	}
}
