package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// A scripted body returns one piece per read, then the error (io.EOF if nil).
type scripted struct {
	pieces []string
	err    error
}

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		if s.err == nil {
			return 0, io.EOF
		}
		return 0, s.err
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; s.pieces[0] == "" {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func (s *scripted) Close() error { return nil }

// countWords stands for a tokenizer. Like one, it gives the same sum when a text is cut before a space.
func countWords(s string) int64 { return int64(len(strings.Fields(s))) }

// relay reads an answer to its end.
func relay(t *testing.T, o AnswerOptions, body io.Reader) (string, Report) {
	t.Helper()
	if o.Count == nil {
		o.Count = countWords
	}
	a := NewAnswer(io.NopCloser(body), o)
	out, err := io.ReadAll(a)
	report := a.Report()
	if !errors.Is(err, report.Err) {
		t.Errorf("reading ended with %v, the report says %v", err, report.Err)
	}
	if diff := cmp.Diff(report, a.Report(), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("a second report differs:\n%s", diff)
	}
	return string(out), report
}

func checkReport(t *testing.T, got, want Report) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

const plain = `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"one two\nthree","refusal":null},"finish_reason":"stop"}],
 "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},
 "completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":null}},"service_tier":"default"}`

func TestAnswerPlain(t *testing.T) {
	usage := cost.Usage{Input: 10, CachedInput: 4, CacheWrite: 1, Output: 5, Reasoning: 2}
	tests := []struct {
		name, body string
		want       Report
	}{
		{"complete", plain, Report{Usage: usage, Reported: true, SawOutput: true, Complete: true}},
		{"blanks behind", plain + " \n", Report{Usage: usage, Reported: true, SawOutput: true, Complete: true}},
		{"cut in usage", plain[:strings.Index(plain, "cached")], Report{SawOutput: true, Counted: 3}},
		{"cut behind usage", plain[:len(plain)-1], Report{SawOutput: true, Counted: 3}},
		{"cut in text", plain[:strings.Index(plain, "wo\\n")+3], Report{SawOutput: true, Counted: 2}},
		{"two values", plain + plain, Report{SawOutput: true, Counted: 3}},
		{"nothing", "", Report{}},
		{"not an object", "[]", Report{Complete: true}},
		{"a string", `"usage"`, Report{}},
		{"HTML", "<html>busy</html>", Report{}},
		{"no usage", `{"choices":[{"message":{"content":"a b"}}]}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"null usage", `{"choices":[{"message":{"content":"a b"}}],"usage":null}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"empty usage", `{"choices":[{"message":{"content":"a b"}}],"usage":{}}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"zero usage", `{"choices":[{"message":{"content":"a b"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
			Report{SawOutput: true, Counted: 2, Complete: true, Reported: true}},
		{"error object", `{"error":{"message":"a b","type":null}}`, Report{Complete: true}},
		{"imitation in text", `{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1}","usage":{"prompt_tokens":1}}}]}`,
			Report{SawOutput: true, Counted: 1, Complete: true}},
		{"imitation in a name", `{"choices":[],"a\":1,\"usage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"imitation deeper", `{"x":{"usage":{"prompt_tokens":1}}}`, Report{Complete: true}},
		{"escaped name", `{"us\u0061ge":{"prompt_tokens":1}}`, Report{Usage: cost.Usage{Input: 1}, Reported: true, Complete: true}},
		{"other case", `{"Usage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"long name", `{"usageusageusageusageusageusage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"usage in an array", `[{"usage":{"prompt_tokens":1}}]`, Report{Complete: true}},
		{"tool call", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"look ","arguments":"{\"a\": 1}"}}]}}]}`,
			Report{SawOutput: true, Counted: 3, Complete: true}},
		{"log probabilities are no text", `{"choices":[{"logprobs":{"content":[{"token":"a b c","bytes":[1]}]},"message":{"content":"a"}}]}`,
			Report{SawOutput: true, Counted: 1, Complete: true}},
		{"content parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a b"}]}}]}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"choices as object", `{"choices":{"message":{"content":"a"}},"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			Report{Usage: cost.Usage{Input: 1, Output: 1}, SawOutput: true, Reported: true, Complete: true}},
		{"too deep", strings.Repeat(`{"a":`, 600) + `1` + strings.Repeat(`}`, 600), Report{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, report := relay(t, AnswerOptions{}, strings.NewReader(test.body))
			if out != test.body {
				t.Errorf("the body was changed: %q", out)
			}
			checkReport(t, report, test.want)
			_, slow := relay(t, AnswerOptions{}, iotest.OneByteReader(strings.NewReader(test.body)))
			checkReport(t, slow, test.want)
		})
	}
}

func TestAnswerUsageFigures(t *testing.T) {
	reported := func(u cost.Usage) Report { return Report{Usage: u, Reported: true, Complete: true} }
	bad := Report{Invalid: true, Complete: true}
	tests := map[string]Report{
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`:  reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":50}`: reported(cost.Usage{Input: 3, Output: 47}),
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":1}`:  reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3}`:                                                                                            reported(cost.Usage{Input: 3}),
		`{"completion_tokens":2,"total_tokens":5}`:                                                                       reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3,"prompt_tokens":7,"unknown":{"x":[-1.5e3]}}`:                                                 reported(cost.Usage{Input: 7}),
		`{"prompt_tokens":3,"prompt_tokens_details":null,"completion_tokens_details":null}`:                              reported(cost.Usage{Input: 3}),
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}`:                         reported(cost.Usage{Input: 3, CachedInput: 3}),
		`{"prompt_tokens":3,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":9,"audio_tokens":-1}}`: reported(cost.Usage{Input: 3, Output: 1, Reasoning: 1}),
		`{"prompt_tokens":3,"queue_time":0.25,"prompt_tokens_details":{"cached_tokens":null,"x":"y"}}`:                   reported(cost.Usage{Input: 3}),
		`{"prompt_tokens":999999999999999999,"total_tokens":1}`:                                                          reported(cost.Usage{Input: 999999999999999999}),
		`{"prompt_tokens":-3,"completion_tokens":2}`:                                                                     bad,
		`{"prompt_tokens":3,"completion_tokens":-0}`:                                                                     bad,
		`{"prompt_tokens":3.5}`:                 bad,
		`{"prompt_tokens":3e2}`:                 bad,
		`{"prompt_tokens":"3"}`:                 bad,
		`{"prompt_tokens":[3]}`:                 bad,
		`{"prompt_tokens":9999999999999999999}`: bad,
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":-1}}`:     bad,
		`{"prompt_tokens":3,"prompt_tokens_details":[]}`:                       bad,
		`{"prompt_tokens":3,"x":"` + strings.Repeat("x", maxUsageBytes) + `"}`: bad,
		`{"prompt_tokens":tru}`: bad,
		`17`:                    bad,
		`"3"`:                   bad,
		`[{"prompt_tokens":3}]`: bad,
		`{"prompt_tokens":3},"usage":{"prompt_tokens":1,"completion_tokens":2}`:                                              reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3},"usage":false`:                                                                                  {Usage: cost.Usage{Input: 3}, Reported: true, Invalid: true, Complete: true},
		`{"prompt_tokens":null,"completion_tokens":null}`:                                                                    {Complete: true},
		"{ \"prompt_tokens\"\n:\t3 , \"completion_tokens_details\" : { \"reasoning_tokens\" : 1 } , \"total_tokens\" : 12 }": reported(cost.Usage{Input: 3, Output: 9, Reasoning: 1}),
	}
	for usage, want := range tests {
		body := `{"choices":[],"usage":` + usage + `,"x":1}`
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
			if _, report := relay(t, AnswerOptions{}, r); !cmp.Equal(report, want) {
				t.Errorf("usage %.100s:\n got %+v\nwant %+v", usage, report, want)
			}
		}
	}
}

const (
	firstEvent = `data: {"id":"c","choices":[],"prompt_filter_results":[{}],"usage":null}` + "\n\n" // as Azure begins
	helloEvent = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}],"usage":null}` + "\n\n"
	worldEvent = `data: {"id":"c","choices":[{"index":0,"delta":{"content":" w\u00f6rld \"usage\": 7"},"finish_reason":"stop"}],"usage":null}` + "\n\n"
	usageEvent = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6,"total_tokens":15}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
)

func TestAnswerStream(t *testing.T) {
	usage := cost.Usage{Input: 9, Output: 6}
	full := Report{Usage: usage, Reported: true, SawOutput: true, Complete: true}
	tests := []struct {
		name, body, withheld string // withheld: what a caller gets who did not ask for usage; "": the same
		want                 Report
	}{
		{"full", firstEvent + helloEvent + worldEvent + usageEvent + doneEvent, firstEvent + helloEvent + worldEvent + doneEvent, full},
		{"no usage", helloEvent + worldEvent + doneEvent, "", Report{SawOutput: true, Complete: true, Counted: 4}},
		{"cut after text", helloEvent + worldEvent[:70], "", Report{SawOutput: true, Counted: 2}},
		{"cut in usage", helloEvent + usageEvent[:60], "", Report{SawOutput: true, Counted: 1}},
		{"cut after usage", helloEvent + usageEvent, helloEvent, Report{Usage: usage, Reported: true, SawOutput: true, Counted: 1}},
		{"no last empty line", helloEvent + usageEvent[:len(usageEvent)-2], "", Report{Usage: usage, Reported: true, SawOutput: true, Counted: 1}},
		{"done without a line end", helloEvent + usageEvent + "data: [DONE]", helloEvent + "data: [DONE]", full},
		{"done without a space", helloEvent + usageEvent + "data:[DONE]\n\n", helloEvent + "data:[DONE]\n\n", full},
		{"done in text", `data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}` + "\n\n", "", Report{SawOutput: true, Counted: 2}},
		{"done twice over two lines", "data: [DO\ndata: NE]\n\n", "", Report{}},
		{"stream in text", `data: {"choices":[{"delta":{"content":"\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":0}}\n\n"}}]}` + "\n\n" + doneEvent, "",
			Report{SawOutput: true, Complete: true, Counted: 2}},
		{"comments", ": hi\n\n" + helloEvent + ": ping\r\n\r\n" + usageEvent + ":\n" + doneEvent, ": hi\n\n" + helloEvent + ": ping\r\n\r\n:\n" + doneEvent, full},
		{"other fields", "event: message\nid: 1\nretry: 5\n" + helloEvent + "event: message\nid: 2\n" + usageEvent + "database\ndata\ndatum: {}\n\n" + doneEvent,
			"event: message\nid: 1\nretry: 5\n" + helloEvent + "database\ndata\ndatum: {}\n\n" + doneEvent, full},
		{"byte order mark", "\ufeff" + usageEvent + helloEvent + doneEvent, helloEvent + doneEvent, full},
		{"false byte order mark", "\xef\xbbdata: x\n\n" + helloEvent + usageEvent + doneEvent, "\xef\xbbdata: x\n\n" + helloEvent + doneEvent, full},
		{"data over several lines", helloEvent + "data: {\"choices\":[],\ndata: \"usage\":{\"prompt_tokens\":9,\ndata:\"total_tokens\":15}\ndata: }\n\n" + doneEvent, helloEvent + doneEvent, full},
		{"error in the stream", helloEvent + `data: {"error":{"message":"boom"}}` + "\n\n", "", Report{SawOutput: true, Counted: 1}},
		{"error beside usage", `data: {"error":{"message":"boom"},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "",
			Report{Usage: usage, Reported: true, Complete: true}},
		{"null error beside usage", `data: {"error":null,"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, doneEvent,
			Report{Usage: usage, Reported: true, Complete: true}},
		{"usage beside text", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "", full},
		{"usage without choices", `data: {"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "", Report{Usage: usage, Reported: true, Complete: true}},
		{"usage grows", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" +
			usageEvent + `data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":2,"completion_tokens":2}}` + "\n\n" + doneEvent,
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" +
				`data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":2,"completion_tokens":2}}` + "\n\n" + doneEvent, full},
		{"broken event", `data: {"usage":{"prompt_tokens":1}} x` + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":1}` + "\n\n" + helloEvent, "", Report{SawOutput: true, Counted: 1}},
		{"invalid usage", helloEvent + `data: {"choices":[],"usage":{"prompt_tokens":-1}}` + "\n\n" + doneEvent, helloEvent + doneEvent,
			Report{Invalid: true, SawOutput: true, Counted: 1, Complete: true}},
		{"long usage event", "data: " + strings.Repeat(" ", maxHeld) + usageEvent[6:] + helloEvent + usageEvent + doneEvent,
			"data: " + strings.Repeat(" ", maxHeld) + usageEvent[6:] + helloEvent + doneEvent, full},
		{"long line", `data: {"choices":[{"delta":{"content":"` + strings.Repeat("ab ", 200_000) + `"}}]}` + "\n\n" + doneEvent, "",
			Report{SawOutput: true, Complete: true, Counted: 200_000}},
		{"only blanks", "\n\r\n\r\r\n", "", Report{}},
	}
	for _, test := range tests {
		for _, ends := range []string{"\n", "\r\n", "\r"} {
			t.Run(test.name+map[string]string{"\n": "", "\r\n": " CRLF", "\r": " CR"}[ends], func(t *testing.T) {
				if ends != "\n" && strings.Contains(test.body, "\r") {
					return // has its own line ends
				}
				body, withheld := strings.ReplaceAll(test.body, "\n", ends), strings.ReplaceAll(test.withheld, "\n", ends)
				if withheld == "" {
					withheld = body
				}
				for _, split := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
					out, report := relay(t, AnswerOptions{Stream: true}, split(strings.NewReader(body)))
					if out != body {
						t.Errorf("the stream was changed: %q", out)
					}
					checkReport(t, report, test.want)
					out, report = relay(t, AnswerOptions{Stream: true, Withhold: true}, split(strings.NewReader(body)))
					if diff := cmp.Diff(withheld, out); diff != "" {
						t.Errorf("withheld (-want +got):\n%s", diff)
					}
					checkReport(t, report, test.want)
				}
			})
		}
	}
}

func TestAnswerPassesBytesAtOnce(t *testing.T) {
	pieces := []string{"da", `ta: {"choices":[{"delta":{"content":"x"}`, "}]}\n", "\nda", "ta: 1\n\ndata: 2\n\nd", "ata: [DONE]", "\n\n", ": ping", "\n"}
	a := NewAnswer(&scripted{pieces: slices.Clone(pieces)}, AnswerOptions{Stream: true})
	for _, want := range pieces {
		expectRead(t, a, want)
	}
}

func TestAnswerPassesEventsAtOnceWhenItWithholds(t *testing.T) {
	pieces := []string{"da", "ta: 1\n", "\nda", "ta: 2\n\ndata: 3\n\n: pi", "ng\n", usageEvent[:80], usageEvent[80:] + "data: [DONE]", "\n\n", "data: rest"}
	a := NewAnswer(&scripted{pieces: slices.Clone(pieces)}, AnswerOptions{Stream: true, Withhold: true})
	for _, want := range []string{"data: 1\n\n", "data: 2\n\ndata: 3\n\n: pi", "ng\n", "data: [DONE]\n\n", "data: rest"} {
		expectRead(t, a, want)
	}
	if n, err := a.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

func TestAnswerReleasesWhatItHoldsBeforeAnError(t *testing.T) {
	boom := errors.New("boom")
	for _, withhold := range []bool{false, true} {
		a := NewAnswer(&scripted{pieces: []string{helloEvent, usageEvent[:50]}, err: boom}, AnswerOptions{Stream: true, Withhold: withhold, Count: countWords})
		expectRead(t, a, helloEvent)
		expectRead(t, a, usageEvent[:50])
		for range 2 {
			if n, err := a.Read(make([]byte, 10)); n != 0 || err != boom {
				t.Errorf("got %d, %v", n, err)
			}
		}
		checkReport(t, a.Report(), Report{SawOutput: true, Counted: 1, Err: boom})
	}
}

func TestAnswerGivesUpOnAReaderThatReadsNothing(t *testing.T) {
	for _, withhold := range []bool{false, true} {
		a := NewAnswer(io.NopCloser(iotest.ErrReader(nil)), AnswerOptions{Stream: true, Withhold: withhold})
		if n, err := a.Read(make([]byte, 10)); n != 0 || err != io.ErrNoProgress {
			t.Errorf("got %d, %v", n, err)
		}
	}
}

func TestAnswerHoldsLittle(t *testing.T) {
	// An event without end passes once it is longer than what may be held, and goes on passing.
	endless := io.MultiReader(strings.NewReader(`data: {"choices":[{"delta":{"content":"`), &letters{left: 10 << 20})
	a := NewAnswer(io.NopCloser(endless), AnswerOptions{Stream: true, Withhold: true, Count: countWords})
	n, err := io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{a})
	if err != nil || n < 10<<20 {
		t.Errorf("passed %d bytes, %v", n, err)
	}
	if held := cap(a.buf) + cap(a.text.pending) + cap(a.scan.usage); held > 300<<10 {
		t.Errorf("holds %d bytes", held)
	}
}

// letters is a long text of one word.
type letters struct{ left int }

func (l *letters) Read(p []byte) (int, error) {
	n := min(len(p), l.left)
	if l.left -= n; n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'a'
	}
	return n, nil
}

func TestAnswerCountsInBatchesCutBetweenWords(t *testing.T) {
	for name, word := range map[string]string{"words": "wörd ", "one word": "ö", "no UTF-8": "\xb6"} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(word, 300_000/len(word))
			var got strings.Builder
			o := AnswerOptions{Count: func(batch string) int64 {
				if len(batch) > maxPending {
					t.Errorf("a batch of %d bytes", len(batch))
				}
				if strings.HasPrefix(batch, "\xb6") != strings.HasPrefix(word, "\xb6") || name == "words" && got.Len() > 0 && batch[0] != ' ' {
					t.Errorf("a batch begins with %q", batch[:4])
				}
				got.WriteString(batch)
				return 1
			}}
			_, report := relay(t, o, strings.NewReader(`{"choices":[{"text":"`+text+`"}]}`))
			if got.String() != text || report.Counted != int64(len(text)/maxPending)+1 {
				t.Errorf("counted %d bytes of %d in %d batches", got.Len(), len(text), report.Counted)
			}
		})
	}
}

func expectRead(t *testing.T, r io.Reader, want string) {
	t.Helper()
	buf := make([]byte, 1<<16)
	n, err := r.Read(buf)
	if string(buf[:n]) != want || err != nil {
		t.Errorf("read %q, %v, want %q", buf[:n], err, want)
	}
}

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
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64) {
		for _, o := range []AnswerOptions{{}, {Stream: true}, {Stream: true, Withhold: true}} {
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
			if u.Input < 0 || u.Output < 0 || u.CachedInput < 0 || u.CacheWrite < 0 || u.CachedInput+u.CacheWrite > u.Input || u.Reasoning > u.Output || u.Reasoning < 0 {
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
