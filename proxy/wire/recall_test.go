package wire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What streams are made of in which most events are like the one before; %s is a text, %[2]s padding and %[3]s a number.
var (
	chatEvents = []string{
		`{"id":"c","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}],"usage":null}`,
		`{"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}],"obfuscation":"%[2]s"}`,
		`{"id":"c","choices":[{"index":%[3]s,"delta":{"content":"%[1]s"}}],"obfuscation":"%[2]s","created":%[3]s}`,
		`{"choices":[{"delta":{"content":"%s"},"logprobs":{"text":"%[2]s"}}]}`,
		`{"choices":[{"index":%[3]s,"delta":{},"finish_reason":"%[2]s"}]}`,
		`{"choices":[{"index":%[3]s,"delta":{"content":"%[1]s"},"finish_reason":"stop"}],"service_tier":"%[2]s"}`,
		`{"choices":[{"delta":{"content":"%s"}}],"usage":{"prompt_tokens":3,"completion_tokens":%[3]s,"x":"y"},"pad":"%[2]s"}`,
		`{"usage":{"prompt_tokens":5,"x":"y"},"choices":[{"delta":{"content":"%s"}},{"delta":{"content":"%[2]s"}}],"pad":"333"}`,
		`{"choices":[{"delta":{"content":"%s"},"x":"%[2]s"}],"error":"z","model":"%[2]s"}`,
		`{"choices":[{"delta":{"thinking":"%s"},"stop_reason":"%[2]s"}]}`,
		`{"choices":[{"delta":{"audio":{"data":"%[2]s","transcript":"%[1]s"}}}]}`,
		`{"choices":[{"delta":{"content":"%s","images":[{"url":"%[2]s"}]}}]}`,
		`{"message":{"content":"%s"},"id":"%[2]s"}`,
		`[{"delta":"%s","x":{"id":"%[2]s"}}]`,
		`{"choices":[],"usage":{"x":"y","prompt_tokens":%[3]s}}`,
		`{"choices":[{"delta":{"content":"%s`,
		`{"choices":[{"delta":{"content":"%s"}}]} x`,
	}
	responseEvents = []string{
		`{"type":"response.created","sequence_number":%[3]s,"response":{"id":"resp_1","object":"response","output":[],"model":"%[2]s"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[],"role":"%[2]s"}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","name":"%[2]s","arguments":""}}`,
		`{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`,
		`{"type":"response.output_text.delta","sequence_number":%[3]s,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"%[1]s","obfuscation":"%[2]s"}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"%s","obfuscation":"%[2]s","sequence_number":%[3]s}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"%s","sequence_number":%[3]s,"obfuscation":"%[2]s"}`,
		`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"sequence_number":%[3]s,"delta":"%[1]s"}`,
		`{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"%s"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","content":[{"text":"%s"}],"role":"assistant"}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"id":"x_1","type":"new_call","wish":"%s"}}`,
		`{"type":"response.completed","response":{"output":[],"service_tier":"%[2]s","usage":{"input_tokens":3,"output_tokens":%[3]s}}}`,
		`{"type":"response.output_text.done","output_index":%[3]s,"content_index":%[3]s,"text":"%[1]s","obfuscation":"%[2]s"}`,
		`{"content_index":0,"output_index":%[3]s,"text":"%[1]s","type":"response.refusal.done"}`,
		`{"type":"response.content_part.done","part":{"text":"%s","signature":"%[2]s"},"output_index":1}`,
		`{"type":"response.output_item.done","output_index":%[3]s,"item":{"type":"function_call","arguments":"%[1]s","id":"%[2]s"}}`,
		`{"delta":"%s"}`,
		`{"delta":{"x":"%s","url":"%[2]s"}}`,
	}
	recalledTexts = []string{
		"", "a", " b c", " long enough to be more than one word of eight bytes", "response", `\n`, `x\"y`, `\\`, `\u00e9 z`, `\ud83d\ude00`, `\ud83d`, `\u00`, `\u00"`,
		`\q`, "ü", "a\x01", "a\nb", "a\n\nb", "\r", "\xff", `\`, "tab\t",
	}
	recalledNumbers = []string{"0", "1", "7", "12", "999999999999999", "1000000000000000000000", "1.5", "-1", "null", "01", "1e3"}
)

// TestAnswerRecallsWhatEventsHaveInCommon compares streams read in one piece, where an event that is like the one before is not read
// again, with the same read byte by byte, where it is. The budget may end them, so that what was seen of them shows.
func TestAnswerRecallsWhatEventsHaveInCommon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		endpoint, kinds := Chat, chatEvents
		if rapid.Bool().Draw(rt, "is a response") {
			endpoint, kinds = Responses, responseEvents
		}
		end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"}).Draw(rt, "line end")
		lead := rapid.SampledFrom([]string{"data: ", "data:", "event: x" + end + "data: ", ": c" + end + "data: "}).Draw(rt, "lead")
		var stream strings.Builder
		for range rapid.IntRange(0, 8).Draw(rt, "kinds") {
			kind := rapid.SampledFrom(kinds).Draw(rt, "kind")
			for range rapid.IntRange(1, 4).Draw(rt, "times") {
				fmt.Fprintf(&stream, lead+kind+"%.0[4]s"+end+end, rapid.SampledFrom(recalledTexts).Draw(rt, "text"),
					rapid.SampledFrom(recalledTexts).Draw(rt, "padding"), rapid.SampledFrom(recalledNumbers).Draw(rt, "number"), "")
			}
		}
		most := rapid.IntRange(0, 20).Draw(rt, "events paid for")
		for _, o := range []AnswerOptions{{}, {Withhold: true}, {Cover: endsAfter(most)}, {Withhold: true, Cover: endsAfter(most)}} {
			o.Endpoint, o.Stream = endpoint, true
			text := stream.String()
			out, report := relay(t, o, strings.NewReader(text))
			if o.Cover != nil {
				o.Cover = endsAfter(most)
			}
			slowly, want := relay(t, o, iotest.OneByteReader(strings.NewReader(text)))
			if out != slowly || !cmp.Equal(report, want) {
				rt.Fatalf("%q\nwithheld %v, paid %v: in one piece %q, %+v\nbyte by byte %q, %+v", text, o.Withhold, o.Cover != nil, out, report, slowly, want)
			}
		}
	})
}

// endsAfter is a budget that has enough for so many events with text.
func endsAfter(most int) Cover {
	return func(wait bool) (bool, error) {
		if wait {
			return false, &Ending{Budget: "b", Choices: 3, Asked: true}
		}
		most--
		return most >= 0, nil
	}
}

// TestAnswerComparesWhatIsAlike: of a stream whose events differ in their text, their number and their padding, few are read.
func TestAnswerComparesWhatIsAlike(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		stream   string
	}{"chat": {Chat, typicalStream(100)}, "response": {Responses, responseStream(100)}} {
		for _, cover := range []Cover{nil, endsAfter(1000)} {
			a := NewAnswer(&perEvent{rest: []byte(c.stream)}, AnswerOptions{Endpoint: c.endpoint, Stream: true, Cover: cover})
			alike, p := 0, make([]byte, 1<<10)
			for {
				n, err := a.Read(p)
				if err != nil {
					break
				}
				if bytes.Contains(p[:n], []byte(" token")) && a.known.alike(p[:n]) == n && len(a.known.text) > 0 {
					alike++
				}
			}
			if r := a.Report(); alike < 99 || !r.Complete || !r.Reported {
				t.Errorf("%s: %d events of 100 are alike, want all but the first at most; %+v", name, alike, r)
			}
		}
	}
}

// TestAnswerComparesWhatComesInPieces: an event that is not whole yet is not read before it is, unless it differs already; what is no event
// passes at once.
func TestAnswerComparesWhatComesInPieces(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		stream   string
	}{"chat": {Chat, typicalStream(100)}, "response": {Responses, responseStream(100)}} {
		for _, size := range []int{777, 1000, 5000} { // the first is all there
			var a *Answer
			alike := 0
			a = NewAnswer(&inPieces{c.stream, size}, AnswerOptions{Endpoint: c.endpoint, Stream: true, Cover: func(bool) (bool, error) {
				if a.recalled {
					alike++
				}
				return true, nil
			}})
			out, err := io.ReadAll(a)
			if err != nil || string(out) != c.stream || alike < 98 {
				t.Errorf("%s, %d bytes at a time: %d events of 100 are alike, want all but two at most; %v", name, size, alike, err)
			}
		}
	}
	more, events := io.Pipe()
	a := NewAnswer(more, AnswerOptions{Stream: true, Cover: endsAfter(1000)})
	first, _, _ := strings.Cut(typicalStream(1), "\n\n")
	for _, piece := range []string{first + "\n\n", ": keep-alive\n", ":\n\n", "data: {\"object\":\"another\"}\n\n"} {
		go func() { _, _ = io.WriteString(events, piece) }()
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(a, got); err != nil || string(got) != piece {
			t.Errorf("%q passes, %v, want %q", got, err, piece)
		}
	}
}

// inPieces is read so many bytes at a time.
type inPieces struct {
	rest string
	size int
}

func (r *inPieces) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.size)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
func (r *inPieces) Close() error { return nil }

func TestQuotedLength(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom(append(recalledTexts, `"`, " 12345678"))).Draw(rt, "text"), ""))
		n, escaped := quotedLength(b)
		if escaped != bytes.ContainsRune(b[:n], '\\') {
			rt.Errorf("%q: escaped %v", b[:n], escaped)
		}
		if n == len(b) || b[n] != '"' {
			return // no string, or none that is read alike everywhere
		}
		sink := &textSink{count: countWords}
		s := scanner{is: &reading{text: "d"}, sink: sink}
		s.feed(append(append([]byte(`{"d":"`), b[:n]...), `"}`...))
		if got := string(appendUnescaped(nil, b[:n])); !s.valid() || string(sink.pending) != got {
			rt.Errorf("%q is read as %q, want %q", b[:n], sink.pending, got)
		}
	})
}
