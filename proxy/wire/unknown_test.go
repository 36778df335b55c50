package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// manyNames are the members of an object whose names are texts.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%05d word word word word word word word word word word":0`, i)
	}
	return b.String()[1:]
}

// TestWhatStandsInThePlaceOfATextCountsWhole: names and numbers, too.
func TestWhatStandsInThePlaceOfATextCountsWhole(t *testing.T) {
	const n = 50
	names := manyNames(n)
	number := strings.Repeat("1234567890", 3)
	numbers := "[" + strings.Repeat(number+",", n-1) + number + "]"
	for _, object := range []string{"{" + names + "}", "[[{" + names + "}]]", numbers, `{"x":` + numbers + "}"} {
		for place, body := range map[string]string{
			"arguments":        `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":@}}]}`,
			"input":            `{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"f","input":@}}]}`,
			"second arguments": `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"arguments":"a","arguments":@}}]}`,
			"a call's name":    `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":@}}]}`,
			"a call's member":  `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","x":@}}]}`,
			"beside a call":    `{"role":"assistant","tool_calls":[{"id":"1","x":@}]}`,
			"a function":       `{"role":"assistant","tool_calls":[{"id":"1","function":@}]}`,
			"tool_calls":       `{"role":"assistant","tool_calls":[@]}`,
			"function_call":    `{"role":"assistant","function_call":{"name":"f","arguments":@}}`,
			"name":             `{"role":"user","name":@}`,
			"role":             `{"role":@}`,
			"refusal":          `{"role":"assistant","refusal":@}`,
			"a member":         `{"role":"user","content":"a","x":@}`,
			"content":          `{"role":"tool","tool_call_id":"1","content":@}`,
			"text":             `{"role":"user","content":[{"type":"text","text":@}]}`,
			"a part's member":  `{"role":"user","content":[{"type":"text","text":"a","x":@}]}`,
			"a picture":        `{"role":"user","content":[{"image_url":{"url":"a","x":@}}]}`,
			"annotations":      `{"role":"assistant","annotations":@}`,
		} {
			countsWhole(t, place, Chat, `{"model":"m","messages":[`+strings.ReplaceAll(body, "@", object)+`]}`, n)
		}
		for place, body := range map[string]string{
			"arguments": `{"type":"function_call","call_id":"1","name":"f","arguments":@}`, "input": `{"type":"custom_tool_call","call_id":"1","name":"f","input":@}`,
			"output": `{"type":"function_call_output","call_id":"1","output":@}`, "content": `{"role":"user","content":@}`,
			"text": `{"role":"user","content":[{"type":"input_text","text":@}]}`, "a member": `{"role":"user","content":"a","x":@}`,
			"action": `{"type":"shell_call","action":@}`, "logs": `{"type":"code_interpreter_call","outputs":[{"type":"logs","logs":@}]}`,
		} {
			countsWhole(t, place, Responses, `{"model":"m","input":[`+strings.ReplaceAll(body, "@", object)+`]}`, n)
		}
	}
	countsWhole(t, "members of a part", Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a",`+names+`}]}]}`, n)
	countsWhole(t, "members of a message", Chat, `{"model":"m","messages":[{"role":"user",`+names+`}]}`, n)
	countsWhole(t, "members of an item", Responses, `{"model":"m","input":[{"role":"user",`+names+`}]}`, n)
	countsWhole(t, "members of a function call", Chat, `{"model":"m","messages":[{"function_call":{`+names+`}}]}`, n)
}

// countsWhole fails the test if what is counted of a body has not 10 words, or a number, for each of n members.
func countsWhole(t *testing.T, place string, e Endpoint, body string, n int) {
	t.Helper()
	words, numbers := 0, 0
	for _, text := range readAt(t, e, body).Cost.Text {
		words += strings.Count(text.S, "word")
		numbers += strings.Count(text.S, strings.Repeat("1234567890", 3))
	}
	if words < 10*n && numbers < n {
		t.Errorf("%s: %d words and %d numbers of %d members: %.150s", place, words, numbers, n, body)
	}
}

// TestWhatClientsSendBackCountsAsItsTexts: what SDKs put into a history beside them adds nothing.
func TestWhatClientsSendBackCountsAsItsTexts(t *testing.T) {
	req := read(t, `{"model":"m","messages":[{"role":"assistant","content":"a","refusal":null,"annotations":[],"function_call":null,
		"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`)
	if n := len(req.Cost.Text); n != 4 { // the role, the content, the call, its name once more
		t.Errorf("%d texts: %+v", n, req.Cost.Text)
	}
}

// TestLongNamesCountWhereverTheyStand: a name of more than 64 bytes may be a text.
func TestLongNamesCountWhereverTheyStand(t *testing.T) {
	long := strings.Repeat("long name ", 20)
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"Hi","%s":"x"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"Hi"}],"%s":"x"}`,
		`{"model":"m","messages":[{"role":"user","content":"Hi"}],"%s":{"a":1}}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi","%s":1}]}]}`,
		`{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"%s":1}}`,
	} {
		req, err := Read(Chat, "application/json", []byte(strings.Replace(body, "%s", long, 1)))
		if err != nil {
			t.Errorf("%.70s: %v", body, err)
			continue
		}
		if !slices.ContainsFunc(req.Cost.Text, func(text cost.Text) bool { return strings.Contains(text.S, long) }) {
			t.Errorf("%.70s: %+v", body, req.Cost.Text)
		}
	}
}
