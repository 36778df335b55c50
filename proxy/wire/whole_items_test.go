package wire

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// finished is the event of an item that is finished, as OpenAI writes it; or with its members in another order, as servers do that
// write them in that of their names.
func finished(index, item string, sorted bool) string {
	if sorted {
		return `data: {"item":` + item + `,"output_index":` + index + `,"sequence_number":9,"type":"response.output_item.done"}` + "\n\n"
	}
	return event("response.output_item.done", `,"sequence_number":9,"output_index":`+index+`,"item":`+item)
}

// wholeItems are items of which each says six words, and what must not count.
var wholeItems = map[string]string{
	"patch":           `{"id":"a b c","type":"apply_patch_call","status":"completed","call_id":"c d","operation":{"path":"one","diff":" two\n three four","type":" five six"}}`,
	"local shell":     `{"id":"a b","type":"local_shell_call","action":{"command":["one two"," three"," four five"],"env":{"A B":" six"},"timeout_ms":7},"call_id":"c d"}`,
	"shell":           `{"type":"shell_call","action":{"commands":["one two three"," four five six"],"max_output_length":9},"environment":{"type":"local x y"},"created_by":"x y"}`,
	"computer":        `{"type":"computer_call","action":{"type":"one","text":" two three"},"actions":[{"keys":[" four"]},{"text":" five six"}],"pending_safety_checks":[{"message":"x y z"}]}`,
	"search":          `{"type":"web_search_call","action":{"query":"one","sources":[{"type":"url","url":"x y z"},["w v"]],"queries":[" two three"," four five six"]}}`,
	"files":           `{"type":"file_search_call","queries":["one two"," three four five six"],"results":[{"text":"x y z"}]}`,
	"tools":           `{"type":"tool_search_call","arguments":{"a":"one two","b":[{"c":" three four five six"}]},"execution":"x y"}`,
	"unknown":         `{"type":"some_new_call","wish":"one two three four five six"}`,
	"the type last":   `{"action":{"commands":["one two three"," four five six"]},"id":"a b","type":"shell_call"}`,
	"a type in words": `{"action":{"commands":["one two three"," four five"],"type":" message"},"id":"a b","type":"shell_call"}`,
}

// quietItems are those that say nothing, or commonly have said it before.
var quietItems = map[string]string{
	"message":   `{"type":"message","content":[{"type":"output_text","text":"one two"}]}`,
	"function":  `{"arguments":"{ 1 }","name":"f g","type":"function_call"}`,
	"custom":    `{"type":"custom_tool_call","input":"one two"}`,
	"reasoning": `{"summary":[{"text":"one two"}],"type":"reasoning","encrypted_content":"x y"}`,
	"code":      `{"type":"code_interpreter_call","code":"one two","outputs":[{"logs":"x y"}]}`,
	"output":    `{"type":"shell_call_output","output":[{"stdout":"x y"}],"max":"x y"}`,
	"listed":    `{"tools":[{"name":"x y"}],"more":"x y","type":"mcp_list_tools"}`,
	"picture":   `{"type":"image_generation_call","result":"x y","revised_prompt":"x y"}`,
}

// TestItemsThatComeWholeCount: in an event of a stream, and in an answer without usage.
func TestItemsThatComeWholeCount(t *testing.T) {
	count := func(o AnswerOptions, body string) int64 {
		t.Helper()
		o.Endpoint = Responses
		_, whole := relay(t, o, strings.NewReader(body))
		_, cut := relay(t, o, &cutter{[]byte(body), 0x5555aaaa12345})
		if !cmp.Equal(whole, cut) {
			t.Errorf("%s\nin one piece %+v, in several %+v", body, whole, cut)
		}
		return whole.Counted
	}
	stream := AnswerOptions{Stream: true}
	for name, item := range wholeItems {
		if n := count(AnswerOptions{}, `{"id":"resp a b","output":[`+item+`,`+item+`],"usage":null}`); n < 11 || n > 12 {
			t.Errorf("%s: two of them in an answer count %d", name, n)
		}
		for _, sorted := range []bool{false, true} {
			if n := count(stream, finished("0", item, sorted)+finished("12", item, sorted)); n < 11 || n > 12 {
				t.Errorf("%s: two of them in a stream count %d", name, n)
			}
			spoken := event("response.shell_call_command.delta", `,"output_index":12,"delta":"seven"`) + event("response.output_text.delta", `,"output_index":1,"delta":" eight"`)
			if n := count(stream, spoken+finished("12", item, sorted)+finished("1", item, sorted)); n != 2 {
				t.Errorf("%s: what has come in pieces counts once more: %d", name, n)
			}
			if n := count(stream, strings.ReplaceAll(finished("0", item, sorted), ".done", ".added")); n != 0 {
				t.Errorf("%s: what is only begun counts %d", name, n)
			}
		}
	}
	for name, want := range map[string]int64{"message": 2, "function": 4, "custom": 2, "reasoning": 2, "code": 2, "output": 0, "listed": 0, "picture": 0} {
		if n := count(AnswerOptions{}, `{"output":[`+quietItems[name]+`]}`); n != want {
			t.Errorf("%s counts %d in an answer, want %d", name, n, want)
		}
		for _, sorted := range []bool{false, true} {
			item := finished("0", quietItems[name], sorted)
			if n := count(stream, item); n != want {
				t.Errorf("%s counts %d in a stream that has not said it before, want %d", name, n, want)
			}
			for _, index := range []string{`,"output_index":0`, ""} {
				if n := count(stream, event("response.x.delta", index+`,"delta":"seven"`)+item); n != 1 {
					t.Errorf("%s counts once more: %d", name, n-1)
				}
			}
		}
	}
}

// TestItemsThatComeWholeArePaidForFirst: whatever their length, the event does not pass before.
func TestItemsThatComeWholeArePaidForFirst(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		for _, words := range []int{5, 60_000} {
			long := finished("0", `{"type":"apply_patch_call","operation":{"diff":"`+strings.Repeat("word ", words)+`"}}`, sorted)
			first := event("response.created", `,"sequence_number":0,"response":{"id":"r"}`)
			p := &purse{left: int64(words) - 1, end: &Ending{Budget: "b", Choices: 1}}
			got, err := paid(t, p, AnswerOptions{Endpoint: Responses}, strings.NewReader(first+long))
			if err != nil || p.waited != 1 || strings.Contains(got, "word") || !strings.HasPrefix(got, first+"event: response.incomplete\n") {
				t.Errorf("%d words, sorted %v: waited %d times, %v, %.300q", words, sorted, p.waited, err, got)
			}
			p = &purse{left: int64(words) + 1, end: io.ErrClosedPipe}
			if got, err := paid(t, p, AnswerOptions{Endpoint: Responses}, strings.NewReader(first+long)); err != nil || got != first+long {
				t.Errorf("%d words that are paid for, sorted %v: %v, %.300q", words, sorted, err, got)
			}
		}
	}
	endless := finished("0", `{"type":"apply_patch_call","operation":{"diff":"`+strings.Repeat("word ", 500_000)+`"}}`, false)
	got, err := paid(t, &purse{left: 300_000, end: &Ending{}}, AnswerOptions{Endpoint: Responses}, strings.NewReader(endless))
	if !errors.As(err, new(*Ending)) || countWords(got) > 300_020 || countWords(got) < 200_000 {
		t.Errorf("an item beyond all bounds: %v, %d words passed", err, countWords(got))
	}
}
