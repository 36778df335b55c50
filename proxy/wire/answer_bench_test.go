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

// BenchmarkAnswer relays a stream of 200 events, one event a read, as they come from a provider.
func BenchmarkAnswer(b *testing.B) {
	const events = 200
	stream := []byte(typicalStream(events))
	for _, o := range []AnswerOptions{{Stream: true}, {Stream: true, Withhold: true}} {
		b.Run(fmt.Sprintf("withhold=%v", o.Withhold), func(b *testing.B) {
			o.Count = countWords
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			p := make([]byte, 32<<10)
			for b.Loop() {
				a := NewAnswer(&perEvent{rest: stream}, o)
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
		if few, many := allocs(100), allocs(1100); many-few > 10 { // the text grows, now and then
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
