package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// azureVariants are Azure's v1 API: the key in a header of its own, an api-version, and a first event without choices.
func azureVariants() []variant {
	azure := func(c *fakeopenai.Call) fakeopenai.Answer {
		switch {
		case c.Header.Get("Api-Key") != harness.UpstreamKey || c.Header.Get("Authorization") != "":
			return fakeopenai.Answer{Status: 401, Body: fakeopenai.ErrorBody("Access denied due to missing subscription key.", "invalid_request_error", "401")}
		case c.Query != "api-version=preview":
			return fakeopenai.Answer{Status: 404, Body: fakeopenai.ErrorBody("Resource not found", "invalid_request_error", "404")}
		}
		return fakeopenai.Answer{Text: words(40), Azure: true}
	}
	const extra = "auth: api-key, query: { api-version: preview }"
	return []variant{
		{name: "azure", extra: extra, path: "/openai/v1", members: quietStream, answer: azure, body: withoutUsage, charged: tokens(40), basis: "reported"},
		{name: "azure, usage asked for", extra: extra, path: "/openai/v1", members: askedStream, answer: azure, charged: tokens(40), basis: "reported"},
		{name: "azure, plain", extra: extra, path: "/openai/v1", members: `"max_tokens": 200`, answer: azure, charged: tokens(40), basis: "reported"},
	}
}

// TestAzureLists: the model list is asked for with the same key and query.
func TestAzureLists(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: strings.TrimSuffix(up.URL, "/v1") + "/openai/v1", UpstreamExtra: "auth: api-key, query: { api-version: preview }"})
	p.Get(t, harness.Alice, "/v1/models").WantOK(t)
	asked := up.Everything()[0]
	if asked.Path != "/openai/v1/models" || asked.Query != "api-version=preview" || asked.Header.Get("Api-Key") != harness.UpstreamKey || asked.Header.Get("Authorization") != "" {
		t.Errorf("asked %s?%s with %v", asked.Path, asked.Query, asked.Header)
	}
}

// serverVariants are servers that know another part of the API than OpenAI's.
func serverVariants() []variant {
	chunk := func(delta, more string) string {
		return `data: {"id":"chat-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]` + more + "}\n\n"
	}
	usage := func(prompt, completion, total int) string {
		return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, total)
	}
	stream := func(events ...string) fakeopenai.Answer {
		return fakeopenai.Answer{Body: strings.Join(events, "") + "data: [DONE]\n\n", Header: http.Header{"Content-Type": {"text/event-stream"}}}
	}
	vllm := stream(
		chunk(`{"role":"assistant","content":""}`, usage(20, 0, 20)+`,"prompt_token_ids":null`),
		chunk(`{"reasoning_content":"Hm."}`, usage(20, 2, 22)+`,"kv_transfer_params":null`),
		chunk(`{"content":" red"}`, usage(20, 3, 23)), chunk(`{"content":" blue"}`, usage(20, 4, 24)+`,"stop_reason":128001`),
	)
	gemini := stream(
		chunk(`{"role":"assistant","content":" red"}`, usage(20, 1, 21)), chunk(`{"content":" blue"}`, usage(20, 2, 150)),
	)
	oldModels := "  \"gpt-*\": { upstream: fake, output_member: max_tokens }\n"
	refuses := func(member, text string) func(c *fakeopenai.Call) fakeopenai.Answer {
		return func(c *fakeopenai.Call) fakeopenai.Answer {
			if strings.Contains(string(c.Body), `"`+member+`"`) {
				return fakeopenai.Answer{Status: 400, Body: fakeopenai.ErrorBody(text, "invalid_request_error", "unknown_parameter")}
			}
			return fakeopenai.Answer{Text: words(40), Report: fakeopenai.Absent}
		}
	}
	noOptions := refuses("stream_options", "Unrecognized request argument supplied: stream_options")
	noCompletionTokens := refuses("max_completion_tokens", "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.")
	return []variant{
		{name: "openai", members: quietStream, answer: says(fakeopenai.Answer{Text: words(40)}), body: withoutUsage, charged: tokens(40), basis: "reported"},
		{name: "openai, usage asked for", members: askedStream, answer: says(fakeopenai.Answer{Text: words(40)}), charged: tokens(40), basis: "reported"},
		{name: "vllm: usage in every chunk, more members", members: quietStream, answer: says(vllm), charged: func(*fakeopenai.Call) int64 { return 24 }, basis: "reported"},
		{name: "usage in every chunk and at the end", members: quietStream, answer: says(fakeopenai.Answer{Text: words(40), Report: fakeopenai.EveryChunk}), body: withoutUsage, charged: tokens(40), basis: "reported"},
		{name: "usage on the last content chunk", members: quietStream, answer: says(fakeopenai.Answer{Text: words(40), Report: fakeopenai.OnLastChunk}), charged: tokens(40), basis: "reported"},
		{
			name: "ollama: no usage in streams, only max_tokens", extra: "usage: never", models: oldModels, members: `"stream": true, "max_completion_tokens": 200`,
			answer: says(fakeopenai.Answer{Text: words(40), Report: fakeopenai.Absent}), charged: tokens(40), basis: "counted",
			request: func(t *testing.T, sent map[string]any) {
				t.Helper()
				lacks("stream_options", "max_completion_tokens")(t, sent)
				if sent["max_tokens"] != 200.0 {
					t.Errorf("max_tokens is %v", sent["max_tokens"])
				}
			},
		},
		{
			name: "ollama: it ignores include_usage", models: oldModels, members: askedStream,
			answer: says(fakeopenai.Answer{Text: words(40), Report: fakeopenai.Absent}), charged: tokens(40), basis: "counted",
		},
		{name: "gemini: thinking is in the total alone", members: quietStream, answer: says(gemini), charged: func(*fakeopenai.Call) int64 { return 150 }, basis: "reported"},
		{
			name: "gemini, plain", members: `"max_tokens": 200`,
			answer:  says(fakeopenai.Answer{Text: words(2), Usage: []string{`{"prompt_tokens":20,"completion_tokens":2,"total_tokens":150}`}}),
			charged: func(*fakeopenai.Call) int64 { return 150 }, basis: "reported",
		},
		{name: "stream_options are refused", members: quietStream, answer: noOptions, status: 400, charged: free, basis: "nothing"},
		{name: "stream_options are refused, usage: never", extra: "usage: never", members: quietStream, answer: noOptions, charged: tokens(40), basis: "counted", request: lacks("stream_options")},
		{name: "only max_tokens is known", models: oldModels, members: `"max_completion_tokens": 200`, answer: noCompletionTokens, charged: tokens(40), basis: "counted", request: lacks("max_completion_tokens")},
		{name: "only max_tokens is known, no limit given", models: oldModels, members: `"stream": false`, answer: noCompletionTokens, charged: tokens(40), basis: "counted", request: lacks("max_completion_tokens")},
	}
}
