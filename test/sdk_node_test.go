package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// nodeSeen is what node/driver.mjs prints.
type nodeSeen struct {
	Text           string
	Usage          int64
	RequestID      string
	Chunks         int
	WithoutChoices int
	Left           int64 // unix milliseconds
	Names          []string
	Budgets        []budgetSeen
	Call           struct{ Name, Arguments string }
	Error          *struct {
		Class, Code, Type, Message string
		Status                     int
	}
	Tries []struct {
		At, Ended int64
		Status    int
		MS        int64
	}
}

func (s nodeSeen) statuses() []int {
	var out []int
	for _, t := range s.Tries {
		out = append(out, t.Status)
	}
	return out
}

// TestNodeSDK drives the proxy with the official client for Node. It runs under TOKENFARE_TEST=all only: it needs Node
// and the packages that the README's test command installs, and fails when they are missing.
func TestNodeSDK(t *testing.T) {
	if os.Getenv("TOKENFARE_TEST") != "all" {
		t.Log("not run: set TOKENFARE_TEST=all after npm ci in test/node, as test/all.sh does")
		return
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("node", "node_modules", "openai")); err != nil {
		t.Fatalf("%v: run npm ci in test/node", err)
	}
	t.Run("plain", nodePlain)
	t.Run("stream", nodeStream)
	t.Run("tools", nodeTools)
	t.Run("abort", nodeAbort)
	t.Run("errors", nodeErrors)
	t.Run("retry", nodeRetry)
	t.Run("models", nodeModels)
	t.Run("usage", nodeUsage)
}

// node runs one scenario.
func node(t *testing.T, p *harness.Program, key, scenario, model string) nodeSeen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "driver.mjs", scenario, model)
	cmd.Dir = "node"
	cmd.Env = append(os.Environ(), "BASE_URL="+p.URL+"/v1", "API_KEY="+key)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node driver.mjs %s: %v\n%s", scenario, err, stderr.String())
	}
	var seen nodeSeen
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("node driver.mjs %s printed %q: %v", scenario, out, err)
	}
	return seen
}

func nodePlain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(7)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	seen := node(t, p, harness.Alice, "plain", model)
	if seen.Error != nil || seen.Text != strings.Join(words(7), "") || seen.RequestID == "" {
		t.Errorf("saw %+v", seen)
	}
	if left := p.Remaining(t, "alice"); left != 100_000-seen.Usage {
		t.Errorf("%d tokens left of 100000 after using %d", left, seen.Usage)
	}
}

func nodeStream(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	for scenario, withoutChoices := range map[string]int{"stream": 0, "streamWithUsage": 1} {
		seen := node(t, p, harness.Alice, scenario, model)
		if seen.Error != nil || seen.Text != strings.Join(words(20), "") || seen.WithoutChoices != withoutChoices {
			t.Errorf("%s: saw %+v", scenario, seen)
		}
		if want := int64(withoutChoices) * (up.Last(t).Prompt + 20); seen.Usage != want {
			t.Errorf("%s: usage %d, want %d", scenario, seen.Usage, want)
		}
	}
}

func nodeTools(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Next(model, fakeopenai.Answer{Tools: []fakeopenai.ToolCall{{ID: "call_1", Name: "jump", Arguments: `{"over":"dog"}`}}}, fakeopenai.Answer{Text: []string{"Done."}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	seen := node(t, p, harness.Alice, "tools", model)
	if seen.Error != nil || seen.Call.Arguments != `{"over":"dog"}` || seen.Text != "Done." {
		t.Errorf("saw %+v", seen)
	}
}

func nodeAbort(t *testing.T) {
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(50), Pause: fakeopenai.Forever(), PauseAt: 15})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	seen := node(t, p, harness.Alice, "abort", model)
	if seen.Error != nil || seen.Chunks != 10 {
		t.Errorf("saw %+v", seen)
	}
	up.Last(t).WantCancelled(t, time.UnixMilli(seen.Left), promptly())
	p.WantIdle(t)
}

func nodeErrors(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	up.Always("gpt-4o", fakeopenai.Answer{Status: 400, Body: fakeopenai.ErrorBody("Invalid value.", "invalid_request_error", "invalid_value")})
	for _, c := range []struct {
		name, key, model, limit string
		before                  int
		class, code             string
		tries                   []int
	}{
		{"unknown key", harness.Stranger, model, "100k tokens in total", 0, "AuthenticationError", "invalid_api_key", []int{401}},
		{"unknown model", harness.Alice, "claude", "100k tokens in total", 0, "NotFoundError", "model_not_found", []int{404}},
		{"refused upstream", harness.Alice, "gpt-4o", "100k tokens in total", 0, "BadRequestError", "invalid_value", []int{400}},
		{"never fits", harness.Alice, model, "50 tokens in any minute", 0, "BadRequestError", "request_exceeds_budget", []int{400}},
		{"used up", harness.Alice, model, "130 tokens in total", 1, "RateLimitError", "insufficient_quota", []int{429}},
		{"a wait of more than a minute", harness.Alice, model, "130 tokens in any hour", 1, "RateLimitError", "rate_limit_exceeded", []int{429}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{c.limit}})
			for range c.before {
				p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
			}
			seen := node(t, p, c.key, "plain", c.model)
			if seen.Error == nil || seen.Error.Class != c.class || seen.Error.Code != c.code {
				t.Errorf("error %+v, want %s %s", seen.Error, c.class, c.code)
			}
			if diff := cmp.Diff(c.tries, seen.statuses()); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
		})
	}
}

func nodeRetry(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"130 tokens in any 4 seconds"}})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	seen := node(t, p, harness.Alice, "plain", model)
	if diff := cmp.Diff([]int{429, 200}, seen.statuses()); diff != "" || seen.Error != nil {
		t.Fatalf("statuses (-want +got):\n%s\n%+v", diff, seen.Error)
	}
	refused, retried := seen.Tries[0], seen.Tries[1]
	if waited := retried.At - refused.Ended; waited < refused.MS-5 {
		t.Errorf("the client retried after %d ms, told %d", waited, refused.MS)
	}
}

func nodeModels(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, AliceExtra: "models: [gpt-4o]"})
	if seen := node(t, p, harness.Alice, "models", model); !cmp.Equal([]string{"gpt-4o"}, seen.Names) {
		t.Errorf("saw %+v", seen)
	}
}

func nodeUsage(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total", "$5 each month"}})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	seen := node(t, p, harness.Alice, "usage", model)
	if seen.Error != nil {
		t.Fatalf("error %+v", seen.Error)
	}
	wantBudgets(t, seen.Budgets, up.Last(t).Prompt+100)
	if refused := node(t, p, harness.Stranger, "usage", model); refused.Error == nil || refused.Error.Class != "AuthenticationError" {
		t.Errorf("a stranger saw %+v", refused)
	}
}
