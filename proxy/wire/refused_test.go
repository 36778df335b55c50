package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestReadChatRefuses(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	tests := []struct {
		name, body, code, param string
	}{
		{"nothing", ``, CodeInvalidJSON, ""},
		{"blanks", ` `, CodeInvalidJSON, ""},
		{"an array", `[]`, CodeInvalidJSON, ""},
		{"null", `null`, CodeInvalidJSON, ""},
		{"a byte order mark", "\ufeff" + chat(), CodeInvalidJSON, ""},
		{"two values", chat() + chat(), CodeInvalidJSON, ""},
		{"a tail", chat() + ` x`, CodeInvalidJSON, ""},
		{"a NUL behind", chat() + "\x00", CodeInvalidJSON, ""},
		{"a cut body", chat()[:20], CodeInvalidJSON, ""},
		{"a comma too many", `{"model":"m","messages":[],}`, CodeInvalidJSON, ""},
		{"a comment", `{"model":"m",/**/"messages":[]}`, CodeInvalidJSON, ""},
		{"invalid UTF-8", chat(`"x":"` + "\xff" + `"`), CodeInvalidJSON, ""},
		{"overlong UTF-8 in a name", chat("\"\xc0\xae\":1"), CodeInvalidJSON, ""},
		{"a raw control character", chat("\"x\":\"\n\""), CodeInvalidJSON, ""},
		{"depth", chat(`"x":` + deep), CodeTooComplex, ""},
		{"values", chat(`"x":[` + strings.Repeat("0,", maxValues) + `0]`), CodeTooComplex, ""},

		{"no model", `{"messages":[]}`, CodeMissingMember, "model"},
		{"no messages", `{"model":"m"}`, CodeMissingMember, "messages"},
		{"empty model", `{"model":"","messages":[]}`, CodeInvalidValue, "model"},
		{"null model", `{"model":null,"messages":[]}`, CodeInvalidType, "model"},
		{"long model", `{"model":"` + strings.Repeat("m", 257) + `","messages":[]}`, CodeInvalidValue, "model"},
		{"messages object", `{"model":"m","messages":{}}`, CodeInvalidType, "messages"},
		{"message string", `{"model":"m","messages":[{},"x"]}`, CodeInvalidType, "messages[1]"},

		{"repeated", chat(`"n":1,"n":1`), CodeDuplicateMember, "n"},
		{"repeated escaped", chat(`"max_tokens":1,"max\u005ftokens":9`), CodeDuplicateMember, "max_tokens"},
		{"repeated unknown", chat(`"x":1,"x":1`), CodeDuplicateMember, "x"},
		{"repeated in message", `{"model":"m","messages":[{"content":"a","content":"b"}]}`, CodeDuplicateMember, "messages[0].content"},
		{"repeated in part", `{"model":"m","messages":[{"content":[{"text":"a","text":"b"}]}]}`, CodeDuplicateMember, "messages[0].content[0].text"},
		{"repeated in image", `{"model":"m","messages":[{"content":[{"image_url":{"url":"a","url":"b"}}]}]}`, CodeDuplicateMember, "messages[0].content[0].image_url.url"},
		{"repeated in tool", chat(`"tools":[{"type":"function","type":"web_search"}]`), CodeDuplicateMember, "tools[0].type"},
		{"repeated in stream options", chat(`"stream_options":{"include_usage":true,"include_usage":false}`), CodeDuplicateMember, "stream_options.include_usage"},
		{"repeated in response format", chat(`"response_format":{"type":"text","type":"text"}`), CodeDuplicateMember, "response_format.type"},
		{"other case", chat(`"Max_Tokens":9`), CodeAmbiguousMember, "Max_Tokens"},
		{"long s", chat(`"max_token` + "ſ" + `":9`), CodeAmbiguousMember, "max_tokenſ"},
		{"kelvin", chat(`"max_to` + "\u212a" + `ens":9`), CodeAmbiguousMember, "max_to\u212aens"},
		{"camel case", chat(`"maxTokens":9`), CodeAmbiguousMember, "maxTokens"},
		{"other case in message", `{"model":"m","messages":[{"Content":"a"}]}`, CodeAmbiguousMember, "messages[0].Content"},
		{"other case in part", `{"model":"m","messages":[{"content":[{"Text":"a"}]}]}`, CodeAmbiguousMember, "messages[0].content[0].Text"},
		{"other case in stream options", chat(`"stream_options":{"INCLUDE_USAGE":true}`), CodeAmbiguousMember, "stream_options.INCLUDE_USAGE"},
		{"other case in tool", chat(`"tools":[{"Type":"web_search"}]`), CodeAmbiguousMember, "tools[0].Type"},

		{"negative", chat(`"max_tokens":-1`), CodeInvalidValue, "max_tokens"},
		{"negative zero", chat(`"max_tokens":-0`), CodeInvalidValue, "max_tokens"},
		{"exponent", chat(`"max_completion_tokens":1e9`), CodeInvalidValue, "max_completion_tokens"},
		{"fraction", chat(`"max_tokens":1.0`), CodeInvalidValue, "max_tokens"},
		{"number string", chat(`"max_tokens":"1"`), CodeInvalidType, "max_tokens"},
		{"too large", chat(`"max_tokens":10000001`), CodeInvalidValue, "max_tokens"},
		{"beyond int64", chat(`"max_tokens":99999999999999999999`), CodeInvalidValue, "max_tokens"},
		{"no choices", chat(`"n":0`), CodeInvalidValue, "n"},
		{"many choices", chat(`"n":129`), CodeInvalidValue, "n"},
		{"best_of", chat(`"best_of":[2]`), CodeInvalidType, "best_of"},
		{"stream string", chat(`"stream":"true"`), CodeInvalidType, "stream"},
		{"stream number", chat(`"stream":1`), CodeInvalidType, "stream"},
		{"stream options true", chat(`"stream_options":true`), CodeInvalidType, "stream_options"},
		{"include_usage string", chat(`"stream_options":{"include_usage":"x"}`), CodeInvalidType, "stream_options.include_usage"},

		{"store", chat(`"store":true`), CodeUnsupportedMember, "store"},
		{"store string", chat(`"store":"true"`), CodeInvalidType, "store"},
		{"background", chat(`"background":true`), CodeUnsupportedMember, "background"},
		{"previous response", chat(`"previous_response_id":"r"`), CodeUnsupportedMember, "previous_response_id"},
		{"conversation", chat(`"conversation":{"id":"c"}`), CodeUnsupportedMember, "conversation"},
		{"audio output", chat(`"audio":{"voice":"x"}`), CodeUnsupportedMember, "audio"},
		{"audio modality", chat(`"modalities":["text","audio"]`), CodeUnsupportedMember, "modalities[1]"},
		{"modality word", chat(`"modalities":"audio"`), CodeInvalidType, "modalities"},
		{"tier", chat(`"service_tier":"ultrafast"`), CodeUnsupportedMember, "service_tier"},
		{"hosted tool", chat(`"tools":[{"type":"function"},{"type":"web_search"}]`), CodeUnsupportedMember, "tools[1].type"},
		{"tool type", chat(`"tools":[{"type":["function"]}]`), CodeInvalidType, "tools[0].type"},
		{"tools object", chat(`"tools":{}`), CodeInvalidType, "tools"},
		{"tool string", chat(`"tools":["x"]`), CodeInvalidType, "tools[0]"},
		{"file reference", `{"model":"m","messages":[{"content":[{"type":"file","file":{"file_id":"f"}}]}]}`, CodeUnsupportedMember, "messages[0].content[0].file.file_id"},
		{"video in an object", `{"model":"m","messages":[{"content":{"type":"text","video_url":"https://x"}}]}`, CodeUnsupportedMember, "messages[0].content.video_url"},
		{"video in an array", `{"model":"m","messages":[{"content":[[{"video_url":"https://x"}]]}]}`, CodeUnsupportedMember, "messages[0].content[0][0].video_url"},
		{"file reference beside", `{"model":"m","messages":[{"content":[{"type":"input_file","file_id":"f"}]}]}`, CodeUnsupportedMember, "messages[0].content[0].file_id"},
		{"audio reference", `{"model":"m","messages":[{"audio":{"id":"a"}}]}`, CodeUnsupportedMember, "messages[0].audio"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := refused(t, test.body)
			if e.Code != test.code || e.Param != test.param {
				t.Errorf("got code %q, param %q, want %q, %q (%s)", e.Code, e.Param, test.code, test.param, e.Message)
			}
			if test.param != "" && !strings.Contains(e.Message, test.param) {
				t.Errorf("the message does not name %s: %s", test.param, e.Message)
			}
		})
	}
}

func TestReadChatJudgesNothingInside(t *testing.T) {
	const odd = `{"Type":1,"type":2,"type":3,"max_tokens":-1,"Model":null}`
	for _, body := range []string{
		chat(`"tools":[{"type":"function","function":` + odd + `}]`), chat(`"functions":[` + odd + `]`),
		chat(`"response_format":{"type":"json_schema","json_schema":` + odd + `}`),
		chat(`"metadata":` + odd), chat(`"logit_bias":` + odd), chat(`"unknown":` + odd), chat(`"tool_choice":` + odd),
		chat(`"x":"\ud800 lone"`), chat(`"store":false`), chat(`"service_tier":"auto"`), chat(`"modalities":["text"]`),
		chat(`"tools":[{"function":{}}]`), chat(`"max_tokens":1`), chat(`"n":128`),
	} {
		read(t, body)
	}
}

func TestReadChatCountsALoneSurrogateAsReplacement(t *testing.T) {
	req := read(t, chat(`"x":"a\ud800b\udc00\ud83d\ude00"`))
	if got, want := req.Cost.Text[0].S, "a\ufffdb\ufffd😀"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadChatErrorsDoNotQuoteThePrompt(t *testing.T) {
	for _, body := range []string{
		`{"model":"SECRET","messages":["SECRET"]}`, `{"model":"m","messages":[{"content":"SECRET" SECRET`,
		chat(`"service_tier":"SECRET"`), chat(`"tools":[{"type":"SECRET"}]`), chat(`"n":"SECRET"`),
	} {
		if e := refused(t, body); strings.Contains(string(e.JSON()), "SECRET") {
			t.Errorf("%s: %s", body, e.JSON())
		}
	}
}

func TestErrorJSON(t *testing.T) {
	tests := map[string]Error{
		`{"error":{"message":"no \"x\"\n","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`:       {Message: "no \"x\"\n", Type: "tokens", Code: "rate_limit_exceeded"},
		`{"error":{"message":"m","type":"invalid_request_error","param":"messages[0].content","code":null}}`: {Message: "m", Param: "messages[0].content"},
		`{"error":{"message":"` + "\ufffd" + `","type":"invalid_request_error","param":null,"code":null}}`:   {Message: "\xff"},
	}
	for want, e := range tests {
		got := e.JSON()
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !json.Valid(got) || bytes.IndexByte(got, '\n') >= 0 {
			t.Errorf("%s: not JSON on one line", got)
		}
	}
}
