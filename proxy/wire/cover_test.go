package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// purse pays for so many words.
type purse struct {
	answer *Answer
	left   int64
	end    error // when it is empty
	waited int   // how often it was told to wait
}

func (p *purse) cover(wait bool) (bool, error) {
	if p.answer.Beyond(p.left) == 0 {
		return true, nil
	}
	if !wait {
		return false, nil
	}
	p.waited++
	return false, p.end
}

// paid reads a stream that is paid for.
func paid(t *testing.T, p *purse, o AnswerOptions, body io.Reader) (string, error) {
	t.Helper()
	o.Stream, o.Count, o.Cover = true, countWords, p.cover
	p.answer = NewAnswer(io.NopCloser(body), o)
	out, err := io.ReadAll(p.answer)
	return string(out), err
}

func say(text string) string {
	return `data: {"id":"c","created":7,"model":"m","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

const openEnd = `data: {"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],"tokenfare":{"ended":"budget","budget":"key a: 2 tokens"}}` + "\n\n"

// TestOnlyWhatIsPaidForPasses: event by event, however the bytes come; then the stream ends in its own name.
func TestOnlyWhatIsPaidForPasses(t *testing.T) {
	stream := firstEvent + say("one") + ": ping\n" + say(" two") + say(" three") + say(" four") + usageEvent + doneEvent
	for left, want := range []string{
		firstEvent + openEnd, firstEvent + say("one") + ": ping\n" + openEnd, firstEvent + say("one") + ": ping\n" + say(" two") + openEnd,
		firstEvent + say("one") + ": ping\n" + say(" two") + say(" three") + openEnd,
	} {
		for _, split := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			for _, ends := range []string{"\n", "\r\n", "\r"} {
				p := &purse{left: int64(left), end: &Ending{Budget: "key a: 2 tokens", Choices: 1}}
				got, err := paid(t, p, AnswerOptions{Withhold: left%2 == 0}, split(strings.NewReader(strings.ReplaceAll(stream, "\n", ends))))
				own := strings.TrimSuffix(want, openEnd)
				if diff := cmp.Diff(strings.ReplaceAll(own, "\n", ends)+openEnd+doneEvent, got); diff != "" || err != nil {
					t.Fatalf("%d words, %v (-want +got):\n%s", left, err, diff)
				}
				if !p.answer.Complete() || p.waited != 1 {
					t.Errorf("complete %v; waited %d times", p.answer.Complete(), p.waited)
				}
				if r := p.answer.Report(); !r.Complete || r.Err != nil || p.answer.Counted() != int64(left)+1 {
					t.Errorf("%+v, counted %d", r, p.answer.Counted())
				}
			}
		}
	}
	p := &purse{left: 4, end: errors.New("not needed")}
	if got, err := paid(t, p, AnswerOptions{}, strings.NewReader(stream)); got != stream || err != nil || p.waited != 0 {
		t.Errorf("all paid for: %v, waited %d times: %q", err, p.waited, got)
	}
}

// TestWhatIsPaidForDoesNotWait: what can pass has passed before anybody waits for the rest.
func TestWhatIsPaidForDoesNotWait(t *testing.T) {
	p := &purse{left: 2, end: errors.New("the client left")}
	a := NewAnswer(&scripted{pieces: []string{say("one") + say(" two") + say(" three") + say(" four")}}, AnswerOptions{Stream: true, Count: countWords, Cover: p.cover})
	p.answer = a
	expectRead(t, a, say("one")+say(" two"))
	if p.waited != 0 {
		t.Error("it waited before the first two had passed")
	}
	p.left = 3
	expectRead(t, a, say(" three"))
	for range 2 {
		if n, err := a.Read(make([]byte, 10)); n != 0 || !errors.Is(err, p.end) {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if a.Complete() {
		t.Error("a broken answer is complete")
	}
}

// TestALongEventIsPaidForFirst: whole, up to a MiB; beyond that as it comes, and then it cannot be ended in the protocol.
func TestALongEventIsPaidForFirst(t *testing.T) {
	end := &Ending{Budget: "b", Choices: 1}
	long := say(strings.Repeat("word ", 60_000)) // 300 kB
	for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.HalfReader} {
		if got, err := paid(t, &purse{left: 59_999, end: end}, AnswerOptions{}, read(strings.NewReader(say("a ")+long+doneEvent))); err != nil ||
			!strings.HasPrefix(got, say("a ")+`data: {"id":"c","object"`) || strings.Contains(got, "word") {
			t.Errorf("a long event that is not paid for: %v, %.300q", err, got)
		}
		if got, err := paid(t, &purse{left: 60_001, end: end}, AnswerOptions{}, read(strings.NewReader(say("a ")+long+doneEvent))); err != nil || got != say("a ")+long+doneEvent {
			t.Errorf("a long event that is paid for: %v, %d bytes", err, len(got))
		}
		endless := say(strings.Repeat("word ", 500_000))
		got, err := paid(t, &purse{left: 300_000, end: end}, AnswerOptions{}, read(strings.NewReader(endless)))
		if !errors.As(err, new(*Ending)) || countWords(got) > 300_010 || countWords(got) < 200_000 || !strings.HasPrefix(endless, got) {
			t.Errorf("an event beyond all bounds: %v, %d words passed", err, countWords(got))
		}
	}
}

// TestATornEndIsPaidFor: what a cut stream leaves behind is no event, and costs what is in it.
func TestATornEndIsPaidFor(t *testing.T) {
	boom, next := errors.New("boom"), say(" two three four")
	torn := next[:strings.Index(next, " four")]
	for left, want := range []string{openEnd + doneEvent, say("one") + openEnd + doneEvent, say("one") + openEnd + doneEvent, say("one") + torn} {
		p := &purse{left: int64(left), end: &Ending{Budget: "key a: 2 tokens", Choices: 1}}
		got, err := paid(t, p, AnswerOptions{}, &scripted{pieces: []string{say("one"), torn}, err: boom})
		if broken := errors.Is(err, boom); got != want || broken != (left == 3) {
			t.Errorf("%d words: %v, %q", left, err, got)
		}
	}
}

// TestPayingCountsLinearly: whatever the limits asked about, no text is counted twice but last words, and the sum is that of
// counting once.
func TestPayingCountsLinearly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", " b", " longer", "er", "\n", " wörd", "—"}), 1, 400).Draw(rt, "deltas")
		step := rapid.Int64Range(1, 60).Draw(rt, "step")
		all, limit := "", step
		sink := textSink{count: countWords}
		for _, w := range words {
			all += w
			sink.add([]byte(w))
			sink.endEvent()
			for n := sink.beyond(limit); n > 0; n = sink.beyond(limit) {
				limit += step
			}
			if exact := max(countWords(all), sink.deltas); exact > limit {
				rt.Fatalf("%d tokens pass for %d", exact, limit)
			}
		}
		if got, want := sink.total(), max(countWords(all), sink.deltas); got < want {
			rt.Fatalf("counted %d in steps of %d, and %d at once", got, step, want)
		}
	})
	// A long stream with small steps.
	counted, text := 0, strings.Repeat(" word", 40_000)
	sink := textSink{count: func(s string) int64 { counted += len(s); return countWords(s) }}
	for limit := int64(16); len(text) > 0; text = text[5:] {
		sink.add([]byte(text[:5]))
		sink.endEvent()
		for sink.beyond(limit-8) > 0 {
			limit += 16
		}
	}
	if counted > 3*200_000 {
		t.Errorf("counted %d bytes of 200,000", counted)
	}
}

func TestEndingOfAStreamWithSeveralChoices(t *testing.T) {
	chunk := func(choices string) string {
		return `data: {"id":"x","object":"chat.completion.chunk","created":7,"model":"m","service_tier":"flex","system_fingerprint":"f","choices":[` + choices + `]}` + "\n\n"
	}
	stream := `data: {"id":"","model":"","choices":[],"prompt_filter_results":[]}` + "\n\n" + // as Azure begins
		chunk(`{"index":0,"delta":{"content":"a"},"finish_reason":null},{"index":1,"delta":{"content":" b"},"finish_reason": null}`) +
		chunk(`{"index":1,"delta":{"content":"\"finish_reason\":\"stop\""},"finish_reason":null}`) +
		chunk(`{"index":0,"delta":{},"finish_reason" : "stop"}`) + chunk(`{"index":2,"delta":{"content":" c d e"},"finish_reason":null}`)
	p := &purse{left: 4, end: &Ending{Budget: "key ä: $5", Choices: 3, Asked: true, Usage: cost.Usage{Input: 9, Output: 4}}}
	got, err := paid(t, p, AnswerOptions{}, strings.NewReader(stream))
	const head = `data: {"id":"x","object":"chat.completion.chunk","created":7,"model":"m","service_tier":"flex","system_fingerprint":"f","choices":[`
	last := func(index string) string {
		return head + `{"index":` + index + `,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null,"tokenfare":{"ended":"budget","budget":"key ä: $5"}}` + "\n\n"
	}
	want := stream[:strings.LastIndex(stream, "data: ")] + last("1") + last("2") +
		head + `],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}` + "\n\n" + doneEvent
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestManyChoicesHaveEnded: they are not ended again, however much it took to say so.
func TestManyChoicesHaveEnded(t *testing.T) {
	const choices = 40
	var stream strings.Builder
	for i := range choices {
		fmt.Fprintf(&stream, `data: {"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}],"x":%q}`+"\n\n", i, strings.Repeat("x", mostLasts/16))
	}
	p := &purse{left: 1, end: &Ending{Budget: "b", Choices: choices + 1}}
	got, err := paid(t, p, AnswerOptions{}, strings.NewReader(stream.String()+say("a b c")))
	end := strings.TrimPrefix(got, stream.String())
	if strings.Count(end, `"index"`) != 1 || !strings.Contains(end, `"index":40`) || err != nil {
		t.Errorf("%v, the end is %q", err, end)
	}
}

func TestEndingOfCompletions(t *testing.T) {
	piece := func(text string) string {
		return `data: {"id":"cmpl","object":"text_completion","created":7,"model":"m","choices":[{"index":0,"text":"` + text + `","finish_reason":null}]}` + "\n\n"
	}
	got, err := paid(t, &purse{left: 1, end: &Ending{Budget: "b", Choices: 1}}, AnswerOptions{Endpoint: Completions}, strings.NewReader(piece("a")+piece(" b")))
	want := piece("a") + `data: {"id":"cmpl","object":"text_completion","created":7,"model":"m","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length"}],"tokenfare":{"ended":"budget","budget":"b"}}` + "\n\n" + doneEvent
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEndingOfAResponse(t *testing.T) {
	event := func(kind, rest string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + `",` + rest + "}\n\n"
	}
	created := `"sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","error":null,"incomplete_details":null,` +
		`"instructions":"IN","metadata":{"sequence_number":3},"model":"m","output":[],"tools":[{"type":"function"}],"usage":null}`
	first := event("response.created", created) + event("response.in_progress", strings.Replace(created, ":0,", ":1,", 1))
	body := first + event("response.output_text.delta", `"sequence_number":4,"delta":"a"`) + event("response.output_text.delta", `"sequence_number": 17,"delta":" \"sequence_number\":99 b"`) +
		event("response.output_text.delta", `"sequence_number":18,"delta":" c d"`)
	end := &Ending{Budget: "b", Choices: 1}
	end.Usage.Input, end.Usage.Output = 9, 3
	got, err := paid(t, &purse{left: 4, end: end}, AnswerOptions{Endpoint: Responses}, strings.NewReader(body))
	mark := `"tokenfare":{"ended":"budget","budget":"b"}`
	want := body[:strings.LastIndex(body, "event:")] + event("response.incomplete", `"sequence_number":18,"response":{"id":"resp_1","object":"response","created_at":7,"status":"incomplete",`+
		`"error":null,"incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[],"parallel_tool_calls":true,"tool_choice":"auto","tools":[{"type":"function"}],`+
		`"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":12},`+
		`"instructions":"IN","metadata":{"sequence_number":3},`+mark+`},`+mark)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	// A beginning that is too long to be kept: what stands first in it is.
	long := strings.Replace(body, `"IN"`, `"`+strings.Repeat("x", 200_000)+`"`, 2)
	got, err = paid(t, &purse{left: 4, end: end}, AnswerOptions{Endpoint: Responses}, strings.NewReader(long))
	i := strings.LastIndex(got, "event: ")
	if err != nil || !strings.HasPrefix(got[i:], "event: response.incomplete\n") || !strings.Contains(got[i:], `"id":"resp_1","object":"response","created_at":7,"status":"incomplete"`) || strings.Contains(got[i:], "xxx") {
		t.Errorf("%v, %.500q", err, got[i:])
	}
}

// FuzzEnding: whatever an upstream sends, and wherever it is ended, what passes is a beginning of it with an ending that can be
// read.
func FuzzEnding(f *testing.F) {
	f.Add([]byte(firstEvent+say("one")+say(" two")+doneEvent), uint64(1), int64(1), false)
	f.Add([]byte("event: a\ndata: {\"type\":\"x\",\"response\":{\"id\":\"r\",\"output\":[]},\"sequence_number\":5}\n\ndata: {\"delta\":\"a b c\"}\n\n"), uint64(2), int64(1), true)
	f.Add([]byte(responsesStream), uint64(2), int64(2), true)
	f.Add([]byte(streamOf([2]string{"response.created", `,"response":{"id":"r"}`},
		[2]string{"response.output_item.added", `,"output_index":0,"item":{"id":"m","type":"message","content":[]}`},
		[2]string{"response.content_part.added", `,"item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}`},
		[2]string{"response.output_text.delta", `,"item_id":"m","output_index":0,"content_index":0,"delta":"a b"`},
		[2]string{"response.output_text.delta", `,"item_id":"m","output_index":0,"content_index":0,"delta":" c d"`})), uint64(2), int64(3), true)
	f.Add([]byte("data: {\"choices\":[{\"finish_reason\":\"stop\",\"delta\":{\"content\":\"a\"}}],\"id\":{},\"model\":[1,]}\n\n"), uint64(3), int64(0), false)
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64, left int64, response bool) {
		o := AnswerOptions{}
		if response {
			o.Endpoint = Responses
		}
		end := &Ending{Budget: "b", Choices: 2}
		got, err := paid(t, &purse{left: left, end: end}, o, bytes.NewReader(body))
		again, second := paid(t, &purse{left: left, end: end}, o, &cutter{body, pattern})
		if got != again || (err == nil) != (second == nil) {
			t.Fatalf("in one piece %q, %v\nin several %q, %v", got, err, again, second)
		}
		passed, _ := paid(t, &purse{left: left, end: io.ErrClosedPipe}, o, bytes.NewReader(body))
		ending, ok := strings.CutPrefix(got, passed)
		if !bytes.HasPrefix(body, []byte(passed)) || !ok || err != nil && ending != "" {
			t.Fatalf("%q became %q, of which %q are its own (%v)", body, got, passed, err)
		}
		for event := range strings.SplitSeq(strings.TrimSuffix(ending, doneEvent), "\n\n") {
			data := eventData([]byte(event + "\n\n"))
			finishes := response && !bytes.Contains(data, []byte(`"type":"response.incomplete"`))
			if event != "" && (!json.Valid(data) || !finishes && !bytes.Contains(data, []byte(`"tokenfare":{"ended":"budget","budget":"b"}`))) {
				t.Fatalf("%q ends with %q", body, event)
			}
		}
	})
}
