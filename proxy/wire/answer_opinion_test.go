package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tokenfare/tokenfare/cost"
)

// A meaning is what an answer in OpenAI's shape says, as encoding/json reads it.
type meaning struct {
	usage             cost.Usage // per figure the largest
	reported, invalid bool
	text              strings.Builder // of all choices, in the order in which it stands there
	model             string
	tier              cost.Tier
}

// The members that OpenAI's answers have, in a choice and below it; those of true hold what the model said.
var spokenMembers = map[string]bool{
	"index": false, "finish_reason": false, "message": true, "delta": true, "role": false, "content": true, "refusal": true, "reasoning_content": true, "text": true,
	"tool_calls": true, "id": false, "type": false, "function": true, "name": true, "arguments": true,
}

// add takes the JSON value of an answer or an event, and reports whether it is in that shape, so that there is one way to read it. alone
// is true if it is the event that a stream's usage comes in.
func (m *meaning) add(text []byte) (alone, ok bool) {
	if !utf8.Valid(text) || !jsontext.Value(text).IsValid() { // which members that are repeated are not
		return false, false
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil || top == nil {
		return false, false
	}
	empty := false
	for name, value := range top {
		switch value = bytes.TrimSpace(value); name {
		case "id", "object", "created", "system_fingerprint":
			ok = value[0] != '{' && value[0] != '['
		case "model":
			var model string
			ok = json.Unmarshal(value, &model) == nil && value[0] == '"' && len(model) < maxModelName
			if m.model == "" {
				m.model = model
			}
			ok = ok && model != ""
		case "service_tier":
			var tier string
			ok = json.Unmarshal(value, &tier) == nil && len(tier) < 32
			m.tier = max(m.tier, cost.ParseTier(tier))
		case "usage":
			ok = value[0] == '{' || value[0] == 'n'
			if value[0] == '{' {
				alone = true
				usage, figures, plain := secondOpinion(value)
				m.invalid = m.invalid || !plain
				if plain && figures {
					m.usage, m.reported = m.usage.Larger(usage), true
				}
			}
		case "choices":
			ok = value[0] == '['
			d := json.NewDecoder(bytes.NewReader(value))
			d.UseNumber()
			choices, err := readNode(d)
			empty = err == nil && len(choices.items) == 0
			ok = ok && err == nil && m.speak(choices, true)
		default:
			ok = false
		}
		if !ok {
			return false, false
		}
	}
	return alone && empty, true
}

// speak adds the text in n, and reports whether all of it is as OpenAI writes it. n is what the model said, or around that.
func (m *meaning) speak(n *node, said bool) bool {
	if s, ok := n.value.(string); ok && said {
		m.text.WriteString(s)
	}
	for _, f := range n.members {
		below, known := spokenMembers[f.name]
		if _, text := f.value.value.(string); text && f.name == "index" {
			return false
		}
		if !known || !below && (f.value.members != nil || f.value.items != nil) || !m.speak(f.value, said && below) {
			return false
		}
	}
	for _, item := range n.items {
		if !m.speak(item, said) {
			return false
		}
	}
	return true
}

// FuzzAnswerMeaning holds what is noticed of an answer against encoding/json: of whole answers, and of streams whose events are JSON, the
// usage, the model, the tier and every character that was said, and which event is withheld.
func FuzzAnswerMeaning(f *testing.F) {
	const usage = `"usage":{"prompt_tokens":30,"completion_tokens":7,"total_tokens":40,"prompt_tokens_details":{"cached_tokens":20},"completion_tokens_details":{"reasoning_tokens":3}}`
	event := func(members ...string) string { return "data: {" + strings.Join(members, ",") + "}\n\n" }
	say := func(delta string) string {
		return `"id":"c","model":"m","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":null}]`
	}
	for _, seed := range []string{
		`{"id":"c","object":"chat.completion","created":1,"model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"one \u00fc \ud83d\ude00 \ud800x\n","refusal":null},"finish_reason":"stop"}],` + usage + `,"service_tier":"flex"}`,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":\"b\"}"}}]}},{"message":{"content":"second","reasoning_content":"why"}}],"usage":{"prompt_tokens":-1}}`,
		`{"model":"m","choices":[{"text":"a","index":0},{"text":"b","index":1}],"usage":null}`, `{"us\u0061ge":{"total_tokens":3},"choices":[]}`, `{"choices":[{"text":"\"usage\":{\"prompt_tokens\":1}"}]}`,
		event(say(`"role":"assistant","content":""`)) + event(say(`"content":"Hello"`)) + event(say(`"content":" there"`)) + event(`"id":"c","model":"m","choices":[]`, usage) + "data: [DONE]\n\n",
		strings.Repeat(event(say(`"content":"again"`), `"usage":{"prompt_tokens":3,"completion_tokens":1}`), 4) + event(say(`"content":"last"`), `"usage":{"prompt_tokens":2,"completion_tokens":9}`),
		event(say(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{"}}]`)) + event(say(`"refusal":"no","content":null`), `"service_tier":"priority"`) + event(`"choices":[]`, `"usage":{"prompt_tokens":1e3}`),
		event(`"choices":[]`, usage) + event(`"choices":[]`, `"usage":{}`) + event(`"choices":[]`, `"usage":null`) + "data: [DONE]\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		const most = 32 << 10 // so that no bound of the scanner is met
		if len(body) > most {
			return
		}
		var whole meaning
		if _, ok := whole.add(body); ok {
			meansTheSame(t, body, AnswerOptions{}, &whole, string(body), true)
		}
		var streamed meaning
		rest, withheld := string(body), ""
		done := false
		for rest != "" {
			line, behind, found := strings.Cut(rest, "\n\n")
			data, isData := strings.CutPrefix(line, "data: ")
			if !found || !isData || done || strings.ContainsAny(line, "\r\n") {
				return
			}
			alone := false
			if done = data == "[DONE]"; !done {
				var ok bool
				if alone, ok = streamed.add([]byte(data)); !ok {
					return
				}
			}
			if !alone {
				withheld += line + "\n\n"
			}
			rest = behind
		}
		meansTheSame(t, body, AnswerOptions{Stream: true}, &streamed, string(body), done)
		meansTheSame(t, body, AnswerOptions{Stream: true, Withhold: true}, &streamed, withheld, done)
	})
}

// meansTheSame demands that of an answer is noticed what it means, and that want of it passes.
func meansTheSame(t *testing.T, body []byte, o AnswerOptions, m *meaning, want string, complete bool) {
	t.Helper()
	for _, e := range []Endpoint{Chat, Completions} {
		var text strings.Builder
		o.Endpoint = e
		o.Count = func(s string) int64 {
			text.WriteString(s)
			return int64(len(s))
		}
		a := NewAnswer(io.NopCloser(bytes.NewReader(body)), o)
		out, err := io.ReadAll(a)
		if err != nil || string(out) != want {
			t.Fatalf("%+v: %s\nbecame %s\nwant %s: %v", o, body, out, want, err)
		}
		r := a.Report()
		a.Counted()
		if text.String() != m.text.String() || r.SawOutput != (m.text.Len() > 0) {
			t.Fatalf("%s %v: %s\nthe text is %q, and encoding/json reads %q", e, o.Stream, body, text.String(), m.text.String())
		}
		if r.Usage != m.usage.Normal() || r.Reported != m.reported || r.Invalid != m.invalid || r.Model != m.model || r.Tier != m.tier || r.Complete != complete {
			t.Fatalf("%s %v: %s\nis noticed as %+v, and encoding/json reads %+v, %v, %v, %q, %v", e, o.Stream, body, r, m.usage.Normal(), m.reported, m.invalid, m.model, m.tier)
		}
	}
}
