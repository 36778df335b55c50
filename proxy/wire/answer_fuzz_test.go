package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
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
	f.Add([]byte("data: {\"type\":\"transcript.text.delta\",\"delta\":\"a b\"}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":\"a b\",\"usage\":{\"type\":\"duration\",\"seconds\":2.5}}\n\n"), uint64(12))
	f.Add([]byte("event: image_generation.completed\r\ndata: {\"type\":\"image_generation.completed\",\"b64_json\":\"AAAA\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\r\n\r\n"), uint64(13))
	f.Add([]byte(": ping\n\n"+helloEvent+": ping\n"+"event: error\ndata: {\"error\":{\"message\":\"x\"}}\n\n: bye\n\n"+doneEvent), uint64(14))
	f.Add([]byte(strings.Repeat(strings.Replace(helloEvent, `"usage":null`, `"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":9}`, 1), 3)+doneEvent), uint64(15))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"images\":[{\"image_url\":{\"url\":\"data:image/png;base64,AA\"}}],\"url\":\"data:,\"}}]}\n\n"+usageEvent+helloEvent+doneEvent), uint64(16))
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64) {
		for _, o := range []AnswerOptions{
			{},
			{Stream: true},
			{Stream: true, Withhold: true},
			{Endpoint: Responses},
			{Endpoint: Responses, Stream: true},
			{Endpoint: Transcriptions},
			{Endpoint: Pictures, Stream: true},
			{Endpoint: Transcriptions, Stream: true},
			{Endpoint: Transcriptions, Text: true},
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
			if report.Behind && !(o.Stream && report.Reported && report.SawOutput) {
				t.Fatalf("%+v: no text can be behind a usage: %+v", o, report)
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
