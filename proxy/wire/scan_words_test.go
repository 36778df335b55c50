package wire

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// countOf is what an answer counts without a usage, read in one piece and byte by byte.
func countOf(t *testing.T, e Endpoint, stream bool, body string) int64 {
	t.Helper()
	o := AnswerOptions{Endpoint: e, Stream: stream}
	_, whole := relay(t, o, strings.NewReader(body))
	_, slow := relay(t, o, iotest.OneByteReader(strings.NewReader(body)))
	if !cmp.Equal(whole, slow) {
		t.Errorf("%s\nin one piece %+v, byte by byte %+v", body, whole, slow)
	}
	return whole.Counted
}

// chatWords are choices, or what stands in their place, in which five words are the model's, of which @ is its message.
var chatWords = map[string]string{
	"content":       `{"choices":[{"index":0,"@":{"role":"x y","content":" one two three four five"},"finish_reason":"x y"}]}`,
	"thinking":      `{"choices":[{"index":0,"@":{"thinking":" one two three four five"}}]}`,
	"a new name":    `{"choices":[{"@":{"a name that is longer than any that we know":" one two three","plan":{"steps":[" four",[" five"]]}}}]}`,
	"beside it":     `{"choices":[{"@":{},"reasoning_summary":" one two three four five"}]}`,
	"audio":         `{"choices":[{"@":{"audio":{"id":"x y","data":"UklGR+/_=","transcript":" one two three four five","expires_at":1}}}]}`,
	"thoughts":      `{"choices":[{"@":{"content":[{"type":"x y","thinking":[{"type":"x y","text":" one two three"}]},{"text":" four five"}]}}]}`,
	"pictures":      `{"choices":[{"@":{"images":[{"type":"x y","image_url":{"url":"data:image/png;base64,AAAA+/=="}}],"content":" one two three four five"}}]}`,
	"no picture":    `{"choices":[{"@":{"images":[{"image_url":{"url":"data:image/png;base64,one two three four five six"}}]}}]}`,
	"no sound":      `{"choices":[{"@":{"audio":{"data":"AAAA\none \u0074wo three four five"}}}]}`,
	"calls":         `{"choices":[{"@":{"tool_calls":[{"index":0,"id":"x y","type":"x y","function":{"name":" one","arguments":" two three"}},{"custom":{"name":" four","input":" five"}}]}}]}`,
	"probabilities": `{"choices":[{"logprobs":{"content":[{"token":"x y","bytes":[1],"top_logprobs":[{"token":"x y"}]}],"refusal":null},"@":{"content":" one two three four five"}}]}`,
	"sources":       `{"choices":[{"@":{"content":" one two three four five","annotations":[{"type":"url_citation","url_citation":{"title":"x y","url":"x y"}}]}}]}`,
	"filters":       `{"choices":[{"@":{"content":" one two three four five","signature":"xy=="},"content_filter_results":{"hate":{"severity":"x y"}}}]}`,
	"a message":     `{"id":"x y","model":"x y","@":{"role":"x y","content":" one two three four five"},"finish":1,"provider":"x y"}`,
	"texts":         `{"choices":[" one two"," three"],"content":" four","response":" five","obfuscation":"x y"}`,
	"an array":      `[{"id":"x y","object":"x y","model":"x y","choices":[{"index":0,"@":{"content":" one two three"}}]},[" four five"]]`,
}

// TestWordsCountUnderWhateverName: in an answer and in a stream, which ends when they are not paid for.
func TestWordsCountUnderWhateverName(t *testing.T) {
	for name, body := range chatWords {
		if n := countOf(t, Chat, false, strings.ReplaceAll(body, "@", "message")); n != 5 {
			t.Errorf("%s: %d in an answer", name, n)
		}
		for _, member := range []string{"delta", "message"} {
			chunk := "data: " + strings.ReplaceAll(body, "@", member) + "\n\n"
			if n := countOf(t, Chat, true, chunk+": x\n\n"+chunk); n != 10 {
				t.Errorf("%s: %d in two events with a %s", name, n, member)
			}
			p := &purse{left: 14, end: &Ending{Budget: "b", Choices: 1}}
			got, err := paid(t, p, AnswerOptions{}, strings.NewReader(strings.Repeat(chunk, 9)))
			if err != nil || !strings.HasPrefix(got, chunk+chunk) || strings.HasPrefix(got, chunk+chunk+chunk) {
				t.Errorf("%s: %v, %s", name, err, got)
			}
		}
	}
	for _, top := range []string{`[{"type":"x y","text":" one two"}]`, `{"output":[{"type":"message","content":[{"thought":" one"}," two"]}]}`} {
		if n := countOf(t, Responses, false, top); n != 2 {
			t.Errorf("%s counts %d", top, n)
		}
	}
	if n := countOf(t, Responses, true, `data: {"delta":{"text":" one","more":[" two"]}}`+"\n\n"); n != 2 {
		t.Errorf("a delta that is an object counts %d", n)
	}
}

// TestWhatIsFinishedCountsUnlessItWasSaid: in events that finish a part of an item, once, and only where no pieces of it have come.
func TestWhatIsFinishedCountsUnlessItWasSaid(t *testing.T) {
	at := func(content string) string { return `,"item_id":"x y","output_index":3` + content }
	sorted := func(kind, members string) string {
		return "data: {" + strings.TrimPrefix(members, ",") + `,"type":"` + kind + `"}` + "\n\n"
	}
	for _, write := range []func(kind, members string) string{event, sorted} {
		text := write("response.output_text.done", at(`,"content_index":0,"text":" one two","logprobs":[{"token":"x y"}]`))
		other := write("response.refusal.done", at(`,"content_index":1,"refusal":" three"`))
		summary := write("response.reasoning_summary_text.done", at(`,"summary_index":0,"text":" four"`))
		part := write("response.content_part.done", at(`,"content_index":0,"part":{"type":"x y","text":" one two","annotations":[{"title":"x y"}]}`))
		behind := write("response.content_part.done", `,"part":{"text":" one two"}`+at(`,"content_index":0`))
		item := write("response.output_item.done", at(`,"item":{"type":"message","content":[{"text":" one two"},{"refusal":" three"}]}`))
		call := write("response.function_call_arguments.done", at(`,"name":"f","arguments":" one two"`))
		delta := write("response.output_text.delta", at(`,"content_index":0,"delta":" one","obfuscation":"x y"`))
		for name, c := range map[string]struct {
			stream string
			want   int64
		}{
			"texts":                    {text, 2},
			"all there is":             {text + other + summary + part + behind + item, 4},
			"parts":                    {part + text + item, 2},
			"the place behind it":      {behind + text + item, 2},
			"an item":                  {item, 3},
			"items at one place":       {item + item, 6},
			"arguments":                {call + item, 3},
			"pieces":                   {delta + delta + text + part + behind + item, 2},
			"a part without pieces":    {delta + other + text + item, 2},
			"pieces without a place":   {write("x.delta", `,"delta":" one"`) + text + part + item + call, 1},
			"no place":                 {write("response.output_text.done", `,"text":" one two"`) + text + item, 2},
			"what begins":              {write("response.content_part.added", at(`,"part":{"text":"x y"}`)) + text, 2},
			"a new kind":               {write("response.new.done", at(`,"words":[" one"],"item_id":"x y"`)), 1},
			"a picture on its way":     {write("response.image_generation_call.partial_image", at(`,"partial_image_b64":"AAAA"`)), 0},
			"a long type":              {write("response."+strings.Repeat("x", 99)+".done", at(`,"text":"one"`)), 1},
			"an error":                 {write("error", `,"code":"x y","message":"x y"`), 0},
			"a place that is no place": {write("response.output_text.done", `,"output_index":-1,"content_index":1.5,"text":" one"`), 1},
		} {
			if n := countOf(t, Responses, true, c.stream); n != c.want {
				t.Errorf("%s: %d, want %d\n%s", name, n, c.want, c.stream)
			}
		}
		p := &purse{left: 1, end: &Ending{Budget: "b"}}
		if got, err := paid(t, p, AnswerOptions{Endpoint: Responses}, strings.NewReader(text)); err != nil || strings.Contains(got, "one") {
			t.Errorf("what is finished passes unpaid: %v, %s", err, got)
		}
	}
	p := &purse{left: 99, end: io.ErrClosedPipe}
	if got, err := paid(t, p, AnswerOptions{Endpoint: Responses}, strings.NewReader(finished("0", quietItems["message"], true))); err != nil || !strings.Contains(got, "one two") {
		t.Errorf("what is paid for: %v, %s", err, got)
	}
}
