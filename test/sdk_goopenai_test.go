package test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// goOpenAI is sashabaranov/go-openai pointed at the proxy.
func goOpenAI(p *harness.Program, key string) *openai.Client {
	config := openai.DefaultConfig(key)
	config.BaseURL = p.URL + "/v1"
	return openai.NewClientWithConfig(config)
}

func goOpenAIRequest() openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model:               model,
		Messages:            []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: question}},
		MaxCompletionTokens: 100,
	}
}

func TestGoOpenAIPlain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: []string{"Over the lazy dog."}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	got, err := goOpenAI(p, harness.Alice).CreateChatCompletion(t.Context(), goOpenAIRequest())
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Choices[0].Message.Content; text != "Over the lazy dog." {
		t.Errorf("content %q", text)
	}
	call := up.Last(t)
	want := openai.Usage{
		PromptTokens: int(call.Prompt), CompletionTokens: int(up.Tokens("Over the lazy dog.")),
		TotalTokens: int(call.Prompt + up.Tokens("Over the lazy dog.")),
	}
	got.Usage.PromptTokensDetails, got.Usage.CompletionTokensDetails = nil, nil
	if diff := cmp.Diff(want, got.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if left := p.Remaining(t, "alice"); left != 100_000-int64(want.TotalTokens) {
		t.Errorf("%d tokens left of 100000 after using %d", left, want.TotalTokens)
	}
	if headers := got.GetRateLimitHeaders(); headers.LimitTokens != 100_000 {
		t.Errorf("x-ratelimit-limit-tokens is %d, want alice's 100000", headers.LimitTokens)
	}
}

// Most callers read Choices[0] of every chunk: a usage chunk that they did not ask for makes them panic.
func TestGoOpenAIStreamWithoutUsage(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	stream, err := goOpenAI(p, harness.Alice).CreateChatCompletionStream(t.Context(), goOpenAIRequest())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Usage != nil {
			t.Error("a chunk carries usage that was not asked for")
		}
		text.WriteString(chunk.Choices[0].Delta.Content)
	}
	if want := strings.Join(words(20), ""); text.String() != want {
		t.Errorf("text %q, want %q", text.String(), want)
	}
	call := up.Last(t)
	if !call.IncludeUsage {
		t.Error("the upstream was not asked for usage")
	}
	if left := p.Remaining(t, "alice"); left != 100_000-call.Prompt-20 {
		t.Errorf("%d tokens left of 100000 after using %d", left, call.Prompt+20)
	}
}

func TestGoOpenAIStreamWithUsage(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	request := goOpenAIRequest()
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := goOpenAI(p, harness.Alice).CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var usage *openai.Usage
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
	}
	if usage == nil {
		t.Fatal("no chunk carries the usage that was asked for")
	}
	if left := p.Remaining(t, "alice"); left != 100_000-int64(usage.TotalTokens) {
		t.Errorf("%d tokens left of 100000 after using %d", left, usage.TotalTokens)
	}
}

func TestGoOpenAITools(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Next(model, fakeopenai.Answer{Tools: []fakeopenai.ToolCall{{ID: "call_1", Name: "jump", Arguments: `{"over":"dog"}`}}})
	up.Next(model, fakeopenai.Answer{Text: []string{"Done."}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})
	client := goOpenAI(p, harness.Alice)

	request := goOpenAIRequest()
	request.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: "jump", Description: "Jumps over something.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"over":{"type":"string"}},"required":["over"]}`),
	}}}
	first, err := client.CreateChatCompletion(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	calls := first.Choices[0].Message.ToolCalls
	if len(calls) != 1 || calls[0].Function.Arguments != `{"over":"dog"}` {
		t.Fatalf("tool calls %+v", calls)
	}
	request.Messages = append(request.Messages, first.Choices[0].Message,
		openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: calls[0].ID, Content: `{"height":"1m"}`})
	second, err := client.CreateChatCompletion(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if text := second.Choices[0].Message.Content; text != "Done." {
		t.Errorf("content %q", text)
	}
	if body := string(up.Last(t).Body); !strings.Contains(body, `"tool_call_id":"call_1"`) {
		t.Errorf("the tool's result did not reach the upstream: %s", body)
	}
}

func TestGoOpenAIAbortMidStream(t *testing.T) {
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(50), Pause: fakeopenai.Forever(), PauseAt: 10})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100k tokens in total"}})

	stream, err := goOpenAI(p, harness.Alice).CreateChatCompletionStream(t.Context(), goOpenAIRequest())
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	left := time.Now()
	stream.Close()
	up.Last(t).WantCancelled(t, left, promptly())
	p.WantIdle(t)
}

// go-openai never retries: every refusal reaches the caller as an *APIError at once.
func TestGoOpenAIErrors(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"10 tokens per hour, burst 150"}})

	type result struct {
		Status int
		Type   string
		Code   any
	}
	try := func(key string, change func(*openai.ChatCompletionRequest)) (result, string) {
		t.Helper()
		request := goOpenAIRequest()
		change(&request)
		_, err := goOpenAI(p, key).CreateChatCompletion(context.Background(), request)
		api, ok := errors.AsType[*openai.APIError](err)
		if !ok {
			t.Fatalf("error %T %v, want *openai.APIError", err, err)
		}
		return result{api.HTTPStatusCode, api.Type, api.Code}, api.Message
	}
	same := func(*openai.ChatCompletionRequest) {}
	for _, c := range []struct {
		name   string
		key    string
		change func(*openai.ChatCompletionRequest)
		want   result
		says   string
	}{
		{"unknown key", harness.Stranger, same, result{http.StatusUnauthorized, "invalid_request_error", "invalid_api_key"}, "Incorrect API key provided"},
		{
			"unknown model", harness.Alice, func(r *openai.ChatCompletionRequest) { r.Model = "claude" },
			result{http.StatusNotFound, "invalid_request_error", "model_not_found"},
			"does not exist or",
		},
		{
			"never fits", harness.Alice, func(r *openai.ChatCompletionRequest) { r.MaxCompletionTokens = 1000 },
			result{http.StatusBadRequest, "invalid_request_error", "request_exceeds_budget"},
			"alice",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, message := try(c.key, c.change)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if !strings.Contains(message, c.says) {
				t.Errorf("message %q does not say %q", message, c.says)
			}
		})
	}
	up.WantCalls(t, 0)

	up.Next(model, fakeopenai.Answer{SpendAll: true})
	if _, err := goOpenAI(p, harness.Alice).CreateChatCompletion(t.Context(), goOpenAIRequest()); err != nil {
		t.Fatal(err)
	}
	got, message := try(harness.Alice, same)
	if diff := cmp.Diff(result{http.StatusTooManyRequests, "tokens", "rate_limit_exceeded"}, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	for _, part := range []string{"Rate limit reached for " + model, "key alice", "10 tokens per hour, burst 150", "Limit 150", "Please try again in "} {
		if !strings.Contains(message, part) {
			t.Errorf("message %q does not say %q", message, part)
		}
	}
	up.WantCalls(t, 1)
}

// A budget error belongs before the first byte: a stream is refused with a status, too.
func TestGoOpenAIStreamRefused(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"150 tokens in total"}})
	client := goOpenAI(p, harness.Alice)
	if _, err := client.CreateChatCompletion(t.Context(), goOpenAIRequest()); err != nil {
		t.Fatal(err)
	}
	_, err := client.CreateChatCompletionStream(t.Context(), goOpenAIRequest())
	api, ok := errors.AsType[*openai.APIError](err)
	if !ok || api.HTTPStatusCode != http.StatusTooManyRequests || api.Code != "insufficient_quota" {
		t.Errorf("error %v, want 429 insufficient_quota", err)
	}
	up.WantCalls(t, 1)
}
