package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cutter returns pieces whose lengths the pattern says.
type cutter struct {
	b       []byte
	pattern uint64
}

func (c *cutter) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	c.pattern = c.pattern*6364136223846793005 + 1442695040888963407
	n := copy(p[:min(len(p), 1+int(c.pattern>>60))], c.b)
	c.b = c.b[n:]
	return n, nil
}

// TestAnswerRecallsWhatEventsHaveInCommon compares streams read in one piece, where the scanner jumps over what it has
// seen before, with the same read byte by byte, where it cannot.
func TestAnswerRecallsWhatEventsHaveInCommon(t *testing.T) {
	events := []string{
		helloEvent, worldEvent, usageEvent, firstEvent, doneEvent,
		`data: {"choices":[{"delta":{"content":"a b"}}],"usage":{"prompt_tokens":3,"completion_tokens":1,"x":"y"},"pad":"1"}` + "\n\n",
		`data: {"choices":[{"delta":{"content":"a b"}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"x":"y"},"pad":"22"}` + "\n\n",
		`data: {"usage":{"prompt_tokens":5,"x":"y"},"choices":[{"delta":{"content":"a"}},{"delta":{"content":" b"}}],"pad":"333"}` + "\n\n",
		`data: {"usage":{"prompt_tokens":5,"x":"y"},"choices":[{"delta":{"content":" c"}},{"delta":{"content":" d e"}}],"pad":""}` + "\n\n",
		`data: {"choices":[{"delta":{"content":"a"}},{"delta":{"content":" b"},"x":"y"}],"error":"z"}` + "\n\n",
		`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"x":"y","prompt_tokens":7}}` + "\n\n",
		`data: {"choices":[{"delta":{"content":"b"}}],"usage":{"x":"y","prompt_tokens":8}}` + "\n\n",
		`data: {"choices":[{"delta":{"content":"` + "\n\n", `data: {"choices":[{"delta":{"content":" x"` + "\n\n",
		`data: {"choices":[{"delta":{"content":"\ud800"}}]} x` + "\n\n", `data: {"choices":[{"delta":{"content":" x"}}]}` + "\n\n",
	}
	rapid.Check(t, func(rt *rapid.T) {
		stream := strings.Join(rapid.SliceOf(rapid.SampledFrom(events)).Draw(rt, "events"), "")
		for _, o := range []AnswerOptions{{Stream: true}, {Stream: true, Withhold: true}} {
			out, report := relay(t, o, strings.NewReader(stream))
			slowly, want := relay(t, o, iotest.OneByteReader(strings.NewReader(stream)))
			if out != slowly || !cmp.Equal(report, want) {
				rt.Fatalf("%+v: in one piece %q, %+v\nbyte by byte %q, %+v", o, out, report, slowly, want)
			}
		}
	})
}

// FuzzAnswer: however the bytes are cut, the output and the report are the same, and what is not withheld is the input.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(plain), uint64(1))
	f.Add([]byte(helloEvent+strings.ReplaceAll(worldEvent+worldEvent, "\"stop\"", "null")+helloEvent+worldEvent), uint64(6))
	f.Add([]byte(strings.Repeat(`data: {"choices":[{"text":"a"},{"text":"b"}],"usage":{"x":"y","prompt_tokens":1},"pad":"p"}`+"\n\n", 3)), uint64(7))
	f.Add([]byte(firstEvent+helloEvent+worldEvent+usageEvent+doneEvent), uint64(2))
	f.Add([]byte(strings.ReplaceAll(": c\n\n"+helloEvent+usageEvent+doneEvent, "\n", "\r\n")), uint64(3))
	f.Add([]byte("\ufeffevent: x\rdata: {\"choices\":[],\rdata: \"usage\":{\"prompt_tokens\":-1}}\r\rdata\r\r"), uint64(4))
	f.Add([]byte(`{"choices":[{"text":"\ud83d\ude00\ud83dx\u00zz\q"}],"us\u0061ge":{"total_tokens":3},"usage":[]}`), uint64(5))
	f.Add([]byte(responsesStream), uint64(8))
	f.Add([]byte(said("completed", responsesUsage)), uint64(9))
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64) {
		for _, o := range []AnswerOptions{
			{},
			{Stream: true},
			{Stream: true, Withhold: true},
			{Endpoint: Responses},
			{Endpoint: Responses, Stream: true},
			{Endpoint: Transcriptions},
			{Endpoint: Pictures, Stream: true},
		} {
			out, report := relay(t, o, bytes.NewReader(body))
			if !o.Withhold && out != string(body) {
				t.Fatalf("%+v: the body was changed to %q", o, out)
			}
			if o.Withhold && !isSubsequence(out, body) {
				t.Fatalf("%+v: %q is not made of the body", o, out)
			}
			for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(body)), &cutter{body, pattern}} {
				again, second := relay(t, o, r)
				if again != out || !cmp.Equal(report, second) {
					t.Fatalf("%+v: cut in pieces: %q, %+v\nin one: %q, %+v", o, again, second, out, report)
				}
			}
			u := report.Usage
			if u != u.Normal() {
				t.Fatalf("usage %+v", u)
			}
		}
	})
}

func isSubsequence(s string, of []byte) bool {
	for _, c := range []byte(s) {
		i := bytes.IndexByte(of, c)
		if i < 0 {
			return false
		}
		of = of[i+1:]
	}
	return true
}
