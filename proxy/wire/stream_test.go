package wire

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

const (
	firstEvent = `data: {"id":"c","choices":[],"prompt_filter_results":[{}],"usage":null}` + "\n\n" // as Azure begins
	helloEvent = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}],"usage":null}` + "\n\n"
	worldEvent = `data: {"id":"c","choices":[{"index":0,"delta":{"content":" w\u00f6rld \"usage\": 7"},"finish_reason":"stop"}],"usage":null}` + "\n\n"
	usageEvent = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6,"total_tokens":15}}` + "\n\n"
	doneEvent  = "data: [DONE]\n\n"
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
		{
			"stream in text", `data: {"choices":[{"delta":{"content":"\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":0}}\n\n"}}]}` + "\n\n" + doneEvent, "",
			Report{SawOutput: true, Complete: true, Counted: 2},
		},
		{"comments", ": hi\n\n" + helloEvent + ": ping\r\n\r\n" + usageEvent + ":\n" + doneEvent, ": hi\n\n" + helloEvent + ": ping\r\n\r\n:\n" + doneEvent, full},
		{
			"other fields", "event: message\nid: 1\nretry: 5\n" + helloEvent + "event: message\nid: 2\n" + usageEvent + "database\ndata\ndatum: {}\n\n" + doneEvent,
			"event: message\nid: 1\nretry: 5\n" + helloEvent + "database\ndata\ndatum: {}\n\n" + doneEvent, full,
		},
		{
			"byte order mark", "\ufeff" + usageEvent + helloEvent + doneEvent, helloEvent + doneEvent,
			Report{Usage: usage, Reported: true, SawOutput: true, Behind: true, Counted: 1, Complete: true},
		},
		{"false byte order mark", "\xef\xbbdata: x\n\n" + helloEvent + usageEvent + doneEvent, "\xef\xbbdata: x\n\n" + helloEvent + doneEvent, full},
		{"data over several lines", helloEvent + "data: {\"choices\":[],\ndata: \"usage\":{\"prompt_tokens\":9,\ndata:\"total_tokens\":15}\ndata: }\n\n" + doneEvent, helloEvent + doneEvent, full},
		{"error in the stream", helloEvent + `data: {"error":{"message":"boom"}}` + "\n\n", "", Report{SawOutput: true, Counted: 1}},
		{
			"error beside usage", `data: {"error":{"message":"boom"},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "",
			Report{Usage: usage, Reported: true, Complete: true},
		},
		{
			"null error beside usage", `data: {"error":null,"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, doneEvent,
			Report{Usage: usage, Reported: true, Complete: true},
		},
		{"usage beside text", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "", full},
		{"usage without choices", `data: {"usage":{"prompt_tokens":9,"completion_tokens":6}}` + "\n\n" + doneEvent, "", Report{Usage: usage, Reported: true, Complete: true}},
		{
			"usage grows", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" +
				usageEvent + `data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":2,"completion_tokens":2}}` + "\n\n" + doneEvent,
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" +
				`data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":2,"completion_tokens":2}}` + "\n\n" + doneEvent, full,
		},
		{"broken event", `data: {"usage":{"prompt_tokens":1}} x` + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":1}` + "\n\n" + helloEvent, "", Report{SawOutput: true, Counted: 1}},
		{
			"invalid usage", helloEvent + `data: {"choices":[],"usage":{"prompt_tokens":-1}}` + "\n\n" + doneEvent, helloEvent + doneEvent,
			Report{Invalid: true, SawOutput: true, Counted: 1, Complete: true},
		},
		{
			"long usage event", "data: " + strings.Repeat(" ", maxHeld) + usageEvent[6:] + helloEvent + usageEvent + doneEvent,
			"data: " + strings.Repeat(" ", maxHeld) + usageEvent[6:] + helloEvent + doneEvent, full,
		},
		{
			"long line", `data: {"choices":[{"delta":{"content":"` + strings.Repeat("ab ", 30_000) + `"}}]}` + "\n\n" + doneEvent, "",
			Report{SawOutput: true, Complete: true, Counted: 30_000},
		},
		{
			"tier", `data: {"service_tier":"flex","choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"service_tier":"flex","choices":[{"delta":{"content":"b"}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n", "", Report{Tier: cost.Flex, SawOutput: true, Counted: 3},
		},
		{
			"tier that ends every event", strings.Repeat(`data: {"choices":[{"delta":{"content":"a"}}],"service_tier":"priority"}`+"\n\n", 3) + `data: {"choices":[{"delta":{"content":"a"}}],"service_tier":"prepaid"}` + "\n\n", "",
			Report{Tier: cost.OtherTier, SawOutput: true, Counted: 4},
		},
		{"tier in a broken event", `data: {"service_tier":"flex"]` + "\n\n" + doneEvent, "", Report{Complete: true}},
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
	if n, err := a.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
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
			if n, err := a.Read(make([]byte, 10)); n != 0 || !errors.Is(err, boom) {
				t.Errorf("got %d, %v", n, err)
			}
		}
		checkReport(t, a.Report(), Report{SawOutput: true, Counted: 1, Err: boom})
	}
}

func TestAnswerGivesUpOnAReaderThatReadsNothing(t *testing.T) {
	for _, withhold := range []bool{false, true} {
		a := NewAnswer(io.NopCloser(iotest.ErrReader(nil)), AnswerOptions{Stream: true, Withhold: withhold})
		if n, err := a.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.ErrNoProgress) {
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
	if held := cap(a.buf) + cap(a.text.pending) + cap(a.scan.usage); held > maxHeld+300<<10 {
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

// TestAnswerIsCompleteBeforeItsEnd: with the piece that completes an answer it is known to be complete, a report made then is the
// one that would be made at the end, and what follows passes all the same.
func TestAnswerIsCompleteBeforeItsEnd(t *testing.T) {
	tail := helloEvent + usageEvent
	for name, c := range map[string]struct {
		pieces []string
		stream bool
		at     int // of the pieces
	}{
		"stream":                {[]string{helloEvent, tail, doneEvent}, true, 2},
		"done and its end":      {[]string{tail, "data: [DONE]", "\n", "\n"}, true, 1},
		"done in pieces":        {[]string{tail, "data: [DO", "NE]\n\n"}, true, 2},
		"comments after it":     {[]string{tail, doneEvent, ": bye\n\n"}, true, 1},
		"plain":                 {[]string{`{"usage":{"prompt_tokens":9,"completion_tokens":6,`, `"total_tokens":15}}`, "\n"}, false, 1},
		"plain, in small steps": {[]string{`{"usage":{"prompt_tokens":9,"completion_tokens":6,"total_tokens":15}`, "}", " ", "\n"}, false, 1},
	} {
		for _, withhold := range []bool{false, true} {
			options := AnswerOptions{Stream: c.stream, Withhold: withhold, Count: countWords}
			late := NewAnswer(&scripted{pieces: slices.Clone(c.pieces)}, options)
			whole, _ := io.ReadAll(late)
			early := NewAnswer(&scripted{pieces: slices.Clone(c.pieces)}, options)
			var got []byte
			for piece := make([]byte, 4096); ; {
				n, err := early.Read(piece)
				got = append(got, piece[:n]...)
				// Read passes on no more than one piece at a time.
				if early.Complete() {
					early.Report()
				} else if !withhold && len(got) >= len(strings.Join(c.pieces[:c.at+1], "")) {
					t.Errorf("%s: not complete after %q", name, got)
				}
				if err != nil {
					break
				}
			}
			if !early.Complete() || string(got) != string(whole) {
				t.Errorf("%s: complete %v; passed %q, want %q", name, early.Complete(), got, whole)
			}
			if diff := cmp.Diff(late.Report(), early.Report()); diff != "" || !early.Report().Complete {
				t.Errorf("%s: the early report differs (-late +early):\n%s", name, diff)
			}
		}
	}
}
