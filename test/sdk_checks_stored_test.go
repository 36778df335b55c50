package test

import (
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

func whole(n int64) func([]*fakeopenai.Call) int64 {
	return func([]*fakeopenai.Call) int64 { return n }
}

// sdkStoredChecks are about what is stored at the provider. The double counts words: the question has eight, its answers have seven,
// the file has six, and what a conversation begins with four.
func sdkStoredChecks() []sdkCheck {
	const respond, count = "POST /v1/responses", "POST /v1/responses/input_tokens"
	const noted, six = fakeopenai.Noted, "one two three four five six"
	const previous, reference = "previous_response_id", "item_reference"
	pair := []string{"openai7", "ai-openai"}
	loop := sdkWant{text: noted, calls: twoCalls, usage: true, asked: []string{respond}}
	by := func(named ...string) sdkWant {
		w := loop
		w.named = named
		return w
	}
	checks := []sdkCheck{
		{name: "input tokens", ask: sdkAsk{Do: "countInput"}, want: sdkWant{count: 8, charged: uncharged, asked: []string{count}}, ci: few},
		{name: "input tokens with an unknown key", ask: sdkAsk{Do: "countInput"}, secret: "tf-nobody", want: sdkWant{status: 401, code: "invalid_api_key", charged: uncharged}},
		{name: "input tokens, where requests are counted", ask: sdkAsk{Do: "countInput"}, key: "counted", want: sdkWant{count: 8, charged: whole(1), asked: []string{count}}},
		{name: "input tokens after a response", ask: sdkAsk{Do: "countInputOf", Limit: 100}, want: sdkWant{count: 23, charged: whole(15), asked: []string{respond, count}, named: []string{previous}}, ci: []string{"openai-go"}},
		{name: "go on", ask: sdkAsk{Do: "goOn", Limit: 100}, want: sdkWant{text: noted, usage: true, charged: whole(45), asked: []string{respond}, named: []string{previous}}, ci: pair},
		{name: "go on, streamed", ask: sdkAsk{Do: "goOnStream", Limit: 100}, want: sdkWant{text: noted, usage: true, charged: whole(45), asked: []string{respond}, named: []string{previous}}, ci: []string{"openai7"}},
		{name: "loop of tools that goes on", ask: sdkAsk{Do: "loopOn", Limit: 100, Tools: true}, want: by(previous)},
		{name: "loop of tools by reference", ask: sdkAsk{Do: "loopItems", Limit: 100, Tools: true}, want: by(reference, reference, reference, reference), ci: few},
		{name: "loop of tools as the SDK makes it", ask: sdkAsk{Do: "loopOwn", Limit: 100, Tools: true}, want: by(reference, reference), ci: []string{"ai-openai"}},
		{name: "loop of tools as the SDK makes it, streamed", ask: sdkAsk{Do: "loopOwnStream", Limit: 100, Tools: true}, want: by(reference, reference)},
		{name: "loop of tools with its reasoning", ask: sdkAsk{Do: "loopWhole", Limit: 100, Tools: true}, want: by("reasoning"), ci: []string{"langchain"}},
		{name: "conversation", ask: sdkAsk{Do: "converse", Limit: 100}, want: sdkWant{text: noted, charged: whole(19), asked: []string{"POST /v1/conversations", respond}, named: []string{"conversation"}}, ci: few},
		{name: "file as input", ask: sdkAsk{Do: "fileInput", Limit: 100}, want: sdkWant{text: noted, charged: whole(21), asked: []string{"POST /v1/files", respond}, named: []string{"file_id"}}, ci: few},
	}
	kept := []sdkCheck{
		{name: "response", ask: sdkAsk{Do: "keepResponse", Limit: 100}, want: sdkWant{text: noted, charged: whole(15), asked: []string{respond, "GET /v1/responses/*", "GET /v1/responses/*/input_items", "DELETE /v1/responses/*"}}},
		{name: "chat", ask: sdkAsk{Do: "keepChat", Limit: 100}, want: sdkWant{text: noted, charged: whole(15), asked: []string{
			"POST /v1/chat/completions", "GET /v1/chat/completions", "GET /v1/chat/completions/*", "GET /v1/chat/completions/*/messages", "DELETE /v1/chat/completions/*",
		}}},
		{name: "conversation", ask: sdkAsk{Do: "keepConversation"}, want: sdkWant{text: question, charged: uncharged, asked: []string{
			"POST /v1/conversations", "GET /v1/conversations/*", "GET /v1/conversations/*/items", "DELETE /v1/conversations/*",
		}}},
		{name: "file", ask: sdkAsk{Do: "keepFile"}, want: sdkWant{text: six, charged: uncharged, asked: []string{
			"POST /v1/files", "GET /v1/files", "GET /v1/files/*", "GET /v1/files/*/content", "DELETE /v1/files/*",
		}}},
	}
	// What is made, read and deleted is not found afterwards, and nobody asks the upstream.
	for _, c := range kept {
		c.name, c.key, c.ci = "one's own "+c.name, "keeper", []string{"openai7"}
		c.want.status, c.want.well = 404, len(c.want.asked)
		c.want.listed = slices.Contains([]string{"keepChat", "keepFile"}, c.ask.Do)
		checks = append(checks, c)
	}
	// Another key finds nothing of it, and the upstream is asked for no more than a list.
	for _, a := range []struct {
		name, do string
		asked    []string
	}{
		{"input tokens after another's response", "countInputOf", []string{respond}},
		{"go on from another's response", "goOn", []string{respond}},
		{"go on from another's response, streamed", "goOnStream", []string{respond}},
		{"loop of tools by reference to another's items", "loopItems", []string{respond}},
		{"loop of tools with another's reasoning", "loopWhole", []string{respond}},
		{"in another's conversation", "converse", []string{"POST /v1/conversations"}},
		{"another's file as input", "fileInput", []string{"POST /v1/files"}},
		{"another's response", "keepResponse", []string{respond}},
		{"another's chat", "keepChat", []string{"POST /v1/chat/completions", "GET /v1/chat/completions"}},
		{"another's conversation", "keepConversation", []string{"POST /v1/conversations"}},
		{"another's file", "keepFile", []string{"POST /v1/files", "GET /v1/files"}},
	} {
		c := sdkCheck{name: a.name, ask: sdkAsk{Do: a.do, Limit: 100, Tools: strings.HasPrefix(a.do, "loop")}, other: true, want: sdkWant{status: 404, well: len(a.asked), message: "not found", asked: a.asked}}
		if strings.Contains(a.name, "file") {
			c.want.message = "No such File object"
		}
		if len(a.asked) > 1 {
			c.want.names = []string{}
		}
		if a.do == "goOn" || a.do == "keepFile" {
			c.ci = []string{"openai7"}
		}
		checks = append(checks, c)
	}
	for i := range checks {
		checks[i].stored = true
	}
	return checks
}
