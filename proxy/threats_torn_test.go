package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestThreatAStreamThatEndsTooSoon: an upstream that breaks down may close its connection, or end its answer, as if that were all. Its stream
// says what it is in the middle of, and must not look complete to the client. One that says how it ends is passed on as it is.
func TestThreatAStreamThatEndsTooSoon(t *testing.T) {
	const (
		word     = `data: {"choices":[{"index":0,"delta":{"content":" one"},"finish_reason":null}]}` + "\n\n"
		usage    = `data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}` + "\n\n"
		delta    = "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","sequence_number":4,"delta":" one"}` + "\n\n"
		finished = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		prompt   = `"messages":[{"role":"user","content":"Hi"}],"model":"gpt-4o-mini","stream":true`
		asked    = `{` + prompt + `,"max_tokens":50,"stream_options":{"include_usage":true}}`
		response = `{"model":"gpt-4o-mini","input":"Hi","stream":true,"max_output_tokens":50}`
	)
	for name, c := range map[string]struct {
		path   wire.Endpoint
		body   string
		answer string
		torn   bool
	}{
		"between two events":              {wire.Chat, asked, word + word, true},
		"between two events, drawn":       {wire.Chat, `{` + prompt + `}`, word + word, true},
		"between two events, withheld":    {wire.Chat, `{` + prompt + `,"max_tokens":50}`, word + word, true},
		"within an event":                 {wire.Chat, asked, word + word[:40], true},
		"within an event, drawn":          {wire.Chat, `{` + prompt + `}`, word + word[:40], true},
		"before the first event":          {wire.Chat, asked, "", true},
		"it says so itself in a text":     {wire.Chat, asked, strings.ReplaceAll(word, " one", `[DONE] \"finish_reason\":\"stop\"`), true},
		"a response":                      {wire.Responses, response, delta + delta, true},
		"legacy completions":              {wire.Completions, `{"model":"gpt-3.5-turbo-instruct","prompt":"Hi","stream":true}`, strings.ReplaceAll(word, `"delta":{"content":" one"}`, `"text":" one"`), true},
		"a reason to end, and no [DONE]":  {wire.Chat, asked, word + finished, false},
		"the same without its empty line": {wire.Chat, asked, word + strings.TrimSpace(finished), false},
		"usage, and no [DONE]":            {wire.Chat, asked, word + usage, false},
		"[DONE] alone":                    {wire.Chat, asked, word + "data: [DONE]\n\n", false},
		"an error by its name":            {wire.Chat, asked, word + "event: error\ndata: {\"message\":\"It is too hot.\"}\n\n", false},
		"an error without a name":         {wire.Chat, asked, word + `data: {"object":"error","message":"It is too hot."}` + "\n\n", false},
		"usage without choices":           {wire.Chat, asked, word + `data: {"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}` + "\n\n", false},
		"usage of the last word":          {wire.Chat, asked, word + strings.Replace(word, `}]}`, `}],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}`, 1), false},
		"behind an event of no choices":   {wire.Chat, asked, `data: {"choices":[],"prompt_filter_results":[]}` + "\n\n" + word, true},
		"a response that was cancelled":   {wire.Responses, response, delta + `data: {"type":"response.cancelled","response":{"status":"cancelled"}}` + "\n\n", false},
		"between two items of a response": {wire.Responses, response, delta + `data: {"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"message","content":[]}}` + "\n\n", true},
		"a response by its events' names": {wire.Responses, response, "event: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n", false},
		"an error":                        {wire.Chat, asked, word + `data: {"error":{"message":"It is too hot."}}` + "\n\n", false},
		"an error of a response":          {wire.Responses, response, delta + `data: {"type":"error","message":"It is too hot."}` + "\n\n", false},
		"a response that is complete":     {wire.Responses, response, delta + `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n", false},
	} {
		for _, framed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				h := newHouse(t, alice(t, plenty), func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					if !framed { // its end is the connection's
						conn, to, err := http.NewResponseController(w).Hijack()
						if err != nil {
							t.Error(err)
							return
						}
						_, _ = io.WriteString(to, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+c.answer)
						_ = to.Flush()
						_ = conn.Close()
						return
					}
					_, _ = io.WriteString(w, c.answer)
				})
				r, err := http.NewRequest(http.MethodPost, h.url+string(c.path), strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+secret)
				got := h.do(r)
				if got.status != http.StatusOK || got.body != c.answer || (got.err != nil) != c.torn {
					t.Errorf("%d %q, %v; torn: %v", got.status, got.body, got.err, c.torn)
				}
				if used := h.settled(plenty); used < 2 {
					t.Errorf("charged %d", used)
				}
			})
		}
	}
}

// TestThreatAPlainAnswerThatEndsTooSoon: where the end of an answer is the connection's, half of an object would look like all there is.
func TestThreatAPlainAnswerThatEndsTooSoon(t *testing.T) {
	whole := plainAnswer(8, 2)
	for name, c := range map[string]struct {
		answer string
		torn   bool
		used   int64
	}{
		"whole":              {whole, false, 10},
		"half":               {whole[:len(whole)/2], true, 58},
		"all but its end":    {whole[:len(whole)-1], true, 58},
		"one brace":          {"{", true, 58},
		"no object":          {"It is too hot.", false, 58},
		"an array":           {"[1,2", false, 58},
		"nothing":            {"", true, 58},
		"more than there is": {whole + "x", false, 58},
	} {
		for _, member := range []string{"", `,"stream":true`} { // some servers know nothing of streams
			t.Run(name+member, func(t *testing.T) {
				h := newHouse(t, alice(t, plenty), func(w http.ResponseWriter, _ *http.Request) {
					conn, to, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.WriteString(to, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+c.answer)
					_ = to.Flush()
					_ = conn.Close()
				})
				got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":50` + member + `}`)
				if got.status != http.StatusOK || got.body != c.answer || (got.err != nil) != c.torn {
					t.Errorf("%d %q, %v; torn: %v", got.status, got.body, got.err, c.torn)
				}
				if used := h.settled(plenty); used != c.used {
					t.Errorf("charged %d, not %d", used, c.used)
				}
			})
		}
	}
}
