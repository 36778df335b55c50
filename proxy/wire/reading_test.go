package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// event is one of a stream, as OpenAI writes them.
func event(kind, members string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + members + "}\n\n"
}

const responsesUsage = `"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":17}`

// said is an answer of the Responses API, as it is in a body of its own and in events.
func said(status, usage string) string {
	return `{"id":"resp_1","object":"response","status":"` + status + `","model":"gpt-5-2025","service_tier":"default","output":[` +
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"not a word of it"},` +
		`{"type":"message","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"one two three","annotations":[]}]},` +
		`{"type":"function_call","id":"fc_1","call_id":"c","name":"look","arguments":"{}"}],` + usage + `,"error":null}`
}

var responsesStream = event("response.created", `,"sequence_number":0,"response":`+said("in_progress", `"usage":null`)) +
	event("response.output_item.added", `,"sequence_number":1,"item":{"type":"message","content":[{"text":"not counted"}]}`) +
	event("response.output_text.delta", `,"sequence_number":2,"item_id":"msg_1","delta":"one two","obfuscation":"x y z"`) +
	event("keepalive", `,"sequence_number":3`) +
	event("response.output_text.delta", `,"sequence_number":4,"item_id":"msg_1","delta":" three","obfuscation":"x y z"`) +
	event("response.function_call_arguments.delta", `,"sequence_number":5,"delta":" {}"`) +
	event("response.output_text.done", `,"sequence_number":6,"text":"one two three"`)

func TestAnswersOfEveryEndpoint(t *testing.T) {
	usage := cost.Usage{Input: 10, CachedInput: 4, Output: 7, Reasoning: 2}
	whole := Report{Usage: usage, Model: "gpt-5-2025", Tier: cost.Standard, Reported: true, SawOutput: true, Complete: true}
	for _, c := range []struct {
		name string
		o    AnswerOptions
		body string
		want Report
	}{
		{"responses", AnswerOptions{Endpoint: Responses}, said("completed", responsesUsage), whole},
		{
			"responses, not reported",
			AnswerOptions{Endpoint: Responses},
			said("incomplete", `"usage":null`),
			Report{Model: "gpt-5-2025", Tier: cost.Standard, SawOutput: true, Counted: 3, Complete: true}, // hmone two threelook{}
		},
		{"responses, streamed", AnswerOptions{Endpoint: Responses, Stream: true}, responsesStream + event("response.completed", `,"response":`+said("completed", responsesUsage)), whole},
		{"responses, cut short", AnswerOptions{Endpoint: Responses, Stream: true}, responsesStream + event("response.incomplete", `,"response":`+said("incomplete", responsesUsage)), whole},
		{"responses, failed", AnswerOptions{Endpoint: Responses, Stream: true}, responsesStream + event("response.failed", `,"response":`+said("failed", responsesUsage)), whole},
		{
			"responses, broken off",
			AnswerOptions{Endpoint: Responses, Stream: true},
			responsesStream,
			Report{Model: "gpt-5-2025", Tier: cost.Standard, SawOutput: true, Counted: 4},
		},
		{
			"responses, an end that is only told of",
			AnswerOptions{Endpoint: Responses, Stream: true},
			event("response.output_text.delta", `,"delta":"response.completed","x":{"type":"response.completed"}`),
			Report{SawOutput: true, Counted: 1},
		},
		{
			"completions",
			AnswerOptions{Endpoint: Completions},
			`{"choices":[{"text":"one two"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`,
			Report{Usage: cost.Usage{Input: 3, Output: 2}, Reported: true, SawOutput: true, Complete: true},
		},
		{
			"embeddings",
			AnswerOptions{Endpoint: Embeddings},
			`{"object":"list","data":[{"embedding":"AAAA one two"}],"model":"e","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			Report{Usage: cost.Usage{Input: 8}, Model: "e", Reported: true, Complete: true},
		},
		{"moderations", AnswerOptions{Endpoint: Moderations}, `{"id":"m","model":"omni","results":[{"flagged":false,"text":"one"}]}`, Report{Model: "omni", Complete: true}},
		{
			"pictures",
			AnswerOptions{Endpoint: Pictures},
			`{"created":1,"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":5,"output_tokens":100,"total_tokens":105,"input_tokens_details":{"text_tokens":3,"image_tokens":2}}}`,
			Report{Usage: cost.Usage{Input: 5, ImageInput: 2, Output: 100, ImageOutput: 100}, Reported: true, Unseen: true, Complete: true},
		},
		{
			"pictures, with some text",
			AnswerOptions{Endpoint: PictureEdits},
			`{"data":[],"usage":{"input_tokens":5,"output_tokens":100,"total_tokens":105,"output_tokens_details":{"text_tokens":10,"image_tokens":90}}}`,
			Report{Usage: cost.Usage{Input: 5, Output: 100, ImageOutput: 90}, Reported: true, Unseen: true, Complete: true},
		},
		{
			"pictures, streamed",
			AnswerOptions{Endpoint: Pictures, Stream: true},
			event("image_generation.partial_image", `,"b64_json":"AAAA"`) + event("image_generation.completed", `,"b64_json":"AAAA","usage":{"input_tokens":5,"output_tokens":100,"total_tokens":105}`),
			Report{Usage: cost.Usage{Input: 5, Output: 100, ImageOutput: 100}, Reported: true, Unseen: true, Complete: true},
		},
		{"speech", AnswerOptions{Endpoint: Speech, Bytes: true}, "\xff\xfb{\"usage\":{\"input_tokens\":1}}", Report{Unseen: true, Complete: true}},
		{
			"speech, streamed",
			AnswerOptions{Endpoint: Speech, Stream: true},
			event("speech.audio.delta", `,"audio":"AAAA"`) + event("speech.audio.done", `,"usage":{"input_tokens":14,"output_tokens":101,"total_tokens":115}`),
			Report{Usage: cost.Usage{Input: 14, Output: 101, AudioOutput: 101}, Reported: true, Unseen: true, Complete: true},
		},
		{
			"transcription",
			AnswerOptions{Endpoint: Transcriptions},
			`{"text":"one two","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":4,"audio_tokens":10},"output_tokens":3,"total_tokens":17}}`,
			Report{Usage: cost.Usage{Input: 14, AudioInput: 10, Output: 3}, Reported: true, SawOutput: true, Complete: true},
		},
		{
			"transcription by length",
			AnswerOptions{Endpoint: Transcriptions},
			`{"text":"one two","segments":[{"text":"one two"}],"usage":{"type":"duration","seconds":3.2}}`,
			Report{Usage: cost.Usage{Milliseconds: 3200}, Reported: true, SawOutput: true, Counted: 2, Complete: true},
		},
		{
			"transcription, streamed",
			AnswerOptions{Endpoint: Transcriptions, Stream: true},
			event("transcript.text.delta", `,"delta":"one"`) + event("transcript.text.delta", `,"delta":" two"`) +
				event("transcript.text.done", `,"text":"one two","usage":{"type":"tokens","input_tokens":14,"output_tokens":3,"total_tokens":17}`),
			Report{Usage: cost.Usage{Input: 14, AudioInput: 14, Output: 3}, Reported: true, SawOutput: true, Complete: true},
		},
		{"translation, as text", AnswerOptions{Endpoint: Translations, Text: true}, "1\n00:00:00 --> 00:00:01\none two\n", Report{SawOutput: true, Counted: 6, Complete: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.body), "byte by byte": iotest.OneByteReader(strings.NewReader(c.body)),
				"CRLF": strings.NewReader(strings.ReplaceAll(c.body, "\n", "\r\n")),
			} {
				out, report := relay(t, c.o, r)
				if name != "CRLF" && out != c.body {
					t.Errorf("%s: the body was changed to %q", name, out)
				}
				if diff := cmp.Diff(c.want, report); diff != "" {
					t.Errorf("%s: report (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// What ends a stream is complete as soon as it was read: nobody waits for the connection to end.
func TestTheLastEventCompletesAStream(t *testing.T) {
	last := event("response.completed", `,"response":`+said("completed", responsesUsage))
	a := NewAnswer(io.NopCloser(io.MultiReader(strings.NewReader(responsesStream+last), iotest.ErrReader(io.ErrUnexpectedEOF))), AnswerOptions{Endpoint: Responses, Stream: true})
	var out bytes.Buffer
	for !a.Complete() {
		if _, err := io.CopyN(&out, a, 1); err != nil {
			t.Fatalf("after %d bytes: %v", out.Len(), err)
		}
	}
	if n := len(responsesStream + last); out.Len() != n && out.Len() != n-1 {
		t.Errorf("complete after %d bytes of %d", out.Len(), n)
	}
}

// However an answer is cut, what is read of it is the same.
func TestAnswersCutAnywhere(t *testing.T) {
	bodies := []string{responsesStream, said("completed", responsesUsage), event("image_generation.completed", `,"usage":{"input_tokens":5,"output_tokens":100}`), plain, helloEvent + usageEvent + doneEvent}
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SampledFrom(bodies).Draw(rt, "body")
		body = body[:rapid.IntRange(0, len(body)).Draw(rt, "length")]
		o := AnswerOptions{Endpoint: rapid.SampledFrom(Endpoints()).Draw(rt, "endpoint"), Stream: rapid.Bool().Draw(rt, "stream")}
		out, want := relay(t, o, strings.NewReader(body))
		again, got := relay(t, o, &cutter{[]byte(body), rapid.Uint64().Draw(rt, "pattern")})
		if out != body || again != body || !cmp.Equal(got, want) {
			rt.Fatalf("%+v: in one piece %+v, in several %+v", o, want, got)
		}
	})
}
