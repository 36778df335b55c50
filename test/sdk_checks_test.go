package test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// some are the clients that do a check without -sdk.all: one of each kind.
var (
	some = []string{"openai7", "ai-openai", "langchain", "openai-go", "go-openai"}
	few  = []string{"openai7", "openai-go"}
	full = []string{"openai7", "openai4", "ai-openai", "ai-compatible", "langchain", "openai-go", "go-openai"}
)

func sdkChecks() []sdkCheck {
	return slices.Concat(sdkChatChecks(), sdkTroubleChecks(), sdkResponseChecks(), sdkStoredChecks(), sdkOtherChecks(), sdkMediaChecks())
}

// each is a charge of the prompts and so many tokens for each call.
func each(n int64) func(calls []*fakeopenai.Call) int64 {
	return func(calls []*fakeopenai.Call) (sum int64) {
		for _, c := range calls {
			sum += c.Prompt + n
		}
		return sum
	}
}

func uncharged([]*fakeopenai.Call) int64 { return 0 }

func answers(a ...fakeopenai.Answer) []fakeopenai.Answer { return a }

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

var (
	spoken   = strings.Join(words(20), "")
	twoTools = []fakeopenai.ToolCall{{ID: "call_1", Name: "jump", Arguments: `{"over":"dog"}`}, {ID: "call_2", Name: "jump", Arguments: `{"over":"the wood"}`}}
	twoCalls = []sdkCall{{"jump", `{"over":"dog"}`}, {"jump", `{"over":"the wood"}`}}
)

const foreign = "Zażółć gęślą jaźń — 日本語 \u2028 🦊👩‍👩‍👧 \u0007\"\\"

// sdkChatChecks are about chat completions that go well.
func sdkChatChecks() []sdkCheck {
	red := answers(fakeopenai.Answer{Text: words(20)})
	object := answers(fakeopenai.Answer{Text: []string{`{"animal":`, `"fox",`, `"legs":4}`}})
	frames := http.Header{"Content-Type": {"text/event-stream"}}
	chunk := "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" red\"},\"finish_reason\":null}]}\n\n"
	end := "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	return []sdkCheck{
		{name: "chat", ask: sdkAsk{Do: "chat", Limit: 100}, answers: red, want: sdkWant{text: spoken, finish: "stop", usage: true, charged: each(20)}, ci: full},
		{name: "chat without a limit", ask: sdkAsk{Do: "chat"}, answers: red, want: sdkWant{text: spoken, usage: true, charged: each(20)}},
		{name: "stream", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: red, want: sdkWant{text: spoken, finish: "stop", quiet: true, charged: each(20)}, ci: full},
		{name: "stream with usage", ask: sdkAsk{Do: "chatStream", Limit: 100, Usage: true}, answers: red, want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: full},
		{name: "stream without a limit", ask: sdkAsk{Do: "chatStream"}, answers: red, want: sdkWant{text: spoken, quiet: true, charged: each(20)}},
		{name: "stream in CRLF, byte by byte", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(3), CRLF: true, ByteByByte: true}), want: sdkWant{text: " red green blue", charged: each(3)}},
		{name: "stream from Azure", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(20), Azure: true}), want: sdkWant{text: spoken, charged: each(20)}, not: []string{"go-openai"}},
		{name: "stream in gzip", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(20), CompressAnyway: true}), want: sdkWant{text: spoken, quiet: true, charged: each(20)}, ci: few},
		{name: "stream with usage in gzip", ask: sdkAsk{Do: "chatStream", Limit: 100, Usage: true}, answers: answers(fakeopenai.Answer{Text: words(20), CompressAnyway: true}), want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: few},
		{name: "chat in gzip", ask: sdkAsk{Do: "chat", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(20), CompressAnyway: true}), want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: few},
		{
			name: "stream with comments", ask: sdkAsk{Do: "chatStream", Limit: 100},
			answers: answers(fakeopenai.Answer{Header: frames, Body: ": PROCESSING\n\n" + chunk + ": ping\n\n" + ": ping\n\n" + chunk + end}), want: sdkWant{text: " red red", charged: each(2)}, ci: few,
		},
		{name: "a line of 300 kB", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: []string{strings.Repeat(" red", 75_000)}}), want: sdkWant{text: strings.Repeat(" red", 75_000), charged: each(75_000)}},
		{name: "unicode", ask: sdkAsk{Do: "chat", Limit: 100, Prompt: foreign}, answers: answers(fakeopenai.Answer{Text: []string{foreign}}), want: sdkWant{text: foreign, prompt: true}, ci: some},
		{name: "unicode, streamed byte by byte", ask: sdkAsk{Do: "chatStream", Limit: 100, Prompt: foreign}, answers: answers(fakeopenai.Answer{Text: []string{foreign}, ByteByByte: true}), want: sdkWant{text: foreign, prompt: true}, ci: some},
		{name: "parallel tools", ask: sdkAsk{Do: "chat", Limit: 100, Tools: true}, answers: answers(fakeopenai.Answer{Tools: twoTools}), want: sdkWant{calls: twoCalls}, ci: few},
		{name: "parallel tools, streamed", ask: sdkAsk{Do: "chatStream", Limit: 100, Tools: true}, answers: answers(fakeopenai.Answer{Tools: twoTools}), want: sdkWant{calls: twoCalls}, ci: full},
		{name: "structured", ask: sdkAsk{Do: "structured", Limit: 100}, answers: object, want: sdkWant{object: `{"animal":"fox","legs":4}`}, ci: some},
		{name: "structured, streamed", ask: sdkAsk{Do: "structuredStream", Limit: 100}, answers: object, want: sdkWant{object: `{"animal":"fox","legs":4}`}, ci: some},
		{name: "a prompt of 2 MB", ask: sdkAsk{Do: "chat", Model: "gpt-4.1", Limit: 100, Prompt: " red", Repeat: 500_000}, answers: red, want: sdkWant{text: spoken, charged: each(20)}},
		{name: "50 streams at once", ask: sdkAsk{Do: "chatStream", Limit: 100, Parallel: 50}, answers: red, want: sdkWant{text: spoken, charged: each(20)}, ci: some},
		{name: "models", ask: sdkAsk{Do: "models"}, want: sdkWant{names: []string{"gpt-4o-mini", "tts-1"}, charged: uncharged}, ci: few},
	}
}

// sdkTroubleChecks are about calls that are refused, break off or are given up.
func sdkTroubleChecks() []sdkCheck {
	all := answers(fakeopenai.Answer{SpendAll: true})
	frames := http.Header{"Content-Type": {"text/event-stream"}}
	failing := "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" red\"},\"finish_reason\":null}]}\n\n" +
		"data: {\"error\":{\"message\":\"The server had an error.\",\"type\":\"server_error\",\"param\":null,\"code\":\"server_error\"}}\n\n"
	refused := answers(fakeopenai.Answer{Status: 400, Body: fakeopenai.ErrorBody("Invalid value.", "invalid_request_error", "invalid_value")})
	down := answers(fakeopenai.Answer{Status: 500, Body: fakeopenai.ErrorBody("Oops.", "server_error", "oops")})
	text := answers(fakeopenai.Answer{Status: 400, Body: `{"error":"model requires more memory"}`})
	limited := answers(
		fakeopenai.Answer{Status: 429, Header: http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {"900"}}, Body: fakeopenai.ErrorBody("Rate limit reached. Please try again in 0.9s.", "tokens", "rate_limit_exceeded")},
		fakeopenai.Answer{Text: words(20)},
	)
	return []sdkCheck{
		{name: "abort mid-stream", ask: sdkAsk{Do: "chatStream", Limit: 100, StopAt: 10}, answers: answers(fakeopenai.Answer{Text: words(50), Pause: fakeopenai.Forever(), PauseAt: 15}), ci: full},
		{name: "unknown key", ask: sdkAsk{Do: "chat", Limit: 100}, secret: "tf-nobody", want: sdkWant{status: 401, code: "invalid_api_key", charged: uncharged}, ci: some},
		{name: "unknown model", ask: sdkAsk{Do: "chat", Model: "gpt-4o-mini\u00a0x", Limit: 100}, want: sdkWant{status: 400, charged: uncharged}},
		{name: "refused upstream", ask: sdkAsk{Do: "chat", Limit: 100}, answers: refused, want: sdkWant{status: 400, code: "invalid_value", charged: uncharged}, ci: few},
		{name: "refused upstream, streamed", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: refused, want: sdkWant{status: 400, code: "invalid_value", charged: uncharged}, ci: few},
		{name: "refused in another shape", ask: sdkAsk{Do: "chat", Limit: 100}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}, ci: few},
		{name: "refused in another shape, streamed", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}},
		{name: "refused in another shape, response", ask: sdkAsk{Do: "response", Limit: 100}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}},
		{name: "refused in another shape, response streamed", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}},
		{name: "refused in another shape, embeddings", ask: sdkAsk{Do: "embed", Model: "text-embedding-3-small", Inputs: []string{"red"}}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}},
		{name: "refused in another shape, picture edit", ask: sdkAsk{Do: "pictureEdit", Model: "gpt-image-1"}, answers: text, want: sdkWant{status: 400, message: "model requires more memory", charged: uncharged}},
		{name: "upstream fails in another shape", ask: sdkAsk{Do: "chat", Limit: 100}, answers: answers(fakeopenai.Answer{Status: 500, Body: `{"error":"model requires more memory"}`}), want: sdkWant{status: 500, message: "model requires more memory", given: true, charged: uncharged}, not: []string{"langchain"}},
		{name: "upstream fails", ask: sdkAsk{Do: "chat", Limit: 100}, answers: down, want: sdkWant{status: 500, code: "oops", given: true, charged: uncharged}, not: []string{"langchain"}},
		{name: "never fits", ask: sdkAsk{Do: "chat", Limit: 100}, key: "tiny", want: sdkWant{status: 400, code: "request_exceeds_budget", charged: uncharged}, ci: full},
		{name: "never fits, streamed", ask: sdkAsk{Do: "chatStream", Limit: 100}, key: "tiny", want: sdkWant{status: 400, code: "request_exceeds_budget", charged: uncharged}, ci: few},
		{name: "never fits, response", ask: sdkAsk{Do: "response", Limit: 100}, key: "tiny", want: sdkWant{status: 400, code: "request_exceeds_budget", charged: uncharged}, ci: few},
		{name: "used up", ask: sdkAsk{Do: "chat", Limit: 100}, key: "spent", spend: true, answers: all, want: sdkWant{status: 429, code: "insufficient_quota", charged: uncharged}, ci: []string{"openai7", "langchain", "openai-go", "go-openai"}},
		{name: "retry after a 429", ask: sdkAsk{Do: "chat", Limit: 100}, key: "slow", spend: true, answers: all, want: sdkWant{retried: true, unmetered: true}, ci: some},
		{name: "retry after the upstream's 429", ask: sdkAsk{Do: "chat", Limit: 100}, answers: limited, want: sdkWant{retried: true}, ci: few},
		{name: "cut mid-stream", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(40), Fault: fakeopenai.Abort, After: 11}), want: sdkWant{status: -1, charged: each(10)}, ci: full},
		{name: "an error inside a stream", ask: sdkAsk{Do: "chatStream", Limit: 100}, answers: answers(fakeopenai.Answer{Header: frames, Body: failing + "data: [DONE]\n\n"}), want: sdkWant{status: -1, charged: each(1)}, ci: some},
	}
}
