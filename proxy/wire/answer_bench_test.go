package wire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// typicalStream is what OpenAI sends for n tokens, and the usage and the end.
func typicalStream(n int) string {
	const head = `data: {"id":"chatcmpl-CcXs1vV0bT9aPq3rKk2mJ5nYh8dWe","object":"chat.completion.chunk","created":1763700000,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,`
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, head+`"choices":[{"index":0,"delta":{"content":" token%d"},"finish_reason":null}],"usage":null,"obfuscation":"a1B2c3"}`+"\n\n", i)
	}
	b.WriteString(head + `"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":200,"total_tokens":210,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// responseStream is what OpenAI sends for n tokens of a response.
func responseStream(n int) string {
	var b strings.Builder
	number := 0
	event := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, "event: %[1]s\ndata: {\"type\":\"%[1]s\",\"sequence_number\":%[2]d,%[3]s}\n\n", kind, number, fmt.Sprintf(format, args...))
		number++
	}
	const head = `"response":{"id":"resp_68f1c2","object":"response","created_at":1763700000,"status":%q,"model":"gpt-5-mini-2025-08-07","output":[]%s}`
	const place = `"item_id":"msg_68f1c2","output_index":0,"content_index":0`
	event("response.created", head, "in_progress", "")
	event("response.output_item.added", `"output_index":0,"item":{"id":"msg_68f1c2","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
	event("response.content_part.added", place+`,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`)
	for i := range n {
		event("response.output_text.delta", place+`,"delta":" token%d","logprobs":[],"obfuscation":"%s"`, i, "a1B2c3D4"[i%8:])
	}
	event("response.completed", head, "completed", `,"usage":{"input_tokens":10,"output_tokens":200,"total_tokens":210}`)
	return b.String()
}

// BenchmarkAnswer relays a stream of 200 events in the ways it may pass: as it comes, with its usage withheld, and paid for besides;
// one event a read, as they come from a provider, and in pieces as a busy connection gives them.
func BenchmarkAnswer(b *testing.B) {
	const events = 200
	chat, response := []byte(typicalStream(events)), []byte(responseStream(events))
	for _, way := range []struct {
		name   string
		stream []byte
		o      AnswerOptions
	}{
		{"chat/plain", chat, AnswerOptions{Stream: true}},
		{"chat/withheld", chat, AnswerOptions{Stream: true, Withhold: true}},
		{"chat/paid", chat, AnswerOptions{Stream: true, Withhold: true, Cover: func(bool) (bool, error) { return true, nil }}},
		{"response/plain", response, AnswerOptions{Endpoint: Responses, Stream: true}},
		{"response/paid", response, AnswerOptions{Endpoint: Responses, Stream: true, Cover: func(bool) (bool, error) { return true, nil }}},
	} {
		for pace, body := range map[string]func() io.ReadCloser{
			"events": func() io.ReadCloser { return &perEvent{rest: way.stream} },
			"pieces": func() io.ReadCloser { return &perPiece{rest: way.stream} },
		} {
			b.Run(way.name+"/"+pace, func(b *testing.B) {
				o := way.o
				o.Count = countWords
				b.SetBytes(int64(len(way.stream)))
				b.ReportAllocs()
				p := make([]byte, 32<<10)
				for b.Loop() {
					a := NewAnswer(body(), o)
					for {
						if _, err := a.Read(p); err != nil {
							break
						}
					}
					if r := a.Report(); !r.Reported || !r.Complete || r.Counted != 0 {
						b.Fatalf("%+v", r)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
			})
		}
	}
}

// BenchmarkPlainAnswer reads an answer of 1 kB that is one JSON value.
func BenchmarkPlainAnswer(b *testing.B) {
	body := []byte(`{
  "id": "chatcmpl-CcXs1vV0bT9aPq3rKk2mJ5nYh8dWe",
  "object": "chat.completion",
  "created": 1789000000,
  "model": "gpt-4o-mini-2024-07-18",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "` + strings.Repeat(`The figures for the third quarter agree with the ledger.\n`, 10) + `",
        "refusal": null,
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": {
    "prompt_tokens": 230,
    "completion_tokens": 120,
    "total_tokens": 350,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
  },
  "service_tier": "default",
  "system_fingerprint": "fp_560af6e559"
}
`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	p := make([]byte, 32<<10)
	for b.Loop() {
		a := NewAnswer(&perPiece{rest: body}, AnswerOptions{Count: countWords})
		for {
			if _, err := a.Read(p); err != nil {
				break
			}
		}
		if r := a.Report(); !r.Reported || !r.Complete || r.Counted != 0 || r.Usage.Output != 120 {
			b.Fatalf("%+v", r)
		}
	}
}

// TestAnswerAllocatesPerStreamNotPerEvent compares a short stream with a long one.
func TestAnswerAllocatesPerStreamNotPerEvent(t *testing.T) {
	for _, withhold := range []bool{false, true} {
		allocs := func(events int) float64 {
			stream, p := []byte(typicalStream(events)), make([]byte, 32<<10)
			return testing.AllocsPerRun(10, func() {
				a := NewAnswer(&perEvent{rest: stream}, AnswerOptions{Stream: true, Withhold: withhold, Count: countWords})
				for {
					if _, err := a.Read(p); err != nil {
						break
					}
				}
				a.Report()
			})
		}
		if few, many := allocs(100), allocs(1100); many-few > 100 { // the text grows, now and then, and the race detector has pools forget things
			t.Errorf("withhold=%v: %v allocations for 100 events, %v for 1100", withhold, few, many)
		}
	}
}

// perEvent returns one event a read.
type perEvent struct{ rest []byte }

func (e *perEvent) Read(p []byte) (int, error) {
	end := bytes.Index(e.rest, []byte("\n\n")) + 2
	if end < 2 {
		return 0, io.EOF
	}
	n := copy(p, e.rest[:end])
	e.rest = e.rest[n:]
	return n, nil
}

func (e *perEvent) Close() error { return nil }

// perPiece returns pieces that end anywhere.
type perPiece struct{ rest []byte }

func (e *perPiece) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 5_000)], e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *perPiece) Close() error { return nil }
