package wire

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestWhatShouldBeAnObject is known by its first byte, however it comes.
func TestWhatShouldBeAnObject(t *testing.T) {
	for text, want := range map[string]struct{ begun, strange bool }{
		"": {}, " \r\n\t": {}, "\ufeff": {}, "\ufeff \n": {}, "\xef\xbb": {},
		"{": {true, false}, "\n {]": {true, false}, "\ufeff{": {true, false}, " \ufeff\n{": {true, false},
		"<": {true, true}, "[{": {true, true}, "null": {true, true}, `"{`: {true, true}, "data: {": {true, true}, "\x00{": {true, true},
		"\xef{": {true, true}, "\xef {": {true, true}, "\ufeff\ufeff{": {true, true},
	} {
		for o, reads := range map[*AnswerOptions]bool{
			{Object: true}: true, {}: false, {Object: true, Stream: true}: false, {Object: true, Text: true}: false, {Object: true, Bytes: true}: false,
		} {
			a := NewAnswer(io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), *o)
			if got, err := io.ReadAll(a); err != nil || string(got) != text {
				t.Fatalf("%q, %v", got, err)
			}
			if a.Begun() != (want.begun || !reads) || a.Strange() != (want.strange && reads) {
				t.Errorf("%q, %+v: begun %v, strange %v", text, *o, a.Begun(), a.Strange())
			}
		}
	}
}

// TestComplaints are errors by what their members are called; what may be a model's is none.
func TestComplaints(t *testing.T) {
	for text, want := range map[string]bool{
		`{"detail":"x"}`: true, `{"type":"about:blank","title":"x","status":500,"detail":"x"}`: true, `{"errors":["x"],"code":1}`: true,
		`{"\u0064etail":{"object":"x","choices":1}}`: true, `{"object":"error"}`: true, `{"choices":[],"object":"error"}`: true, `{"msg":"x`: true,
		`{}`: false, `{"status":"ok"}`: false, `{"detail":"x","choices":[]}`: false, `{"choices":[],"detail":"x"}`: false, `{"detail":"x","id":1}`: false,
		`{"message":"x","code":1}`: false, `{"output":[{"detail":"x"}]}`: false, `{"object":["error"]}`: false, `{"object":{"object":"error"}}`: false,
		`{"data":{"object":"error"}}`: false, `{"object":"list","data":[{"object":"error"}]}`: false, `{"Detail":"x"}`: false, `{"":1,"detail":2}`: false,
	} {
		for _, e := range Endpoints() {
			a := NewAnswer(io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), AnswerOptions{Endpoint: e})
			if _, err := io.ReadAll(a); err != nil || a.Failed() != want {
				t.Errorf("%s, %s: failed %v, %v", e, text, a.Failed(), err)
			}
		}
	}
}
