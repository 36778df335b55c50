package fakeopenai

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (s *Server) readResponses(c *Call) {
	c.Prompt = 3 + s.textTokens(c.asked.Input, c.asked.Instructions)
	var items []json.RawMessage
	if json.Unmarshal(c.asked.Input, &items) == nil {
		c.Prompt += 3 * int64(len(items))
	} else {
		c.Prompt += 3 + s.Tokens("user") // it is short for a message
	}
	if c.asked.MaxOutputTokens != nil {
		c.Limited, c.Output = true, *c.asked.MaxOutputTokens
	}
}

// thought is how many tokens of hidden reasoning an answer of the Responses API has.
func (e *exchange) thought() (n int64) {
	for _, text := range e.answer.Reasoning {
		n += e.server.Tokens(text)
	}
	return n
}

func (e *exchange) responseUsage() string {
	if len(e.answer.Usage) > 0 {
		return e.answer.Usage[0]
	}
	return inputUsage(e.call.Prompt, e.output()+e.thought(), e.thought())
}

// status is how the answer ends: Finish "length" and "failed" are the ways not to be complete.
func (e *exchange) status() string {
	switch e.answer.Finish {
	case "length":
		return "incomplete"
	case "failed":
		return "failed"
	default:
		return "completed"
	}
}

// response is the object that the answer is, or is becoming: with its output and usage, or with neither.
func (e *exchange) response(status, output, usage string) string {
	failure, details := "null", "null"
	switch status {
	case "failed":
		failure = `{"code":"server_error","message":"The model failed to generate a response."}`
	case "incomplete":
		details = `{"reason":"max_output_tokens"}`
	}
	return fmt.Sprintf(`{"id":"resp_%s0","object":"response","created_at":%d,"status":%s,"background":false,"error":%s,"incomplete_details":%s,"instructions":null,`+
		`"max_output_tokens":null,"max_tool_calls":null,"model":%s,"output":[%s],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,`+
		`"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":false,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},`+
		`"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":%s,"user":null,"metadata":{}}`,
		e.call.User, created, quote(status), failure, details, quote(e.call.Model+"-2026-01-01"), output, usage)
}

func (e *exchange) responsesPlain() (string, []byte) {
	var output []string
	for _, item := range e.items() {
		output = append(output, item.done)
	}
	return "application/json", indented(e.response(e.status(), strings.Join(output, ","), e.responseUsage()))
}

// item is one item of the output, and the events between its beginning and its end.
type item struct {
	begun, done string
	events      []itemEvent
}

type itemEvent struct{ name, members string }

// items are what the answer says: reasoning, then text or function calls.
func (e *exchange) items() []item {
	var out []item
	if len(e.answer.Reasoning) > 0 {
		out = append(out, e.reasoningItem())
	}
	for i, call := range e.answer.Tools {
		out = append(out, callItem(i, call))
	}
	if len(e.answer.Tools) == 0 {
		out = append(out, e.messageItem())
	}
	return out
}

func (e *exchange) reasoningItem() item {
	const id = `"id":"rs_0","type":"reasoning"`
	whole := strings.Join(e.answer.Reasoning, "")
	i := item{
		begun: `{` + id + `,"summary":[]}`, done: fmt.Sprintf(`{%s,"summary":[{"type":"summary_text","text":%s}]}`, id, quote(whole)),
		events: []itemEvent{{"response.reasoning_summary_part.added", `"item_id":"rs_0","summary_index":0,"part":{"type":"summary_text","text":""}`}},
	}
	for _, text := range e.answer.Reasoning {
		i.events = append(i.events, itemEvent{"response.reasoning_summary_text.delta", `"item_id":"rs_0","summary_index":0,"delta":` + quote(text)})
	}
	i.events = append(i.events, itemEvent{"response.reasoning_summary_text.done", `"item_id":"rs_0","summary_index":0,"text":` + quote(whole)},
		itemEvent{"response.reasoning_summary_part.done", `"item_id":"rs_0","summary_index":0,"part":{"type":"summary_text","text":` + quote(whole) + `}`})
	return i
}

func (e *exchange) messageItem() item {
	const id, at = `"id":"msg_0","type":"message"`, `"item_id":"msg_0","content_index":0,`
	part := func(text string) string {
		return `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(text) + `}`
	}
	whole := strings.Join(e.text(), "")
	i := item{
		begun:  `{` + id + `,"status":"in_progress","content":[],"role":"assistant"}`,
		done:   fmt.Sprintf(`{%s,"status":%s,"content":[%s],"role":"assistant"}`, id, quote(strings.Replace(e.status(), "failed", "incomplete", 1)), part(whole)),
		events: []itemEvent{{"response.content_part.added", at + `"part":` + part("")}},
	}
	for _, text := range e.text() {
		i.events = append(i.events, itemEvent{"response.output_text.delta", at + `"delta":` + quote(text) + `,"logprobs":[],"obfuscation":"kq3"`})
	}
	i.events = append(i.events, itemEvent{"response.output_text.done", at + `"text":` + quote(whole) + `,"logprobs":[]`},
		itemEvent{"response.content_part.done", at + `"part":` + part(whole)})
	return i
}

func callItem(n int, call ToolCall) item {
	id := fmt.Sprintf(`"id":"fc_%d","type":"function_call","call_id":%s,"name":%s`, n, quote(call.ID), quote(call.Name))
	at := fmt.Sprintf(`"item_id":"fc_%d",`, n)
	i := item{
		begun: `{` + id + `,"status":"in_progress","arguments":""}`,
		done:  `{` + id + `,"status":"completed","arguments":` + quote(call.Arguments) + `}`,
	}
	half := len(call.Arguments) / 2
	for _, part := range []string{call.Arguments[:half], call.Arguments[half:]} {
		i.events = append(i.events, itemEvent{"response.function_call_arguments.delta", at + `"delta":` + quote(part)})
	}
	i.events = append(i.events, itemEvent{"response.function_call_arguments.done", at + `"name":` + quote(call.Name) + `,"arguments":` + quote(call.Arguments)})
	return i
}

func (e *exchange) responsesEvents() [][]byte {
	var out [][]byte
	add := func(name, members string) {
		out = append(out, event(name, `"sequence_number":%d,%s`, len(out), members))
	}
	add("response.created", `"response":`+e.response("in_progress", "", "null"))
	add("response.in_progress", `"response":`+e.response("in_progress", "", "null"))
	var output []string
	for n, item := range e.items() {
		at := fmt.Sprintf(`"output_index":%d`, n)
		add("response.output_item.added", at+`,"item":`+item.begun)
		for _, between := range item.events {
			add(between.name, at+","+between.members)
		}
		add("response.output_item.done", at+`,"item":`+item.done)
		output = append(output, item.done)
	}
	add("response."+e.status(), `"response":`+e.response(e.status(), strings.Join(output, ","), e.responseUsage()))
	return out
}
