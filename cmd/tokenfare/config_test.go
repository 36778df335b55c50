package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

const testHash = "sha256:abababababababababababababababababababababababababababababababab"

// parseConfig is loadConfig for a text that is not a file. name stands for it in messages.
func parseConfig(name string, text []byte) (*Config, error) {
	var out problems
	s := &source{name: name, dir: "."}
	s.parse(text, &out)
	c := loadSource(s, &out)
	if err := out.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// parseTest loads a text that must be without mistakes.
func parseTest(t *testing.T, text string) *Config {
	t.Helper()
	c, err := parseConfig("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compileTest(t *testing.T, c *Config) (proxy.Spec, []string) {
	t.Helper()
	spec, warnings, err := c.compile()
	if err != nil {
		t.Fatal(err)
	}
	return spec, warnings
}

func TestExampleConfigLoads(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-example")
	c, err := loadConfig("../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := compileTest(t, c)
	if len(spec.Keys) != 3 || len(spec.Groups) != 2 || len(spec.Upstreams) != 2 || len(spec.Models) != 4 {
		t.Errorf("keys %d, groups %d, upstreams %d, models %d", len(spec.Keys), len(spec.Groups), len(spec.Upstreams), len(spec.Models))
	}
	if spec.Upstreams[0].Key != "sk-example" {
		t.Error("variables are not expanded")
	}
	if c.Help != "Ask in #ai-platform." || spec.Zone.String() != "Europe/Berlin" {
		t.Errorf("help %q, zone %v", c.Help, spec.Zone)
	}
	// What the file calls defaults are the defaults.
	d := defaultConfig()
	if diff := cmp.Diff(d.Timeouts, c.Timeouts); diff != "" {
		t.Errorf("timeouts (-default +example):\n%s", diff)
	}
	if c.MaxBody != d.MaxBody || c.MaxBuffered != d.MaxBuffered || c.Listen != d.Listen || c.Admin.Listen != d.Admin.Listen || c.Store != d.Store {
		t.Error("the example differs from the defaults it shows")
	}
}

func TestEverySettingArrives(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("token", "the-token-of-the-admin\n")
	write("openai.key", "sk-from-a-file\r\n")
	write("keys.d/b.yaml", "keys:\n  bob: { hash: \""+strings.ReplaceAll(testHash, "ab", "cd")+"\", plan: small }\nmodels:\n  extra: { upstream: openai }\n  pooled: { model: small, upstreams: [other, { upstream: openai, model: tiny, weight: 3, priority: 2, price: { input: 0, output: 0 }, output_member: max_tokens, context_tokens: 8k, max_output_tokens: 2_000 }] }\n")
	write("keys.d/a.yaml", "plans:\n  small: $1 each day\ngroups:\n  more: { groups: [pool], limits: $9 each day }\n")
	write("config.yaml", `
listen: ":443"
admin: { listen: "0.0.0.0:9", token_file: token }
timezone: America/New_York
help: |
  Ask
  us.
include: [keys.d/*.yaml, "none-of-these-*.yaml"]
upstreams:
  openai: { url: "https://example.com/v1/", key_file: openai.key, usage: never, limits: 5 requests per second }
  other: { url: "http://localhost:1", auth: api-key, query: { api-version: preview }, headers: { forward: [X-Team, User-Agent], set: { OpenAI-Project: proj_1 } } }
models:
  fast: { upstream: other, model: big, counts_as: gpt-5, output_member: max_tokens, default_output_tokens: 8k, max_output_tokens: 16_000,
    context_tokens: 1m, image_tokens: 85, ratio: 1.2, reasoning: true, price: { input: $1.25, cached_input: 0.125, cache_write: $1.5, output: $10 },
    tools: { web_search: $0.02, mcp: 0, code_interpreter: { session: $0.03, call: 0.001 } } }
plans:
  team: { limits: [60 requests in any minute] }
keys:
  alice: { hash: ["`+testHash+`"], plan: team, limits: "$2 each day, until 2027-01-31", extra: +$3 until 2027-01-15, models: ["gpt-*", fast], expires: 2027-01-31, disabled: true, too_long_as: context_length_exceeded, output: fit }
groups:
  pool: { keys: ["*"], limits: ["$5 each month"] }
store: { url: memory }
timeouts: { headers: 1m, idle: 2m, draw: 20s, drain: 3m, request_header: 4s, request_body: 5s, shutdown_delay: 6s }
max_body: 1MiB
max_buffered: 1.5GB
`)
	c, err := loadConfig(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := compileTest(t, c)
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	sentence := func(s string) limit.Limit {
		l, err := limit.Parse(s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	hash := func(b byte) (h [32]byte) {
		for i := range h {
			h[i] = b
		}
		return h
	}
	yes := true
	usd := cost.NanoUSD(1_000_000_000)
	want := proxy.Spec{
		Zone: zone, Help: "Ask us.",
		Upstreams: []proxy.UpstreamSpec{
			{Name: "openai", URL: "https://example.com/v1", Key: "sk-from-a-file", Usage: "never", Limits: []limit.Limit{sentence("5 requests per second")}, HeaderTimeout: time.Minute},
			{Name: "other", URL: "http://localhost:1", Auth: "api-key", Query: map[string]string{"api-version": "preview"}, Usage: "inject", HeaderTimeout: time.Minute, Forward: []string{"X-Team", "User-Agent"}, Set: map[string]string{"OpenAI-Project": "proj_1"}},
		},
		Models: []proxy.ModelSpec{
			{
				Pattern: "fast", Upstream: "other", As: "big", CountsAs: "gpt-5", OutputMember: "max_tokens", DefaultOutput: 8000, MaxOutput: 16000, Context: 1_000_000, ImageTokens: 85, Ratio: 1_200,
				Reasoning: &yes, Price: &cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{
					cost.Input: usd * 5 / 4, cost.CachedInput: usd / 8, cost.CacheWrite: usd * 3 / 2,
					cost.AudioInput: usd * 5 / 4, cost.CachedAudioInput: usd * 5 / 4, cost.ImageInput: usd * 5 / 4, cost.CachedImageInput: usd * 5 / 4,
					cost.Output: 10 * usd, cost.Reasoning: 10 * usd, cost.AudioOutput: 10 * usd, cost.ImageOutput: 10 * usd,
				}}},
				Fees: map[string]cost.Fee{"web_search": {Call: usd / 50}, "mcp": {}, "code_interpreter": {Session: usd * 3 / 100, Call: usd / 1000}},
			},
			{Pattern: "extra", Upstream: "openai"},
			{Pattern: "pooled", As: "small", Pool: []proxy.PoolSpec{
				{Upstream: "other", As: "small"}, {Upstream: "openai", As: "tiny", OutputMember: "max_tokens", MaxOutput: 2000, Context: 8000, Weight: 3, Priority: 2, Price: &cost.Price{}},
			}},
		},
		Keys: []proxy.KeySpec{
			{
				Name: "alice", Hashes: [][32]byte{hash(0xab)}, Limits: []limit.Limit{sentence("60 requests in any minute"), sentence("$2 each day, until 2027-01-31")},
				Extra:  []limit.Extra{{Text: "+$3 until 2027-01-15", Amount: 3 * int64(usd), Unit: limit.Dollars, Until: time.Date(2027, 1, 15, 0, 0, 0, 0, zone)}},
				Models: []string{"gpt-*", "fast"}, Expires: time.Date(2027, 1, 31, 0, 0, 0, 0, zone), Disabled: true, TooLongAs: "context_length_exceeded", Output: proxy.FitOutput,
			},
			{Name: "bob", Hashes: [][32]byte{hash(0xcd)}, Limits: []limit.Limit{sentence("$1 each day")}},
		},
		Groups: []proxy.GroupSpec{
			{Name: "pool", Keys: []string{"*"}, Limits: []limit.Limit{sentence("$5 each month")}},
			{Name: "more", Groups: []string{"pool"}, Limits: []limit.Limit{sentence("$9 each day")}},
		},
	}
	if diff := cmp.Diff(want, spec, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
	if c.Listen != ":443" || c.Admin != (AdminConfig{Listen: "0.0.0.0:9", Token: "the-token-of-the-admin"}) || c.MaxBody != 1<<20 || c.MaxBuffered != 1_500_000_000 {
		t.Errorf("listen %q, admin %q, max_body %d, max_buffered %d", c.Listen, c.Admin.Listen, c.MaxBody, c.MaxBuffered)
	}
	if diff := cmp.Diff(TimeoutsConfig{time.Minute, 2 * time.Minute, 20 * time.Second, 3 * time.Minute, 4 * time.Second, 5 * time.Second, 6 * time.Second}, c.Timeouts); diff != "" {
		t.Errorf("timeouts:\n%s", diff)
	}
	for _, f := range []string{"config.yaml", "token", "openai.key", "keys.d/*.yaml"} {
		if !strings.Contains(strings.Join(c.watched, "\n")+"\n", filepath.Join(dir, f)+"\n") {
			t.Errorf("%s is not watched: %q", f, c.watched)
		}
	}
}

func TestAPriceOfZeroIsFreeAndOneThatIsAbsentIsThatOfInput(t *testing.T) {
	spec, _ := compileTest(t, parseTest(t, `
upstreams: { local: { url: "http://localhost:1" } }
models:
  free: { price: { input: $1, cached_input: $0, cache_write: 0, output: $0 } }
  same: { price: { input: $1, output: $2 } }
`))
	const usd = cost.NanoUSD(1_000_000_000)
	free := cost.Rates{cost.Input: usd, cost.AudioInput: usd, cost.CachedAudioInput: usd, cost.ImageInput: usd, cost.CachedImageInput: usd}
	same := cost.Rates{
		cost.Input: usd, cost.CachedInput: usd, cost.CacheWrite: usd, cost.AudioInput: usd, cost.CachedAudioInput: usd, cost.ImageInput: usd, cost.CachedImageInput: usd,
		cost.Output: 2 * usd, cost.Reasoning: 2 * usd, cost.AudioOutput: 2 * usd, cost.ImageOutput: 2 * usd,
	}
	if diff := cmp.Diff([]cost.Rates{free, same}, []cost.Rates{spec.Models[0].Price.Rates, spec.Models[1].Price.Rates}); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
}

func TestVariablesCannotChangeTheShapeOfTheFile(t *testing.T) {
	t.Setenv("TOKENFARE_TEST_HELP", "a\", listen: \":80\"\nkeys: { eve: { limits: none } } # ${TOKENFARE_TEST_HELP}")
	c := parseTest(t, "help: ${TOKENFARE_TEST_HELP}\nupstreams: { local: { url: \"http://localhost:1\" } }\n")
	if c.Listen != "127.0.0.1:8080" || len(c.Keys) != 0 {
		t.Errorf("listen %q, %d keys", c.Listen, len(c.Keys))
	}
	if want := `a", listen: ":80" keys: { eve: { limits: none } } # ${TOKENFARE_TEST_HELP}`; c.Help != want {
		t.Errorf("help is %q, want %q", c.Help, want)
	}
}

func TestOneUpstreamWithoutModelsServesEverything(t *testing.T) {
	spec, _ := compileTest(t, parseTest(t, "upstreams: { local: { url: \"http://localhost:1\" } }\n"))
	if diff := cmp.Diff([]proxy.ModelSpec{{Pattern: "*", Upstream: "local"}}, spec.Models); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutKeysEveryCallIsRefusedAndItIsSaid(t *testing.T) {
	spec, warnings := compileTest(t, parseTest(t, "upstreams: { local: { url: \"http://localhost:1\" } }\n"))
	if len(spec.Keys) != 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "401") || !strings.Contains(warnings[0], "tokenfare keys new alice -w config.yaml") {
		t.Errorf("%d keys, warnings %q", len(spec.Keys), warnings)
	}
}

func TestModelNamesThatLeadNowhereAreWarnedOf(t *testing.T) {
	_, warnings := compileTest(t, parseTest(t, `
upstreams: { local: { url: "http://localhost:1" } }
models:
  "gpt-5*": {}
  fast: { counts_as: gpt-5-mnii }
  slow: { counts_as: gpt-5-mnii, price: { input: $1, output: $2 } }
keys:
  alice: { hash: "`+testHash+`", limits: none, models: [gpt-5-mini, "*-mini", fast, fats, gpt-4o, "claude-*"] }
`))
	want := []string{
		`key alice: "fats" in its models is no configured model, so every call for it is refused: did you mean fast?`,
		`key alice: "gpt-4o" in its models is no configured model, so every call for it is refused: the names there are: fast, gpt-5*, slow`,
		`key alice: "claude-*" in its models is no configured model, so every call for it is refused: the names there are: fast, gpt-5*, slow`,
		`model fast counts as gpt-5-mnii, whose price is not known: did you mean gpt-5-mini?`,
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestAnchorsMayRepeatAValue(t *testing.T) {
	c := parseTest(t, "upstreams: { local: { url: \"http://localhost:1\" } }\nplans:\n  a: &same [\"$5 each day\"]\n  b: *same\n")
	if len(c.Plans) != 2 || len(c.Plans[1].Limits) != 1 {
		t.Errorf("%+v", c.Plans)
	}
}

func TestWarnings(t *testing.T) {
	c := parseTest(t, `
ledger: none
upstreams:
  openai: { url: https://api.openai.com/v1, limits: [100k tokens per minute] }
models:
  big: { context_tokens: 400k, default_output_tokens: 16k, price: { input: $1, output: $10 } }
  small: { context_tokens: 8k, default_output_tokens: 4k, price: { input: $1, output: $10 } }
  mystery: {}
plans:
  team: [200k tokens per minute, "$0.50 each month", "$9 each day, until 2020-01-01"]
keys:
  alice: { hash: "`+testHash+`", plan: team, models: [big], extra: [+$1 each month until 2020-01-01, +$2 each month until 2099-01-01] }
  bob: { hash: "`+strings.ReplaceAll(testHash, "ab", "01")+`", plan: team, models: [big, mystery] }
  carol: { hash: "`+strings.ReplaceAll(testHash, "ab", "23")+`", limits: [20k input tokens in any minute, 4k output tokens per request], models: [small], expires: 2020-01-31 }
`)
	got := c.warnings(catalogTest(t), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	golden(t, "testdata/config/warnings.txt", strings.Join(got, "\n")+"\n")
}

func catalogTest(t *testing.T) *cost.Catalog {
	t.Helper()
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// FuzzConfig: no text panics, what loads can be served, and no error shows the key that stands in it.
func FuzzConfig(f *testing.F) {
	files, err := filepath.Glob("testdata/config/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "include") || strings.Contains(text, "file") || strings.Contains(text, "cert") {
			return // stays away from the disk
		}
		c, err := parseConfig("config.yaml", []byte(text))
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		spec, _, err := c.compile()
		if err != nil {
			t.Fatalf("loads, but does not compile: %v", err)
		}
		if _, err := proxy.NewPolicy(spec, limiter.NewMemory(), catalogTest(t)); err != nil {
			t.Fatalf("loads, but the proxy refuses it: %v", err)
		}
	})
}

func TestDefaultOutputIsCompiled(t *testing.T) {
	for word, learned := range map[string]bool{"fixed": false, "learned": true} {
		for _, models := range []string{"", "models: { gpt-5.4: {}, \"*\": {} }\n"} {
			spec, _ := compileTest(t, parseTest(t, "default_output: "+word+"\nupstreams: { up: { url: \"http://127.0.0.1:1/v1\" } }\n"+models))
			for _, m := range spec.Models {
				if m.LearnOutput != learned {
					t.Errorf("%s, %s: %+v", word, models, m)
				}
			}
			if len(spec.Models) == 0 {
				t.Errorf("%s: no models", word)
			}
		}
	}
}
