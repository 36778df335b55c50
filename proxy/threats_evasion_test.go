package proxy_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"
)

// The tests of this file and its neighbours are named after rows of docs/security.md.

// whole is a request of an endpoint that is complete but for one member more, which goes in place of %s.
var whole = map[string]string{
	"/v1/chat/completions":   `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]%s}`,
	"/v1/responses":          `{"model":"gpt-4o-mini","input":"Hi"%s}`,
	"/v1/completions":        `{"model":"gpt-3.5-turbo-instruct","prompt":"Hi"%s}`,
	"/v1/embeddings":         `{"model":"text-embedding-3-small","input":"Hi"%s}`,
	"/v1/images/generations": `{"model":"gpt-image-1","prompt":"Hi"%s}`,
	"/v1/audio/speech":       `{"model":"gpt-4o-mini-tts","voice":"alloy","input":"Hi"%s}`,
	"/v1/moderations":        `{"model":"omni-moderation-latest","input":"Hi"%s}`,
}

// plenty is a budget that no refusal of these tests is for want of.
const plenty = "1000000000 tokens in total"

// wantRefused fails unless a request is answered with an error object of that status, and was neither sent nor charged.
func (h *house) wantRefused(t *testing.T, what string, got answer, status int) {
	t.Helper()
	if got.err != nil || got.status != status {
		t.Errorf("%s: %d, want %d: %v %.200s", what, got.status, status, got.err, got.body)
		return
	}
	got.errorOf(t)
	if n := len(h.asked); n != 0 {
		t.Errorf("%s: %d requests reached the upstream: %.200s", what, n, read(t, <-h.asked))
	}
	if used := h.used(plenty); used != 0 {
		t.Errorf("%s: charged %d", what, used)
	}
}

func read(t *testing.T, r *http.Request) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// lookAlikes are other spellings of a name that some parser takes for it.
func lookAlikes(name string) (all []string) {
	camel := ""
	for i, word := range strings.Split(name, "_") {
		if i > 0 && word != "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		camel += word
	}
	for _, other := range []string{
		strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], camel, strings.ReplaceAll(name, "_", "-"), "_" + name, name + "_",
		strings.Replace(name, "s", "\u017f", 1), strings.Replace(name, "k", "\u212a", 1), // they fold to s and k
		strings.Replace(name, "s", `\u017F`, 1), strings.Replace(name, "k", `\u212A`, 1),
		strings.Replace(name, name[:1], fmt.Sprintf(`\u%04x`, strings.ToUpper(name[:1])[0]), 1),
	} {
		if other != name {
			all = append(all, other)
		}
	}
	return all
}

func TestThreatLookAlikeNames(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for path, names := range map[string][]string{
		"/v1/chat/completions": {
			"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "best_of", "tools", "functions",
			"store", "background", "service_tier", "web_search_options", "prediction", "previous_response_id", "modalities",
		},
		"/v1/responses": {
			"model", "input", "instructions", "max_output_tokens", "max_tool_calls", "stream", "store", "background", "tools", "previous_response_id",
			"conversation", "service_tier", "prompt",
		},
		"/v1/completions":        {"model", "prompt", "suffix", "max_tokens", "n", "best_of", "stream", "echo"},
		"/v1/embeddings":         {"model", "input"},
		"/v1/images/generations": {"model", "prompt", "n", "size", "quality"},
		"/v1/audio/speech":       {"model", "input", "instructions"},
		"/v1/moderations":        {"model", "input"},
	} {
		for _, name := range names {
			for _, other := range lookAlikes(name) {
				body := fmt.Sprintf(whole[path], `,"`+other+`":1`)
				h.wantRefused(t, path+" "+other, h.asks(http.MethodPost, path, body), 400)
			}
		}
	}
	const message = `{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]%s}]%s}`
	for _, inside := range []string{
		fmt.Sprintf(message, `,"Content":"long"`, ""), fmt.Sprintf(message, `,"tool_call\u017f":[]`, ""), fmt.Sprintf(message, "", `,"stream_options":{"Include_Usage":true}`),
		strings.Replace(fmt.Sprintf(message, "", ""), `"text":"Hi"`, `"text":"Hi","Image_URL":{"url":"https://host/x.png"}`, 1),
		fmt.Sprintf(message, "", `,"tools":[{"type":"function","Function":{"name":"f"}}]`),
	} {
		h.wantRefused(t, inside, h.chat(inside), 400)
	}
}

func TestThreatRepeatedMembers(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for path, format := range whole {
		for _, member := range []string{`"model":"gpt-4o"`, `"mod\u0065l":"gpt-4o"`, `"surprise":1,"surprise":2`, `"surprise":1,"surpris\u0065":2`} {
			h.wantRefused(t, path+" "+member, h.asks(http.MethodPost, path, fmt.Sprintf(format, ","+member)), 400)
		}
	}
	for _, member := range []string{
		`"max_tokens":1,"max_tokens":9`, `"stream":false,"stream":true`, `"stream":true,"stream_options":{"include_usage":true,"include_usage":false}`,
		`"messages":[]`, `"tools":[{"type":"function","function":{"name":"f"},"function":{"name":"long"}}]`, `"n":1,"n":9`,
	} {
		h.wantRefused(t, member, h.chat(fmt.Sprintf(whole["/v1/chat/completions"], ","+member)), 400)
	}
	for _, message := range []string{`"content":"Hi","content":"long"`, `"content":[{"type":"text","text":"Hi","text":"long"}]`} {
		h.wantRefused(t, message, h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user",`+message+`}]}`), 400)
	}
}

// A name that is written with escapes is the name: it is read, reserved for, and sent as it was written.
func TestThreatEscapedNames(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	escaped := func(name string) (all string) {
		for _, c := range name {
			all += fmt.Sprintf(`\u%04X`, c)
		}
		return all
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		for _, written := range []string{name, strings.ReplaceAll(name, "_", `\u005f`), escaped(name)} {
			body := fmt.Sprintf(`{"%s":"gpt-4o-mini","%s":[{"%s":"user","%s":"Hi"}],"%s":700}`, escaped("model"), escaped("messages"), escaped("role"), escaped("content"), written)
			got := h.chat(body)
			if got.status != 200 || got.header.Get("x-tokenfare-reserved") != "708" {
				t.Errorf("%s: %d, reserved %q, want 8 and 700: %s", written, got.status, got.header.Get("x-tokenfare-reserved"), got.body)
			}
			if sent := read(t, <-h.asked); sent != body {
				t.Errorf("%s: sent as %s", body, sent)
			}
		}
	}
}

func TestThreatOddNumbers(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	odd := []string{
		"-1", "-0", "0.0", "1.0", "1.5", "1e3", "1E3", "1e-3", "1e400", "-1e400", "9223372036854775807", "9223372036854775808", "18446744073709551617",
		strings.Repeat("9", 400), `"5"`, `""`, "true", "false", "[]", "[5]", "{}", `{"n":5}`, "+5", "05", "0x10", "NaN", "Infinity", "-", "1_000", "5.", ".5",
	}
	for path, names := range map[string][]string{
		"/v1/chat/completions":   {"max_tokens", "max_completion_tokens", "n", "best_of"},
		"/v1/responses":          {"max_output_tokens", "max_tool_calls"},
		"/v1/completions":        {"max_tokens", "n", "best_of"},
		"/v1/images/generations": {"n"},
	} {
		for _, name := range names {
			for _, value := range odd {
				what := fmt.Sprintf("%s %s: %.40s", path, name, value)
				h.wantRefused(t, what, h.asks(http.MethodPost, path, fmt.Sprintf(whole[path], `,"`+name+`":`+value)), 400)
			}
		}
	}
}

// What holds for one number multiplied by another holds for all of them together: they neither overflow nor pass for little.
func TestThreatFactors(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	prompts := `{"model":"gpt-3.5-turbo-instruct","max_tokens":10000000,"n":128,"prompt":["` + strings.Repeat(`a","`, 9999) + `a"]}`
	ids := `{"model":"gpt-3.5-turbo-instruct","max_tokens":10000000,"best_of":128,"prompt":[[1` + strings.Repeat(`],[1`, 9999) + `]]}`
	for _, body := range []string{prompts, ids} {
		h.wantRefused(t, "prompts", h.asks(http.MethodPost, "/v1/completions", body), 400)
	}
	for _, members := range []string{`"n":129`, `"n":128,"max_tokens":10000001`, `"n":128,"max_tokens":10000000`, `"best_of":128,"max_tokens":10000000`} {
		h.wantRefused(t, members, h.chat(fmt.Sprintf(whole["/v1/chat/completions"], ","+members)), 400)
	}
	got := h.asks(http.MethodPost, "/v1/completions", `{"model":"gpt-3.5-turbo-instruct","max_tokens":10,"n":2,"best_of":3,"prompt":["a","a","a","a","a"]}`)
	if want := "155"; got.status != 200 || got.header.Get("x-tokenfare-reserved") != want { // five prompts of one token, three answers to each
		t.Errorf("%d, reserved %q, want %s: %s", got.status, got.header.Get("x-tokenfare-reserved"), want, got.body)
	}
}

func TestThreatNotOneJSONValue(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	inUTF16 := func(s string, low, high int) string {
		var b strings.Builder
		for _, c := range utf16.Encode([]rune(s)) {
			pair := [2]byte{}
			pair[low], pair[high] = byte(c), byte(c>>8)
			b.Write(pair[:])
		}
		return b.String()
	}
	for path, format := range whole {
		ok := fmt.Sprintf(format, "")
		for name, body := range map[string]string{
			"nothing": "", "blanks": " \n", "null": "null", "an array": "[" + ok + "]", "a string": `"` + ok + `"`,
			"twice": ok + ok, "twice, on two lines": ok + "\n" + ok, "a letter more": ok + "x", "a brace more": ok + "}", "a NUL more": ok + "\x00",
			"cut short": ok[:len(ok)-1], "a BOM": "\ufeff" + ok, "UTF-16, little": inUTF16(ok, 0, 1), "UTF-16, big": inUTF16(ok, 1, 0),
			"UTF-16 with a BOM": "\xff\xfe" + inUTF16(ok, 0, 1), "Latin-1": strings.Replace(ok, "Hi", "\xe9", 1),
			"too long a form": strings.Replace(ok, "Hi", "\xc0\xaf", 1), "a surrogate": strings.Replace(ok, "Hi", "\xed\xa0\x80", 1),
			"a byte that is none": strings.Replace(ok, "Hi", "\xff", 1), "cut in a letter": strings.Replace(ok, "Hi", "\xe2\x82", 1),
			"a comment": "/**/" + ok, "a comma more": fmt.Sprintf(format, ","), "a line break in a string": strings.Replace(ok, "Hi", "H\ni", 1),
			"an odd escape": strings.Replace(ok, "Hi", `\x41`, 1), "other quotes": strings.ReplaceAll(ok, `"`, `'`), "a prefix": ")]}'\n" + ok,
		} {
			h.wantRefused(t, path+" "+name, h.asks(http.MethodPost, path, body), 400)
		}
	}
}

func TestThreatCompressedBodies(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	var zipped, deflated bytes.Buffer
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{gzip.NewWriter(&zipped), zlib.NewWriter(&deflated)} {
		fmt.Fprint(w, hi)
		w.Close()
	}
	for _, body := range []string{zipped.String(), deflated.String(), hi} {
		for _, encoding := range [][]string{
			{"gzip"},
			{"GZIP"},
			{"x-gzip"},
			{"deflate"},
			{"br"},
			{"zstd"},
			{"compress"},
			{"aes128gcm"},
			{"identity, gzip"},
			{"gzip, identity"},
			{"identity,identity"},
			{"identity", "gzip"},
			{"gzip", "identity"},
			{"", "gzip"},
			{";"},
			{"*"},
		} {
			r, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Encoding": encoding}
			h.wantRefused(t, fmt.Sprintf("%q", encoding), h.do(r), 415)
		}
	}
	if got := h.chat(hi, "Content-Encoding", "Identity"); got.status != 200 {
		t.Errorf("a body that is as it is: %d %s", got.status, got.body)
	} else if sent := <-h.asked; sent.Header.Get("Content-Encoding") != "" {
		t.Errorf("the upstream is told %q", sent.Header.Get("Content-Encoding"))
	}
}
