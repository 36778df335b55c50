package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

// read reads a body that must be accepted.
func read(t *testing.T, body string) *Request {
	t.Helper()
	req, err := ReadChat([]byte(body))
	if err != nil {
		t.Fatalf("ReadChat(%s): %v", body, err)
	}
	return req
}

// refused reads a body that must not be accepted.
func refused(t *testing.T, body string) *Error {
	t.Helper()
	req, err := ReadChat([]byte(body))
	if err == nil {
		err = req.Stateless()
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("ReadChat(%.200s): got %v, want an *Error", body, err)
	}
	if e.Status != 400 || e.Type != "invalid_request_error" || e.Code == "" || e.Message == "" {
		t.Errorf("ReadChat(%.200s): incomplete error %+v", body, e)
	}
	return e
}

// chat is a minimal body with more members.
func chat(members ...string) string {
	return `{"model":"m","messages":[]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

func TestReadChatCollectsWhatTheCallMayCost(t *testing.T) {
	req := read(t, ` {
		"model": "gpt-5-mini",
		"stream": true, "stream_options": {"include_usage": true, "include_obfuscation": false},
		"max_tokens": 10, "max_completion_tokens": 20, "n": 3,
		"messages": [
			{"role": "system", "content": "Be \"brief\".\n"},
			{"role": "user", "name": "bob", "content": [
				{"type": "text", "text": "What is this?"},
				{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
				{"type": "input_audio", "input_audio": {"data": "AAAABBBB", "format": "wav"}},
				{"type": "file", "file": {"filename": "a.pdf", "file_data": "CCCC"}}
			]},
			{"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
				{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{\"q\":1}"}}]},
			{"role": "tool", "tool_call_id": "call_1", "content": "found"}
		],
		"tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "type": "object"}}}],
		"tool_choice": "auto",
		"response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": { }}},
		"prediction": {"type": "content", "content": "guess"},
		"stop": ["END"], "temperature": 1e0, "logit_bias": {"5": -1e2}, "metadata": {"k": "v", "k": "w"},
		"unheard_of": [[1, 2, -3, 4.5], {"deep": ["secret prompt", 7]}]
	} `)
	want := cost.Request{
		Model: "gpt-5-mini",
		Text: []cost.Text{
			{Part: cost.PartMessages, S: "system"},
			{Part: cost.PartMessages, S: "Be \"brief\".\n"},
			{Part: cost.PartMessages, S: "user"},
			{Part: cost.PartMessages, S: "bob"},
			{Part: cost.PartMessages, S: "What is this?"},
			{Part: cost.PartMessages, S: "a.pdf"},
			{Part: cost.PartMessages, S: "assistant"},
			{Part: cost.PartMessages, S: "hm"},
			{Part: cost.PartMessages, S: `look{"q":1}`},
			{Part: cost.PartMessages, S: "look"},
			{Part: cost.PartMessages, S: "tool"},
			{Part: cost.PartMessages, S: "found"},
			{Part: cost.PartSchema, S: `{"name":"s","schema":{}}`},
			{Part: cost.PartPrediction, S: "guess"},
			{Part: cost.PartOther, S: "END"},
			{Part: cost.PartOther, S: "v"},
			{Part: cost.PartOther, S: "w"},
			{Part: cost.PartOther, S: `[[1,2,-3,4.5],{"deep":["secret prompt",7]}]`},
		},
		Messages: 4, Names: 1, FirstSystem: 2, CallTokens: 2, CallIDs: []string{"call_1", "call_1"}, ToolChoice: `"auto"`,
		Tools:  []string{`{"type":"function","function":{"name":"look","parameters":{"type":"object","type":"object"}}}`},
		Images: []cost.Image{{Detail: cost.LowDetail}}, Audio: []cost.Audio{{Milliseconds: 76}}, FileTokens: 4,
		HasMaxOutput: true, MaxOutput: 20, Choices: 3,
	}
	if diff := cmp.Diff(want, req.Cost); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if req.Model != "gpt-5-mini" || !req.Stream || !req.IncludeUsage {
		t.Errorf("got model %q, stream %v, usage %v", req.Model, req.Stream, req.IncludeUsage)
	}
}

func TestReadChatTakesNullAsAbsent(t *testing.T) {
	req := read(t, chat(`"stream":null,"stream_options":null,"max_tokens":null,"max_completion_tokens":null,"n":null`,
		`"tools":null,"functions":null,"tool_choice":null,"response_format":null,"store":null,"background":null`,
		`"audio":null,"modalities":null,"service_tier":null,"web_search_options":null,"conversation":null,"previous_response_id":null`))
	want := cost.Request{Model: "m", Choices: 1}
	if diff := cmp.Diff(want, req.Cost); diff != "" || req.Stream || req.IncludeUsage {
		t.Errorf("stream %v, usage %v, facts (-want +got):\n%s", req.Stream, req.IncludeUsage, diff)
	}
}

func TestReadChatTakesTheLargestLimit(t *testing.T) {
	for _, body := range []string{
		chat(`"max_tokens":5,"max_completion_tokens":7,"n":2,"best_of":3`), chat(`"max_tokens":7,"max_completion_tokens":5,"n":3,"best_of":2`),
		chat(`"max_completion_tokens":7,"max_tokens":5,"best_of":3,"n":2`), chat(`"max_completion_tokens":5,"max_tokens":7,"best_of":3,"n":null`),
	} {
		if c := read(t, body).Cost; !c.HasMaxOutput || c.MaxOutput != 7 || c.Choices != 3 {
			t.Errorf("%s: %+v", body, c)
		}
	}
}

func TestReadChatCountsEveryString(t *testing.T) {
	tests := map[string]string{
		"content":                  `{"model":"m","messages":[{"content":"SECRET"}]}`,
		"content escaped":          `{"model":"m","messages":[{"content":"\u0053ECRET"}]}`,
		"content object":           `{"model":"m","messages":[{"content":{"x":{"y":"SECRET"}}}]}`,
		"content strings":          `{"model":"m","messages":[{"content":["SECRET"]}]}`,
		"content number then text": `{"model":"m","messages":[{"content":[1,"SECRET"]}]}`,
		"refusal":                  `{"model":"m","messages":[{"refusal":"SECRET"}]}`,
		"role":                     `{"model":"m","messages":[{"role":"SECRET"}]}`,
		"name":                     `{"model":"m","messages":[{"name":"SECRET"}]}`,
		"reasoning":                `{"model":"m","messages":[{"reasoning_content":"SECRET"}]}`,
		"unknown message member":   `{"model":"m","messages":[{"thinking":[{"t":"SECRET"}]}]}`,
		"tool call number":         `{"model":"m","messages":[{"tool_calls":[{"id":"` + strings.Repeat("x", 60) + `SECRET"}]}]}`,
		"tool result number":       `{"model":"m","messages":[{"tool_call_id":"` + strings.Repeat("x", 60) + `SECRET"}]}`,
		"tool call name":           `{"model":"m","messages":[{"tool_calls":[{"function":{"name":"SECRET"}},{}]}]}`,
		"tool call twice":          `{"model":"m","messages":[{"tool_calls":[{"function":{"name":"a","name":"SECRET"}}]}]}`,
		"tool call type":           `{"model":"m","messages":[{"tool_calls":[{"type":"SECRET"}]}]}`,
		"tool call member":         `{"model":"m","messages":[{"tool_calls":[{"x":["SECRET"]}]}]}`,
		"tool call member name":    `{"model":"m","messages":[{"tool_calls":[{"` + strings.Repeat("x", 60) + `SECRET":1}]}]}`,
		"tool calls as strings":    `{"model":"m","messages":[{"tool_calls":["SECRET"]}]}`,
		"custom tool call":         `{"model":"m","messages":[{"tool_calls":[{"type":"custom","custom":{"name":"x","input":"SECRET"}}]}]}`,
		"tool call":                `{"model":"m","messages":[{"tool_calls":[{"function":{"arguments":"SECRET"}}]}]}`,
		"function call":            `{"model":"m","messages":[{"function_call":{"name":"SECRET"}}]}`,
		"refusal part":             `{"model":"m","messages":[{"content":[{"type":"refusal","refusal":"SECRET"}]}]}`,
		"unknown part":             `{"model":"m","messages":[{"content":[{"type":"other","other":{"u":"SECRET"}}]}]}`,
		"part type":                `{"model":"m","messages":[{"content":[{"type":"SECRET"}]}]}`,
		"image in a text part":     `{"model":"m","messages":[{"content":[{"image_url":{"url":"SECRET"},"type":"text"}]}]}`,
		"image without a type":     `{"model":"m","messages":[{"content":[{"image_url":"SECRET"}]}]}`,
		"audio in a text part":     `{"model":"m","messages":[{"content":[{"type":"text","input_audio":{"data":"SECRET"}}]}]}`,
		"file in a text part":      `{"model":"m","messages":[{"content":[{"type":"text","file":{"file_data":"SECRET"}}]}]}`,
		"text in an image part":    `{"model":"m","messages":[{"content":[{"type":"image_url","text":"SECRET"}]}]}`,
		"extra image member":       `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"x":"SECRET"}}]}]}`,
		"image detail":             `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"detail":"SECRET"}}]}]}`,
		"url as object":            `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":["SECRET"]}}]}]}`,
		"file name":                `{"model":"m","messages":[{"content":[{"type":"file","file":{"filename":"SECRET"}}]}]}`,
		"prediction type":          chat(`"prediction":{"type":"SECRET"}`),
		"prediction string":        chat(`"prediction":"SECRET"`),
		"prediction":               chat(`"prediction":{"content":[{"text":"SECRET"}]}`),
		"tool name":                chat(`"tools":[{"type":"function","function":{"name":"SECRET"}}]`),
		"tool schema member name":  chat(`"tools":[{"type":"custom","custom":{"SECRET":0}}]`),
		"function":                 chat(`"functions":[{"description":"SECRET"}]`),
		"tool choice":              chat(`"tool_choice":{"function":{"name":"SECRET"}}`),
		"tool choice and another":  chat(`"tool_choice":"none","function_call":{"name":"SECRET"}`),
		"tool choice word":         chat(`"tool_choice":"SECRET"`),
		"schema":                   chat(`"response_format":{"type":"json_schema","json_schema":{"description":"SECRET"}}`),
		"grammar":                  chat(`"response_format":{"type":"grammar","grammar":"SECRET"}`),
		"format type":              chat(`"response_format":{"type":"SECRET"}`),
		"metadata":                 chat(`"metadata":{"a":"SECRET"}`),
		"user":                     chat(`"user":"` + strings.Repeat("x", 60) + `SECRET"`),
		"search options":           chat(`"web_search_options":{"user_location":{"city":"SECRET"}}`),
		"effort":                   chat(`"reasoning_effort":"SECRET"`),
		"verbosity":                chat(`"verbosity":["SECRET"]`),
		"stream options":           chat(`"stream_options":{"x":"SECRET"}`),
		"unknown member":           chat(`"suffix":"SECRET"`),
		"deep in unknown member":   chat(`"x":[{"a":[[{"b":"SECRET"}]]}]`),
		"beside a repeated name":   chat(`"x":{"a":"SECRET","a":""}`),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			facts := read(t, body).Cost
			texts := append(facts.Tools, facts.ToolChoice)
			for _, text := range facts.Text {
				texts = append(texts, text.S)
			}
			if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "SECRET") }) {
				return
			}
			t.Errorf("%s: the string is not counted", body)
		})
	}
}

func TestReadChatCountsImagesWhateverThePartSays(t *testing.T) {
	for _, part := range []string{
		`{"type":"image_url","image_url":{"url":"https://x/y.png"}}`,
		`{"type":"image_url","image_url":"https://x/y.png"}`,
		`{"image_url":{"url":"https://x/y.png"},"type":"image_url"}`,
		`{"type":"text","text":"","image_url":{"url":""}}`,
		`{"type":"image_url"}`,
	} {
		req := read(t, `{"model":"m","messages":[{"content":[`+part+`]}]}`)
		if n := len(req.Cost.Images); n != 1 {
			t.Errorf("%s: %d images, want 1", part, n)
		}
	}
}

func TestReadChatMeasuresWhatIsNotText(t *testing.T) {
	// The header of a PNG of 320 x 240, a WAV file of one sample, and three bytes; the second with slashes escaped.
	const png, wav = "iVBORw0KGgoAAAANSUhEUgAAAUAAAADwCAIAAAA=", `UklGRgAAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAD\/\/w==`
	part := func(s string) string { return `{"role":"user","content":[` + s + `]}` }
	audio := `{"type":"input_audio","input_audio":{"data":"` + wav + `","format":"wav"}}`
	body := `{"model":"m","messages":[` + strings.Join([]string{
		part(`{"type":"image_url","image_url":{"detail":"high","url":"data:image/png;base64,` + png + `"}}`),
		part(`{"type":"image_url","image_url":"data:image\/png;base64,` + png + `"}`),
		part(`{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"original"}}`),
		part(audio), `{"content":[` + audio + `],"role":"assistant"}`,
		part(`{"type":"file","file":{"file_data":"data:text/plain;base64,AAAA","filename":"a"}}`),
	}, ",") + `]}`
	facts := read(t, body).Cost
	want := cost.Request{
		Model: "m", Messages: 6, Choices: 1, FileTokens: 3,
		Images: []cost.Image{{Width: 320, Height: 240, Detail: cost.HighDetail}, {Width: 320, Height: 240}, {Detail: cost.OriginalDetail}},
		Audio:  []cost.Audio{{Milliseconds: 1, Measured: true}, {Milliseconds: 1, Measured: true, Assistant: true}},
	}
	var text []string
	for _, s := range facts.Text {
		text = append(text, s.S)
	}
	facts.Text = nil
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if got := strings.Join(text, " "); got != "user user user user assistant user a" {
		t.Errorf("text that counts: %s", got)
	}
}

// ReadChat is [Read] for the body of a chat completion request.
func ReadChat(body []byte) (*Request, error) { return Read(Chat, "application/json", body) }

// FuzzReadChat holds what is read of chat completions against encoding/json: parsers with other habits read the same in what it accepts,
// and whatever is text in it counts.
func FuzzReadChat(f *testing.F) {
	for _, seed := range []string{
		chat(), chat(`"stream":true`), chat(`"MODEL":"x"`), chat(`"model":"x"`), chat(`"n":2,"max_tokens":5`),
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}]}`,
		chat(`"tools":[{"type":"function","function":{"a":[1,2,{"b":"\ud800"}]}}]`), chat(`"stream_options":{"include_usage":null}`),
		`{"model":"m","messages":[{"content":{"a":1,"text":{"b":[2]}},"tool_calls":[{"index":0,"function":{"name":[1],"arguments":{"c":3}}}],"function_call":{"d":{}}}]}`,
		chat(`"chat_template_kwargs":{"a":[1,{"b":null}]},"vllm_xargs":[]`),
		chat(`"x":[[[1,2],3],"\u00e9",{"a":{}}]`), "{\"model\":\"m\",\"me\\u0073sages\":[]}\n",
		chat(`"n":3,"best_of":5,"max_tokens":7,"max_completion_tokens":null,"store":true,"service_tier":"flex"`), chat(`"max_completion_tokens":9,"max_tokens":5`), chat(`"max_tokens":9,"max_completion_tokens":5`), chat(`"metadata":{"a":"b","a":"c"},"stop":["x","x"],"user":"u"`),
		`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"file","file":{"file_data":"data:text/plain;base64,AAAA","filename":"a"}}]}],"prediction":{"type":"content","content":"p"},"response_format":{"type":"json_schema","json_schema":{"name":"s"}},"tool_choice":"auto","function_call":{"name":"f"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		req, err := ReadChat(body)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !json.Valid(e.JSON()) {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		tree := treeOf(t, body)
		agree(t, Chat, body, tree, req)
		everyStringCounts(t, Chat, body, tree, req)
	})
}

func BenchmarkReadChat(b *testing.B) {
	for name, size := range map[string]int{"1kB": 800, "20kB": 20_000, "1MB": 1_000_000} {
		body := []byte(`{"model":"gpt-5-mini","messages":[{"role":"system","content":"You are helpful."},{"role":"user","content":"` +
			strings.Repeat(`The quick brown fox.\n`, size/22) + `"}],"stream":true,"max_tokens":200}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadChat(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
