package fakeopenai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// created is the time stamp of every answer: answers to equal requests are equal but for their id.
const created = 1767225600

// greeting is what an answer without a script says.
func greeting() []string { return []string{"Hello", " there", ", how", " can I help", " you today?"} }

// chatEvents renders a streamed answer, one element for each event, [DONE] included.
func (e *exchange) chatEvents() [][]byte {
	var out [][]byte
	add := func(choices, usage string) {
		out = append(out, e.chunk(choices, usage))
	}
	a, c := e.answer, e.call
	quiet := "" // what an event that reports nothing has for usage
	if c.IncludeUsage && a.Report != Absent {
		quiet = `,"usage":null`
	}
	if a.Azure {
		out = append(out, []byte("data: {\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"object\":\"\",\"prompt_filter_results\":"+
			"[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n"))
	}
	var said int64
	usage := func() string {
		if a.Report == EveryChunk {
			return `,"usage":` + UsageObject(c.Prompt, said)
		}
		return quiet
	}
	for i := range c.Choices {
		add(fmt.Sprintf(`[{"index":%d,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]`, i), usage())
	}
	for _, delta := range e.deltas() {
		for i := range c.Choices {
			said += delta.tokens
			add(fmt.Sprintf(`[{"index":%d,"delta":%s,"logprobs":null,"finish_reason":null}]`, i, delta.json), usage())
		}
	}
	for i := range c.Choices {
		last := usage()
		if a.Report == OnLastChunk && i == c.Choices-1 {
			last = `,"usage":` + e.reports()[0]
		}
		add(fmt.Sprintf(`[{"index":%d,"delta":{},"logprobs":null,"finish_reason":%s}]`, i, quote(e.finish())), last)
	}
	if c.IncludeUsage && (a.Report == AsAsked || a.Report == EveryChunk) {
		for _, u := range e.reports() {
			add("[]", `,"usage":`+u)
		}
	}
	if !a.NoDone {
		out = append(out, []byte("data: [DONE]\n\n"))
	}
	return out
}

// chunk is one event in the member order OpenAI uses.
func (e *exchange) chunk(choices, usage string) []byte {
	return fmt.Appendf(nil, "data: {\"id\":%s,\"object\":\"chat.completion.chunk\",\"created\":%d,\"model\":%s,\"service_tier\":\"default\","+
		"\"system_fingerprint\":\"fp_fake\",\"choices\":%s%s,\"obfuscation\":\"kq3\"}\n\n",
		quote(e.id()), created, quote(e.call.Model+"-2026-01-01"), choices, usage)
}

type delta struct {
	json   string
	tokens int64
}

// deltas are the pieces of one choice.
func (e *exchange) deltas() []delta {
	var out []delta
	if len(e.answer.Tools) > 0 {
		for i, call := range e.answer.Tools {
			out = append(out, delta{json: fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`,
				i, quote(call.ID), quote(call.Name)), tokens: e.server.Tokens(call.Name)})
			half := len(call.Arguments) / 2
			for _, part := range []string{call.Arguments[:half], call.Arguments[half:]} {
				out = append(out, delta{
					json:   fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(part)),
					tokens: e.server.Tokens(part),
				})
			}
		}
		return out
	}
	for _, text := range e.text() {
		out = append(out, delta{json: `{"content":` + quote(text) + `}`, tokens: e.server.Tokens(text)})
	}
	return out
}

// chatPlain renders an answer that is not streamed, indented as OpenAI indents it.
func (e *exchange) chatPlain() (string, []byte) {
	var choices []string
	for i := range e.call.Choices {
		message := `{"role":"assistant","content":` + quote(strings.Join(e.text(), "")) + `,"refusal":null,"annotations":[]}`
		if len(e.answer.Tools) > 0 {
			var calls []string
			for _, c := range e.answer.Tools {
				calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(c.ID), quote(c.Name), quote(c.Arguments)))
			}
			message = `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `],"refusal":null,"annotations":[]}`
		}
		choices = append(choices, fmt.Sprintf(`{"index":%d,"message":%s,"logprobs":null,"finish_reason":%s}`, i, message, quote(e.finish())))
	}
	usage := ""
	if e.answer.Report != Absent {
		usage = `"usage":` + e.reports()[0] + `,`
	}
	compact := fmt.Sprintf(`{"id":%s,"object":"chat.completion","created":%d,"model":%s,"choices":[%s],%s"service_tier":"default","system_fingerprint":"fp_fake"}`,
		quote(e.id()), created, quote(e.call.Model+"-2026-01-01"), strings.Join(choices, ","), usage)
	return "application/json", indented(compact)
}

// reports are the usage objects the answer carries.
func (e *exchange) reports() []string {
	if len(e.answer.Usage) > 0 {
		return e.answer.Usage
	}
	return []string{UsageObject(e.call.Prompt, e.output())}
}

// output is what the call used of its output limit.
func (e *exchange) output() int64 {
	if e.answer.SpendAll {
		return e.call.Output
	}
	var sum int64
	for _, d := range e.deltas() {
		sum += d.tokens * e.call.Choices
	}
	return sum
}

func (e *exchange) text() []string {
	if e.answer.Text == nil {
		return greeting()
	}
	return e.answer.Text
}

func (e *exchange) finish() string {
	switch {
	case e.answer.Finish != "":
		return e.answer.Finish
	case len(e.answer.Tools) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (e *exchange) id() string { return "chatcmpl-" + e.call.User + "0" }

// UsageObject is a usage object as OpenAI sends it.
func UsageObject(prompt, completion int64) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`,
		prompt, completion, prompt+completion)
}

func modelList(names []string) []byte {
	var data []string
	for _, name := range names {
		data = append(data, fmt.Sprintf(`{"id":%s,"object":"model","created":%d,"owned_by":"system"}`, quote(name), created))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(`{"object":"list","data":[`+strings.Join(data, ",")+`]}`), "", "  "); err != nil {
		panic(err) // built from quoted names
	}
	return b.Bytes()
}
