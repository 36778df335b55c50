package wire

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const hidden = "sk-hidden"

// hide is what an upstream's Redact does.
func hide(text []byte) []byte {
	if !bytes.Contains(text, []byte(hidden)) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(hidden), []byte("[key]"))
}

var anyLine = regexp.MustCompile("[^\r\n]*(\r\n|\r|\n|$)")

// plainlyHidden is a stream as it is to be passed on: line by line, what carries an error or is no object without what is hidden, and all else as it is.
func plainlyHidden(stream string) string {
	var out, event strings.Builder
	end := func() {
		text := event.String()
		if CarriesError([]byte(text)) || saysNothing([]byte(text)) {
			text = strings.ReplaceAll(text, hidden, "[key]")
		}
		out.WriteString(text)
		event.Reset()
	}
	for _, line := range anyLine.FindAllString(stream, -1) {
		empty := strings.Trim(line, "\r\n") == ""
		if event.Len() == 0 && (empty || line[0] == ':') { // no event begins with these
			out.WriteString(line)
			continue
		}
		event.WriteString(line)
		if empty {
			end()
		}
	}
	end()
	return out.String()
}

// modes are the ways in which the events of a stream are passed on.
func modes() map[string]AnswerOptions {
	paid := func(bool) (bool, error) { return true, nil }
	count := func(s string) int64 { return int64(len(s)) }
	return map[string]AnswerOptions{
		"passed":             {Stream: true, Redact: hide},
		"withheld":           {Stream: true, Redact: hide, Withhold: true},
		"paid for":           {Stream: true, Redact: hide, Count: count, Cover: paid},
		"a response":         {Stream: true, Redact: hide, Endpoint: Responses},
		"a response, drawn":  {Stream: true, Redact: hide, Endpoint: Responses, Count: count, Cover: paid},
		"pictures":           {Stream: true, Redact: hide, Endpoint: Pictures},
		"counted, withheld":  {Stream: true, Redact: hide, Withhold: true, Count: count},
		"legacy completions": {Stream: true, Redact: hide, Endpoint: Completions},
	}
}

func mustHide(t interface{ Fatalf(string, ...any) }, stream string, pattern uint64) {
	want := plainlyHidden(stream)
	for name, o := range modes() {
		if got, err := io.ReadAll(NewAnswer(io.NopCloser(&cutter{[]byte(stream), pattern}), o)); err != nil || string(got) != want {
			t.Fatalf("%s: %q became\n%q, %v, want\n%q", name, stream, got, err, want)
		}
	}
}

// TestErrorsOfStreamsAreRedacted, however they are cut, and between whatever events; what a model says is not.
func TestErrorsOfStreamsAreRedacted(t *testing.T) {
	text := func(s string) string { return `data: {"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` }
	odd := func(member string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"a"}}],` + member + "}"
	}
	events := []string{
		text("one"), text("two " + hidden), text("error"), text(hidden) + "\nevent: error",
		`data: {"error":{"message":"` + hidden + `"}}`, `data: {"error":null,"x":"` + hidden + `"}`,
		"event: error\ndata: {\"message\":\"" + hidden + "\"}", "event: error\n" + text(hidden), "event: x\n" + text("three "+hidden),
		`data: {"type":"response.failed","response":{"error":{"message":"` + hidden + `"}}}`, `data: {"type":"error","message":"` + hidden + `"}`,
		`data: {"type":"response.output_text.delta","delta":"` + hidden + `"}`, `data: {"type":"response.output_text.delta","delta":"four"}`,
		`data: {"choices":[{"index":0,"delta":{"content":"five"}}],"error":{"message":"` + hidden + `"}}`,
		text("one") + "\nevent: error", odd(`"type":"error","message":"x"`), odd(`"type":"error","message":"` + hidden + `"`),
		odd(`"Error":{"message":"x"}`), odd(`"Error":{"message":"` + hidden + `"}`), odd(`"message":"x"`), odd(`"message":"` + hidden + `"`),
		"data: {\"error\":\ndata: \"" + hidden + "\"}", "data: " + hidden, ": " + hidden, "data: [DONE]", hidden, "data",
	}
	rapid.Check(t, func(rt *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "line end")
		chosen := rapid.SliceOfN(rapid.SampledFrom(events), 0, 12).Draw(rt, "events")
		stream := strings.ReplaceAll(strings.Join(chosen, "\n\n")+rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(rt, "end"), "\n", end)
		mustHide(rt, stream, rapid.Uint64().Draw(rt, "cut"))
	})
}

// An event that is too long passes as it is, and those behind it are looked at again.
func TestLongEventsPassUnredacted(t *testing.T) {
	long := `data: {"error":null,"type":"x","response":{"error":null},"choices":[{"delta":{"content":"` + hidden + strings.Repeat("x", 2*maxHeld) + "\"}}]}\n\n"
	short := `data: {"error":{"message":"` + hidden + "\"}}\n\n"
	for name, o := range modes() {
		got, err := io.ReadAll(NewAnswer(io.NopCloser(strings.NewReader(short+long+short)), o))
		if want := plainlyHidden(short) + long + plainlyHidden(short); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
}

// TestLongErrorsEndTheAnswer: nobody sees of them what they would not of shorter ones.
func TestLongErrorsEndTheAnswer(t *testing.T) {
	x := hidden + strings.Repeat("x", 2*maxHeld)
	short := `data: {"choices":[]}` + "\n\n"
	for _, long := range []string{
		`data: {"error":{"message":"` + x, `data: {"id":1,"Error":"` + x, "event: error\ndata: " + x, `data: {"type":"error","message":"` + x,
		`data: {"type":"response.failed","response":{"id":"a","output":[1,{}],"error":{"message":"` + x, `data: {"response":{},"error":["` + x,
	} {
		for name, o := range modes() {
			got, err := io.ReadAll(NewAnswer(io.NopCloser(strings.NewReader(short+long+"\"}}\n\n"+short)), o))
			if !errors.Is(err, errLongError) || string(got) != short {
				t.Errorf("%.60s, %s: %d bytes, %v", long, name, len(got), err)
			}
		}
	}
}

func FuzzRedacted(f *testing.F) {
	f.Add("data: {\"error\":\"K\"}\n\ndata: \"K\"\r\n\r\ndata: {\"error\":\"K", uint64(1))
	f.Add("\ufeff: K\n\nevent: error\rdata: K\r\r", uint64(2))
	f.Add(strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"K\"}}]}\n\n", 3)+"event: error\ndata: {\"choices\":[{\"delta\":{\"content\":\"K\"}}]}\n\n", uint64(3))
	f.Fuzz(func(t *testing.T, stream string, pattern uint64) {
		mustHide(t, strings.ReplaceAll(stream, "K", hidden), pattern)
	})
}
