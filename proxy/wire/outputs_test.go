package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// streamOf numbers events.
func streamOf(events ...[2]string) string {
	var b strings.Builder
	for i, e := range events {
		b.WriteString(event(e[0], fmt.Sprintf(`,"sequence_number":%d%s`, i, e[1])))
	}
	return b.String()
}

// TestEndingOfAResponseWithItems: what is open is finished, what was finished stays, and the last event has all of it, without what was
// not paid for.
func TestEndingOfAResponseWithItems(t *testing.T) {
	const created, text = "response.created", "response.output_text.delta"
	body := [][2]string{
		{created, `,"response":{"id":"r","model":"m","output":[]}`},
		{"response.output_item.added", `,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}`},
		{"response.reasoning_summary_part.added", `,"item_id":"rs","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}`},
		{"response.reasoning_summary_text.delta", `,"item_id":"rs","output_index":0,"summary_index":0,"delta":"hm"`},
		{"response.reasoning_summary_text.done", `,"item_id":"rs","output_index":0,"summary_index":0,"text":"hm"`},
		{"response.reasoning_summary_part.done", `,"item_id":"rs","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"hm"}`},
		{"response.output_item.done", `,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`},
		{"response.output_item.added", `,"output_index":1,"item":{"id":"msg","type":"message","status":"in_progress","content":[],"role":"assistant"}`},
		{"response.content_part.added", `,"item_id":"msg","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}`},
		{text, `,"item_id":"msg","output_index":1,"content_index":0,"delta":" one \"é\u00e9\n"`},
		{"response.output_text.annotation.added", `,"item_id":"msg","output_index":1,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation"}`},
		{"response.output_text.done", `,"item_id":"msg","output_index":1,"content_index":0,"text":" one"`},
		{"response.content_part.done", `,"item_id":"msg","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[1],"text":" one"}`},
		{"response.content_part.added", `,"item_id":"msg","output_index":1,"content_index":1,"part":{"type":"refusal","refusal":""}`},
		{"response.refusal.delta", `,"item_id":"msg","output_index":1,"content_index":1,"delta":" no"`},
		{"response.output_item.added", `,"output_index":2,"item":{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":"","status":"in_progress"}`},
		{"response.function_call_arguments.delta", `,"item_id":"fc","output_index":2,"delta":" {\"a\": "`},
		{text, `,"item_id":"nobody","output_index":7,"content_index":0,"delta":" lost"`},
		{"response.function_call_arguments.delta", `,"item_id":"fc","output_index":2,"delta":" 1 2 3 4 5 6 7 8"`},
	}
	paidFor := streamOf(body[:len(body)-1]...)
	got, err := paid(t, &purse{left: 9, end: &Ending{Budget: "b", Choices: 1}}, AnswerOptions{Endpoint: Responses}, strings.NewReader(streamOf(body...)))
	ending, ok := strings.CutPrefix(got, paidFor)
	if err != nil || !ok {
		t.Fatalf("%v: %s", err, got)
	}
	const (
		reasoning = `{"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`
		part      = `{"type":"refusal","refusal":" no"}`
		message   = `{"id":"msg","type":"message","status":"incomplete","content":[{"type":"output_text","annotations":[1],"text":" one"},` + part + `],"role":"assistant"}`
		call      = `{"id":"fc","type":"function_call","call_id":"c","name":"f","arguments":" {\"a\": ","status":"incomplete"}`
		mark      = `"tokenfare":{"ended":"budget","budget":"b"}`
	)
	want := streamOf(append(body[:len(body)-1:len(body)-1], [][2]string{
		{"response.refusal.done", `,"item_id":"msg","output_index":1,"content_index":1,"refusal":" no"`},
		{"response.content_part.done", `,"item_id":"msg","output_index":1,"content_index":1,"part":` + part},
		{"response.output_item.done", `,"output_index":1,"item":` + message},
		{"response.function_call_arguments.done", `,"item_id":"fc","output_index":2,"name":"f","arguments":" {\"a\": "`},
		{"response.output_item.done", `,"output_index":2,"item":` + call},
	}...)...)[len(paidFor):]
	finish, last, _ := strings.Cut(ending, "event: response.incomplete\n")
	if diff := cmp.Diff(want, finish); diff != "" {
		t.Errorf("what finishes the items (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(last, fmt.Sprintf(`data: {"type":"response.incomplete","sequence_number":%d,`, len(body)+4)) ||
		!strings.Contains(last, `"output":[`+reasoning+","+message+","+call+"]") || !strings.HasSuffix(last, mark+"}\n\n") {
		t.Errorf("the last event: %s", last)
	}
	// While a text is open, its text and annotations are those that have come.
	got, err = paid(t, &purse{left: 3, end: &Ending{Budget: "b"}}, AnswerOptions{Endpoint: Responses}, strings.NewReader(streamOf(body[:11]...)+streamOf(body[9], body[9])))
	if err != nil || !strings.Contains(got, `"logprobs":[]}`) || strings.Count(got, `"text":" one \"éé\n"`) != 4 || strings.Count(got, `"annotations":[{"type":"url_citation"}]`) != 3 {
		t.Errorf("%v, %s", err, got)
	}
}

// TestEndingOfALongResponse: what is kept is bounded, and what does not fit is named.
func TestEndingOfALongResponse(t *testing.T) {
	var b strings.Builder
	b.WriteString(streamOf([2]string{"response.created", `,"response":{"id":"r","output":[]}`}))
	for place := range 2 {
		fmt.Fprintf(&b, "data: {\"type\":\"response.output_item.added\",\"output_index\":%d,\"item\":{\"id\":\"msg%d\",\"type\":\"message\",\"content\":[],\"role\":\"assistant\"}}\n\n", place, place)
		fmt.Fprintf(&b, "data: {\"type\":\"response.content_part.added\",\"output_index\":%d,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"text\":\"\"}}\n\n", place)
		for range 190 {
			fmt.Fprintf(&b, "data: {\"type\":\"response.output_text.delta\",\"output_index\":%d,\"content_index\":0,\"delta\":%q}\n\n", place, strings.Repeat("x", 1000)+" ")
		}
	}
	for place := range 2000 { // items without end, and one with long names
		fmt.Fprintf(&b, "data: {\"type\":\"response.output_item.added\",\"output_index\":%d,\"item\":{\"id\":%q,\"type\":\"message\",\"content\":[]}}\n\n", 2+place, strings.Repeat("n", 3000))
	}
	b.WriteString("data: {\"type\":\"response.output_text.delta\",\"delta\":\"" + strings.Repeat("w ", 1000) + "\"}\n\n")
	p := &purse{left: 385, end: &Ending{Budget: "b"}}
	got, err := paid(t, p, AnswerOptions{Endpoint: Responses}, strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	var last struct {
		Response struct {
			Output []struct {
				ID, Type, Status string
				Content          []struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal(eventData([]byte(got[strings.LastIndex(got, "event: "):])), &last); err != nil {
		t.Fatal(err)
	}
	out := last.Response.Output
	if len(out) < 2 || len(out) > mostItems || out[0].ID != "msg0" || len(out[0].Content) != 1 || len(out[0].Content[0].Text) != 190*1001 {
		t.Errorf("%d items; what fits: %.200v", len(out), out)
	}
	if len(out) > 1 && (out[1].ID != "msg1" || out[1].Status != "incomplete" || len(out[1].Content) != 0) {
		t.Errorf("what does not fit: %.300v", out[1])
	}
	if kept := p.answer.seen.outputs.size; kept > mostKept {
		t.Errorf("%d bytes are kept", kept)
	}
}
