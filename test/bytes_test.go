package test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// odd is a request no encoder would write: blanks, escapes, members nobody knows, numbers that lose their form when they
// are decoded. %s takes more members.
const odd = "\n{ \"temperature\" : 1.0E+0,\t\"unknown\":{\"b\":[1,2.50,null],\"a\":\"\\u00e9\\ud83d\\ude00é\"},\r\n  \"model\":\"gpt-4o-m\\u0069ni\"%s,\n" +
	" \"messages\":[{\"content\":\"Wörd \\\"quoted\\\" \\u2028 😀\",\"role\":\"user\"}], \"seed\":9007199254740993 }\n"

// What goes up is what came, but for the named splices.
func TestRequestBytes(t *testing.T) {
	for _, c := range []struct {
		name    string
		members string // of the request
		spliced map[string]string
	}{
		{"plain with a limit", `,"max_completion_tokens":77`, nil},
		{"stream that asks for usage", `, "stream":true,"max_tokens": 77 ,"stream_options": { "include_usage" : true , "include_obfuscation":false}`, nil},
		{"stream that does not", `,"stream":true,"max_tokens":77`, map[string]string{"stream_options": `{"include_usage":true}`}},
		{"stream that declines", `,"stream":true,"max_tokens":77,"stream_options":{"include_usage":false}`, map[string]string{"stream_options": `{"include_usage":true}`}},
		{"stream with other options", `,"stream":true,"max_tokens":77,"stream_options":{"include_obfuscation":false}`, map[string]string{"stream_options": `{"include_obfuscation":false,"include_usage":true}`}},
		{"stream with null options", `,"stream":true,"max_tokens":77,"stream_options":null`, map[string]string{"stream_options": `{"include_usage":true}`}},
		{"plain without a limit", ``, map[string]string{"max_completion_tokens": `4096`}},
		{"stream without a limit", `,"stream":true,"stream_options":{"include_usage":true}`, nil},
		{"stream without either", `,"stream":true`, map[string]string{"stream_options": `{"include_usage":true}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			p := harness.Start(t, harness.Config{
				Upstream: up.URL, Limits: []string{"10000 tokens in total"}, // a quarter is less than the default
			})
			sent := fmt.Sprintf(odd, c.members)
			p.Chat(t, harness.Alice, sent).WantOK(t)
			wantSpliced(t, sent, string(up.Last(t).Body), c.spliced)
		})
	}
}

// wantSpliced fails unless got has the values of want for some members and is otherwise, byte for byte, what was sent.
func wantSpliced(t *testing.T, sent, got string, want map[string]string) {
	t.Helper()
	if len(want) == 0 {
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Errorf("the body changed (-sent +received):\n%s", diff)
		}
		return
	}
	var before, after map[string]json.RawMessage
	if err := json.Unmarshal([]byte(sent), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &after); err != nil {
		t.Fatalf("the body is no JSON: %v\n%s", err, got)
	}
	for name, value := range want {
		if diff := cmp.Diff(canonical(t, []byte(value)), canonical(t, after[name])); diff != "" {
			t.Errorf("member %s (-want +got):\n%s", name, diff)
		}
		delete(before, name)
		delete(after, name)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("members that are not spliced changed (-sent +received):\n%s", diff)
	}
	// Nothing between the members changes either: all of the original is there, in its order, but for a value replaced.
	if missing := len(sent) - common(sent, got); missing > len("false") {
		t.Errorf("%d bytes of the original are gone:\n%s\n%s", missing, sent, got)
	}
}

// common is the length of the longest common subsequence of a and b.
func common(a, b string) int {
	row := make([]int, len(b)+1) // row[j] is the answer for the part of a seen so far and b[:j]
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func canonical(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// An alias changes the model's name upstream and nothing else, whatever else that name occurs in.
func TestAliasIsSpliced(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"10000 tokens in total"},
		Models: "  fast: { upstream: fake, model: gpt-4o-mini }\n",
	})
	sent := `{"user":"fast","messages":[{"role":"user","content":"\"model\":\"fast\""}], "model" : "fast" ,"max_tokens":5}`
	p.Chat(t, harness.Alice, sent).WantOK(t)
	want := strings.Replace(sent, `"model" : "fast"`, `"model" : "gpt-4o-mini"`, 1)
	if diff := cmp.Diff(want, string(up.Last(t).Body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// A limit of the proxy's own goes up under the name the model's upstream understands.
func TestOutputMember(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"10000 tokens in total"},
		Models: "  \"gpt-*\": { upstream: fake, output_member: max_tokens, default_output_tokens: 500, max_output_tokens: 500 }\n",
	})
	p.Chat(t, harness.Alice, ask()).WantOK(t)
	var body struct {
		MaxTokens           *int64 `json:"max_tokens"`
		MaxCompletionTokens *int64 `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(up.Last(t).Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.MaxTokens == nil || *body.MaxTokens != 500 || body.MaxCompletionTokens != nil {
		t.Errorf("body %s, want max_tokens 500 and no max_completion_tokens", up.Last(t).Body)
	}
}

// An upstream that does not know stream_options is not sent them.
func TestUsageNever(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"10000 tokens in total"}, UpstreamExtra: "usage: never"})
	sent := ask(`"stream": true`, `"max_tokens": 50`)
	p.Chat(t, harness.Alice, sent).WantOK(t)
	if diff := cmp.Diff(sent, string(up.Last(t).Body)); diff != "" {
		t.Errorf("body (-sent +received):\n%s", diff)
	}
}

// What comes down is what the upstream sent, but for the one event that the caller did not ask for.
func TestAnswerBytes(t *testing.T) {
	t.Parallel()
	quiet, asked := `"stream": true`, `"stream": true, "stream_options": {"include_usage": true}`
	eventStream := http.Header{"Content-Type": {"text/event-stream"}}
	comments := ": keepalive\n\nevent: odd\nid: 7\nretry: 10\ndata: {\"choices\":[],\"x\":1}\n\ndata:no blank\n\n: last\n\ndata: [DONE]\n\n"
	for _, c := range []struct {
		name     string
		members  string
		answer   fakeopenai.Answer
		withheld int // events with empty choices and usage that must not arrive
	}{
		{"plain", `"n": 2`, fakeopenai.Answer{}, 0},
		{"stream with usage", asked, fakeopenai.Answer{}, 0},
		{"stream without", quiet, fakeopenai.Answer{}, 1},
		{"repeated usage", quiet, fakeopenai.Answer{Usage: []string{fakeopenai.UsageObject(1, 2), fakeopenai.UsageObject(3, 4)}}, 2},
		{"usage with choices stays", quiet, fakeopenai.Answer{Report: fakeopenai.OnLastChunk}, 0},
		{"Azure's first event stays", quiet, fakeopenai.Answer{Azure: true}, 1},
		{"CRLF", quiet, fakeopenai.Answer{CRLF: true}, 1},
		{"one byte a write", quiet, fakeopenai.Answer{ByteByByte: true, Text: []string{"é😀"}}, 1},
		{"one byte a write, usage asked", asked, fakeopenai.Answer{ByteByByte: true, CRLF: true, Text: []string{"é😀"}}, 0},
		{"a line of 300 kB", quiet, fakeopenai.Answer{Text: []string{"a", strings.Repeat("long ", 60_000), "b"}}, 1},
		{"a line of 300 kB, usage asked", asked, fakeopenai.Answer{Text: []string{strings.Repeat("long ", 60_000)}}, 0},
		{"no [DONE]", quiet, fakeopenai.Answer{NoDone: true}, 1},
		{"tools", quiet, fakeopenai.Answer{Tools: []fakeopenai.ToolCall{{ID: "c", Name: "f", Arguments: `{"choices":[],"usage":{}}`}}}, 1},
		{"comments and strange fields", quiet, fakeopenai.Answer{Body: comments, Header: eventStream}, 0},
		{"no blank line at the end", quiet, fakeopenai.Answer{Body: "data: {\"choices\":[]}", Header: eventStream}, 0},
		{"an error event", quiet, fakeopenai.Answer{Body: "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n", Header: eventStream}, 0},
		{"garbage", quiet, fakeopenai.Answer{Body: "\x00\xff\xfe{[[\n\n\n\rdata\r\n", Header: eventStream}, 0},
		{"garbage in a plain answer", `"n": 1`, fakeopenai.Answer{Body: "\x00\xff\xfe{[[\"usage\":"}, 0},
		{"empty", quiet, fakeopenai.Answer{Body: "\n", Header: eventStream}, 0},
		{"an error status", quiet, fakeopenai.Answer{Status: 418, Body: fakeopenai.ErrorBody("Teapot.", "teapot", "teapot")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, c.answer)
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})
			got := p.Chat(t, harness.Alice, ask(c.members, `"max_tokens": 100`))
			if torn := c.answer.Header != nil && !strings.Contains(c.answer.Body, "[DONE]") && !strings.Contains(c.answer.Body, "error") &&
				!strings.Contains(c.answer.Body, `"choices":[]`); (got.Err != nil) != torn {
				t.Fatalf("%v; the stream ends as streams do: %v", got.Err, !torn)
			}
			want, withheld := withhold(up.Last(t).Sent(), c.withheld > 0)
			if withheld != c.withheld {
				t.Fatalf("the fake sent %d usage events, the test expects %d", withheld, c.withheld)
			}
			if diff := cmp.Diff(want, got.Body); diff != "" {
				t.Errorf("body (-sent +received):\n%s", diff)
			}
			if length := got.Header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(got.Body)) {
				t.Errorf("Content-Length %s for %d bytes", length, len(got.Body))
			}
		})
	}
}

// withhold removes the events with empty choices and a usage object.
func withhold(sent string, do bool) (kept string, n int) {
	if !do {
		return sent, 0
	}
	end := "\n\n"
	if strings.Contains(sent, "\r\n") {
		end = "\r\n\r\n"
	}
	var b strings.Builder
	for event := range strings.SplitAfterSeq(sent, end) {
		if strings.Contains(event, `"choices":[],"usage":{`) {
			n++
			continue
		}
		b.WriteString(event)
	}
	return b.String(), n
}

// The proxy must read the answer, so what the client can decompress is not the upstream's business.
func TestCompression(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20), Compress: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})

	request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, ask(`"stream": true`, `"max_tokens": 100`))
	request.Header.Set("Accept-Encoding", "gzip, deflate, br")
	got := p.Do(t, request).WantOK(t)
	if encoding := got.Header.Get("Content-Encoding"); encoding != "" {
		t.Errorf("Content-Encoding %q", encoding)
	}
	if want, _ := withhold(up.Last(t).Sent(), true); got.Body != want {
		t.Errorf("body %q, want %q", got.Body, want)
	}
	if charged := 1_000_000 - p.Remaining(t, "alice"); charged != up.Last(t).Prompt+20 {
		t.Errorf("charged %d, want the reported %d", charged, up.Last(t).Prompt+20)
	}

	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	zip.Write([]byte(ask(`"max_tokens": 100`)))
	zip.Close()
	request = harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, zipped.String())
	request.Header.Set("Content-Encoding", "gzip")
	p.Do(t, request).WantError(t, http.StatusUnsupportedMediaType)
	up.WantCalls(t, 1)
}
