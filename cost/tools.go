package cost

import (
	"encoding/json"
	"strings"
)

// tools counts the definitions and the choice among them. For models of before gpt-4o the older form is known to be the
// one; for all others the newer one is taken.
func (e *Estimate) tools(r Request, m Model, counter *counter) {
	basis := Formula
	if !m.KnownEncoding {
		basis = Approximate
	}
	switch shown, rest, ok := renderTools(r.Tools, m.Encoding != "cl100k_base"); {
	case !ok:
		e.add(PartTools, saturatingMul(verbatim(r.Tools, counter), longRendering), Approximate)
	case !m.KnownEncoding: // others commonly show their models the JSON
		e.add(PartTools, counter.larger(
			func() int64 { return verbatim(r.Tools, counter) },
			func() int64 { return counter.Count(shown) + counter.Count(rest) },
		), Approximate)
	default:
		e.add(PartTools, counter.Count(shown), basis)
		e.add(PartTools, counter.Count(rest), Approximate)
	}
	switch name, kind := toolChoice(r.ToolChoice); kind {
	case noChoice:
	case wordChoice:
		e.add(PartTools, 1, basis)
	case namedChoice:
		e.add(PartTools, counter.Count(name)+4, basis)
	case otherChoice:
		e.add(PartTools, counter.Count(r.ToolChoice), Approximate)
	}
}

// longRendering is how many times its JSON a definition counts that is rendered at such a length that it is not done: more
// than the empty lines with indentation take that make it so long.
const longRendering = 4

// verbatim counts definitions as the JSON they are.
func verbatim(definitions []string, counter Counter) (n int64) {
	for _, definition := range definitions {
		n = saturatingAdd(n, counter.Count(definition))
	}
	return n
}

// choiceKind is what a request says about which tool to call.
type choiceKind uint8

const (
	noChoice    choiceKind = iota // nothing that the model is told
	wordChoice                    // "none" or "required"
	namedChoice                   // one tool
	otherChoice
)

// toolChoice reads a choice. A tool is named as {"name": n}, {"type": "function", "name": n} or
// {"type": "function", "function": {"name": n}}, and a custom tool likewise.
func toolChoice(choice string) (name string, kind choiceKind) {
	switch choice {
	case "", "null", `"auto"`:
		return "", noChoice
	case `"none"`, `"required"`:
		return "", wordChoice
	}
	t, ok := parseTree(choice)
	if !ok || t.kind(root) != '{' {
		return "", otherChoice
	}
	for n := range t.each(root) {
		switch member := t.nodes[n].name; {
		case member == "type" && (t.raw(n) == `"function"` || t.raw(n) == `"custom"`):
		case member == "name" && t.kind(n) == '"' && kind == noChoice:
			name, kind = unquoted(t.raw(n)), namedChoice
		case (member == "function" || member == "custom") && t.kind(n) == '{' && kind == noChoice:
			first := t.nodes[n].first
			if first == 0 || t.nodes[first].name != "name" || t.kind(first) != '"' || t.nodes[first].next != 0 {
				return "", otherChoice
			}
			name, kind = unquoted(t.raw(first)), namedChoice
		default:
			return "", otherChoice
		}
	}
	if kind != namedChoice {
		return "", otherChoice
	}
	return name, kind
}

// ToolCall is a call that an assistant's message makes.
type ToolCall struct {
	Name      string // of the tool
	Arguments string // as the model wrote them
}

// AddToolCalls adds the calls of one message. The formula is that of petrbrzek/openai-chat-tokens, found by trying
// conversations and reading the usage: a single call is its name and arguments, and the name once more for the result,
// with two tokens around them; several are written as a call of one tool that makes them all. Their numbers (call_...)
// are not shown to the model.
func (r *Request) AddToolCalls(calls []ToolCall) {
	const aroundOne, aroundSeveral = 2, 12
	switch len(calls) {
	case 0:
	case 1:
		r.Text = append(r.Text, Text{PartMessages, calls[0].Name + calls[0].Arguments}, Text{PartMessages, calls[0].Name})
		r.CallTokens = saturatingAdd(r.CallTokens, aroundOne)
	default:
		r.Text = append(r.Text, Text{PartMessages, toolUses(calls)})
		r.CallTokens = saturatingAdd(r.CallTokens, aroundSeveral+int64(len(calls)))
	}
}

// toolUses renders several calls as {"tool_uses":[{"recipient_name":"look","parameters":"{}"}]}.
func toolUses(calls []ToolCall) string {
	var b strings.Builder
	b.WriteString(`{"tool_uses":[`)
	for i, call := range calls {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"recipient_name":` + quoted(call.Name) + `,"parameters":` + quoted(call.Arguments) + `}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

// quoted is a text as a JSON string, without the escapes that only HTML needs.
func quoted(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always can be
	return strings.TrimSuffix(b.String(), "\n")
}
