package test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// try is one HTTP exchange that openai-go made on its own account.
type try struct {
	at     time.Time
	status int
	header http.Header
}

// openaiGo is the official client pointed at the proxy, and the exchanges it makes.
type openaiGo struct {
	openai.Client
	mu    sync.Mutex
	tries []try
}

func newOpenAIGo(p *harness.Program, key string) *openaiGo {
	c := &openaiGo{}
	c.Client = openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(p.URL+"/v1"),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			at := time.Now()
			resp, err := next(r)
			if err == nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.tries = append(c.tries, try{at, resp.StatusCode, resp.Header})
			}
			return resp, err
		}))
	return c
}

func (c *openaiGo) statuses() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []int
	for _, try := range c.tries {
		out = append(out, try.status)
	}
	return out
}

func openaiGoParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:               model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		MaxCompletionTokens: openai.Int(100),
	}
}

func TestOpenAIGoPlain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: []string{"Over the lazy dog."}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	got, err := newOpenAIGo(p, harness.Alice).Chat.Completions.New(t.Context(), openaiGoParams())
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Choices[0].Message.Content; text != "Over the lazy dog." {
		t.Errorf("content %q", text)
	}
	if left := p.Remaining(t, "alice"); left != 100_000-got.Usage.TotalTokens {
		t.Errorf("%d tokens left of 100000 after using %d", left, got.Usage.TotalTokens)
	}
}

func TestOpenAIGoStream(t *testing.T) {
	for _, usage := range []bool{false, true} {
		t.Run("include_usage="+strconv.FormatBool(usage), func(t *testing.T) {
			up := fakeopenai.New(t)
			up.Always(model, fakeopenai.Answer{Text: words(20)})
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

			params := openaiGoParams()
			if usage {
				params.StreamOptions.IncludeUsage = openai.Bool(true)
			}
			stream := newOpenAIGo(p, harness.Alice).Chat.Completions.NewStreaming(t.Context(), params)
			defer stream.Close()
			var text strings.Builder
			var reported int64
			for stream.Next() {
				chunk := stream.Current()
				reported += chunk.Usage.TotalTokens
				if len(chunk.Choices) > 0 {
					text.WriteString(chunk.Choices[0].Delta.Content)
				} else if !usage {
					t.Errorf("an unasked chunk without choices: %s", chunk.RawJSON())
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(words(20), ""); text.String() != want {
				t.Errorf("text %q, want %q", text.String(), want)
			}
			used := up.Last(t).Prompt + 20
			if usage && reported != used || !usage && reported != 0 {
				t.Errorf("reported usage %d, used %d, asked to report: %v", reported, used, usage)
			}
			if left := p.Remaining(t, "alice"); left != 100_000-used {
				t.Errorf("%d tokens left of 100000 after using %d", left, used)
			}
		})
	}
}

func TestOpenAIGoStreamedTools(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Tools: []fakeopenai.ToolCall{
		{ID: "call_1", Name: "jump", Arguments: `{"over":"dog"}`}, {ID: "call_2", Name: "run", Arguments: `{"to":"wood"}`},
	}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	params := openaiGoParams()
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "jump", Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"over": map[string]any{"type": "string"}}},
	})}
	stream := newOpenAIGo(p, harness.Alice).Chat.Completions.NewStreaming(t.Context(), params)
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		all.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, call := range all.Choices[0].Message.ToolCalls {
		got = append(got, call.Function.Name+call.Function.Arguments)
	}
	if diff := cmp.Diff([]string{`jump{"over":"dog"}`, `run{"to":"wood"}`}, got); diff != "" {
		t.Errorf("tool calls (-want +got):\n%s", diff)
	}
}

func TestOpenAIGoAbortMidStream(t *testing.T) {
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(50), Pause: fakeopenai.Forever(), PauseAt: 10})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	ctx, cancel := context.WithCancel(t.Context())
	stream := newOpenAIGo(p, harness.Alice).Chat.Completions.NewStreaming(ctx, openaiGoParams())
	defer stream.Close()
	for range 10 {
		if !stream.Next() {
			t.Fatal(stream.Err())
		}
	}
	left := time.Now()
	cancel()
	up.Last(t).WantCancelled(t, left, promptly())
	p.WantIdle(t)
}

// The wait that a refusal names is the time at which this very request fits: openai-go obeys it and succeeds.
func TestOpenAIGoRetriesOnceAfterTheWait(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"15 tokens per second, burst 160"}})
	client := newOpenAIGo(p, harness.Alice)

	for range 2 { // the first call takes most of the burst, the second must wait for about 5 s
		if _, err := client.Chat.Completions.New(t.Context(), openaiGoParams()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{200, 429, 200}, client.statuses()); diff != "" {
		t.Fatalf("statuses (-want +got):\n%s", diff)
	}
	refused, retried := client.tries[1], client.tries[2]
	ms, err := strconv.Atoi(refused.header.Get("Retry-After-Ms"))
	if err != nil || ms < 1 || ms > 5000 {
		t.Fatalf("retry-after-ms is %q, want 1..5000", refused.header.Get("Retry-After-Ms"))
	}
	if s, want := refused.header.Get("Retry-After"), strconv.Itoa((ms+999)/1000); s != want {
		t.Errorf("Retry-After is %q, want whole seconds, rounded up: %s", s, want)
	}
	if should := refused.header.Get("X-Should-Retry"); should == "false" {
		t.Error("x-should-retry is false for a wait of a few seconds")
	}
	if waited := retried.at.Sub(refused.at); waited < time.Duration(ms)*time.Millisecond {
		t.Errorf("the client retried after %s, before the %d ms it was told", waited, ms)
	}
	up.WantCalls(t, 2)
}

func TestOpenAIGoDoesNotRetryInVain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})

	type outcome struct {
		Tries  []int
		Code   string
		Should string // x-should-retry
		After  bool   // Retry-After is present
	}
	for _, c := range []struct {
		name   string
		limit  string
		before int // calls that use the budget up first
		want   outcome
	}{
		{"never fits", "50 tokens in any minute", 0, outcome{[]int{400}, "request_exceeds_budget", "false", false}},
		{"used up for good", "130 tokens in total", 1, outcome{[]int{429}, "insufficient_quota", "false", false}},
		{"longer than the client waits", "130 tokens in any 50 seconds", 1, outcome{[]int{429}, "rate_limit_exceeded", "false", true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{c.limit}})
			for range c.before {
				if _, err := newOpenAIGo(p, harness.Alice).Chat.Completions.New(t.Context(), openaiGoParams()); err != nil {
					t.Fatal(err)
				}
			}
			client := newOpenAIGo(p, harness.Alice)
			_, err := client.Chat.Completions.New(t.Context(), openaiGoParams())
			api, ok := errors.AsType[*openai.Error](err)
			if !ok {
				t.Fatalf("error %T %v, want *openai.Error", err, err)
			}
			header := client.tries[0].header
			got := outcome{client.statuses(), api.Code, header.Get("X-Should-Retry"), header.Get("Retry-After") != ""}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s\n%s", diff, api.Message)
			}
		})
	}
}

func TestOpenAIGoErrors(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	for _, c := range []struct {
		name   string
		key    string
		answer fakeopenai.Answer
		change func(*openai.ChatCompletionNewParams)
		tries  []int
		code   string
	}{
		{"unknown key", harness.Stranger, fakeopenai.Answer{}, nil, []int{401}, "invalid_api_key"},
		{"unknown model", harness.Alice, fakeopenai.Answer{}, func(p *openai.ChatCompletionNewParams) { p.Model = "claude" }, []int{404}, "model_not_found"},
		{
			"upstream refuses", harness.Alice,
			fakeopenai.Answer{Status: 400, Body: fakeopenai.ErrorBody("Invalid value.", "invalid_request_error", "invalid_value")},
			nil,
			[]int{400},
			"invalid_value",
		},
		{
			"upstream fails", harness.Alice,
			fakeopenai.Answer{Status: 500, Body: fakeopenai.ErrorBody("Oops.", "server_error", "oops")},
			nil,
			[]int{500, 500, 500},
			"oops",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			up.Always(model, c.answer)
			params := openaiGoParams()
			if c.change != nil {
				c.change(&params)
			}
			client := newOpenAIGo(p, c.key)
			_, err := client.Chat.Completions.New(t.Context(), params)
			api, ok := errors.AsType[*openai.Error](err)
			if !ok {
				t.Fatalf("error %T %v, want *openai.Error", err, err)
			}
			if api.Code != c.code {
				t.Errorf("code %q, want %q", api.Code, c.code)
			}
			if diff := cmp.Diff(c.tries, client.statuses()); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if left := p.Remaining(t, "alice"); left != 100_000 {
				t.Errorf("%d tokens left of 100000 though nothing was answered", left)
			}
		})
	}
}
