package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost"
)

// printed runs `tokenfare prices`.
func printed(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = dispatch(t.Context(), append([]string{"prices"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// priceFiles writes a configuration with a price file beside it, and returns its path.
func priceFiles(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prices.json": `{"sample_spec": {}, "last_updated": "today",
			"gpt-4o": {"input_cost_per_token": 1.375e-07, "output_cost_per_token": 1e-05, "max_input_tokens": 128000, "max_output_tokens": 16384, "mode": "chat"},
			"vendor/small": {"input_cost_per_token": 1e-07, "output_cost_per_token": 2e-07, "mode": "chat"},
			"vendor/search": {"input_cost_per_query": 0.01, "mode": "search"}}`,
		"config.yaml": "prices: prices.json\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\n" + more,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

// The configuration goes before the price file, and that before the built-in list.
func TestWherePricesAreFrom(t *testing.T) {
	config := priceFiles(t, `
models:
  "*": {}
  "vendor/*": {}
  mine: { price: { input: $3, output: $9 } }
  renamed: { model: gpt-4o }
`)
	for model, want := range map[string]string{
		"gpt-4o":       "file $0.1375",
		"renamed":      "file $0.1375",
		"vendor/small": "file $0.10",
		"gpt-4.1":      "embedded $2.00",
		"mine":         "config $3.00",
		"unheard-of":   "none -",
	} {
		code, out, errs := printed(t, "-config", config, "-json", model)
		var line struct {
			Model, Source string
			Priced        bool
			Price         map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(out), &line); code != 0 || err != nil {
			t.Fatalf("%s: %d %v %s%s", model, code, err, out, errs)
		}
		got := line.Source + " -"
		if line.Priced {
			got = line.Source + " $" + string(line.Price["input"])
		}
		if got != want || line.Model != model {
			t.Errorf("%s: %s %s, want %s", model, line.Model, got, want)
		}
	}
	if code, out, _ := printed(t, "-config", config); code != 0 || !strings.Contains(out, "vendor/small") || !strings.Contains(out, "gpt-5.6-luna") || strings.Contains(out, "vendor/search") {
		t.Errorf("%d\n%s", code, out)
	}
	if code, _, says := printed(t, "-skipped"); code != 2 || !strings.Contains(says, "no price file is configured") {
		t.Errorf("nothing to be skipped: %d, %s", code, says)
	}
	if code, out, _ := printed(t, "-config", config, "-skipped"); code != 0 || out != "vendor/search: it is priced by what is not metered here: input_cost_per_query\n" {
		t.Errorf("%d %q", code, out)
	}
	if c, err := loadConfig(config); err != nil || !strings.Contains(strings.Join(c.watched, " "), "prices.json") {
		t.Errorf("the price file is not watched: %v, %v", c.watched, err)
	}
}

func TestPricesOfTheBuiltInList(t *testing.T) {
	code, out, _ := printed(t, "gpt-4o*")
	if code != 0 || strings.Count(out, "\n") < 10 || !strings.HasPrefix(out, "MODEL ") || strings.Contains(out, "gpt-5") {
		t.Errorf("%d\n%s", code, out)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "gpt-4o" {
			if want := "gpt-4o $2.50 $1.25 $2.50 $10.00 embedded batch, priority, tools"; strings.Join(fields, " ") != want {
				t.Errorf("%q, want %q", strings.Join(fields, " "), want)
			}
		}
	}
	code, out, _ = printed(t, "gpt-5.6", "whisper-1", "tts-1", "dall-e-3", "nobody's")
	for _, says := range []string{"above 272k", "tools: code_interpreter $0.03 a session, file_search $0.0025 a call,", "pictures: standard/1024x1024 $0.04,", "$37.50", "regions: eu x 1.1, us x 1.1", "$0.0001", "$0.000015", "nobody's: no price is known"} {
		if code != 0 || !strings.Contains(out, says) {
			t.Errorf("%d, no %q in\n%s", code, says, out)
		}
	}
	if code, _, errs := printed(t, "nothing*"); code != 1 || !strings.Contains(errs, "no model matches") {
		t.Errorf("%d %s", code, errs)
	}
	config := priceFiles(t, "models: { mine: { price: { input: $1, output: $1 } } }\n")
	if code, _, errs := printed(t, "-config", config, "gpt-4o"); code != 1 || !strings.Contains(errs, "add it under models") {
		t.Errorf("%d %s", code, errs)
	}
	if code, out, _ := printed(t, "--help"); code != 0 || !strings.Contains(out, "where each price is from") {
		t.Errorf("%d %s", code, out)
	}
}

// What -json prints of a price is what a configuration can say.
func TestThePriceInJSONIsThatOfAConfiguration(t *testing.T) {
	for _, m := range catalogTest(t).Known() {
		_, out, _ := printed(t, "-json", m.Name)
		var line struct{ Price, Tools json.RawMessage }
		if err := json.Unmarshal([]byte(out), &line); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		spec, _ := compileTest(t, parseTest(t, "upstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\nmodels: { again: { price: "+string(line.Price)+", tools: "+string(line.Tools)+" } }\n"))
		again := *spec.Models[0].Price
		if diff := cmp.Diff(m.Fees, spec.Models[0].Fees, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: fees (-want +got):\n%s", m.Name, diff)
		}
		if diff := cmp.Diff(m.Price.Pictures, again.Pictures); diff != "" {
			t.Errorf("%s: pictures (-want +got):\n%s", m.Name, diff)
		}
		for _, u := range []cost.Usage{{Input: 1000, CachedInput: 300, Output: 77}, {Input: 300_001, CacheWrite: 7, Output: 3, Reasoning: 2}, {Images: 3, Milliseconds: 1234, Characters: 99}} {
			for _, u.Tier = range []cost.Tier{cost.Batch, cost.Flex, cost.Standard, cost.Priority} {
				if got, want := again.Cost(u), m.Price.Cost(u); got != want {
					t.Errorf("%s, %+v: %v, want %v", m.Name, u, got, want)
				}
			}
		}
	}
}

// What the configuration says of a tool goes before what is known of it, for that model alone.
func TestFeesOfAConfiguration(t *testing.T) {
	config := priceFiles(t, `
models:
  gpt-5: {}
  gpt-4.1: { tools: { web_search: $0.02, mcp: $0, code_interpreter: { call: $0.001, session: $0.06 } } }
  mine: { price: { input: $3, output: $9 }, tools: { shell: { session: $0.5 } } }
`)
	for model, want := range map[string]string{
		"gpt-5":   "code_interpreter $0.03 a session, file_search $0.0025 a call, web_search $0.01 a call",
		"gpt-4.1": "code_interpreter $0.001 a call and $0.06 a session, file_search $0.0025 a call, mcp $0.00 a call, web_search $0.02 a call",
		"mine":    "tools: shell $0.50 a session\n",
	} {
		if code, out, errs := printed(t, "-config", config, model); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: %d, no %q in\n%s%s", model, code, want, out, errs)
		}
	}
	if code, out, _ := printed(t, "-config", config, "-json", "gpt-4.1"); code != 0 || !strings.Contains(out, `"code_interpreter":{"call":0.001,"session":0.06},"file_search":0.0025,"mcp":0.00,`) {
		t.Errorf("%d %s", code, out)
	}
}

func TestUnpricedIsCompiled(t *testing.T) {
	for word, source := range map[string]string{"refuse": "none", "dearest": "unpriced", "free": "unpriced"} {
		c := parseTest(t, "unpriced: "+word+"\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\nkeys: { a: { hash: \""+testHash+"\", limits: [\"$5 each day\"] } }\nmodels: { house-llm: {} }\n")
		models, err := c.priced([]string{"house-llm"})
		if err != nil || models[0].Source.String() != source {
			t.Errorf("%s: %+v, %v", word, models, err)
		}
		_, warnings := compileTest(t, c)
		warned := strings.Contains(strings.Join(warnings, "\n"), "model house-llm has no known price")
		if warned != (word == "refuse") {
			t.Errorf("%s: %q", word, warnings)
		}
	}
}

func TestAnUpstreamsTermsAreCompiled(t *testing.T) {
	c := parseTest(t, "upstreams: { up: { url: \"http://127.0.0.1:1/v1\", region: eu, service_tier: priority } }\n")
	models, err := c.priced([]string{"gpt-5.6"})
	if err != nil || models[0].Price.Uplift != 11_000 || models[0].Price.Asked != cost.Priority {
		t.Errorf("%+v, %v", models, err)
	}
	if got := models[0].Price.Ceiling(cost.Bound{Output: 1_000_000}).String(); got != "$66.00" { // $60 x 1.1
		t.Errorf("a million tokens of output reserve %s", got)
	}
}

// Where a price file's entry is not followed, whoever looks at the price or the configuration is told.
func TestEntriesThatAreNotFollowedAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prices.json": `{"gpt-4o":{"input_cost_per_token":2.5e-06,"mode":"chat"},"mine":{"input_cost_per_query":1}}`,
		"config.yaml": `prices: prices.json
upstreams: { up: { url: "http://127.0.0.1:1/v1" } }
models: { gpt-4o: { upstream: up }, mine: { upstream: up }, gpt-4.1: { upstream: up } }
keys: { alice: { hash: "sha256:` + strings.Repeat("ab", 32) + `", limits: ["$5 each month"] } }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "config.yaml")
	for model, want := range map[string]string{"gpt-4o": "(embedded)\n  The price file has it, and was not followed: it has a price for input and none for output", "mine": "not metered here: input_cost_per_query"} {
		if code, out, _ := printed(t, "-config", config, model); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: %d\n%s", model, code, out)
		}
	}
	c, err := loadConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := c.priceList()
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(c.warnings(catalog, time.Now()), "\n")
	for _, says := range []string{"model gpt-4o: the price file has it, and was not followed: it has a price for input", "model mine: the price file has it, and was not followed: it is priced by"} {
		if !strings.Contains(warnings, says) {
			t.Errorf("no warning says %q:\n%s", says, warnings)
		}
	}
	if strings.Contains(warnings, "gpt-4.1: the price file") {
		t.Errorf("a model that the file does not have is warned of:\n%s", warnings)
	}
}
