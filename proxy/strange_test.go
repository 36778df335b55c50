package proxy_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestWhatIsNoAnswerTellsNothingOfTheAccount though its status is 200: a page, a text, an error of another shape, or events that are not said
// to be such. What a model says in them passes as it is.
func TestWhatIsNoAnswerTellsNothingOfTheAccount(t *testing.T) {
	const said = `data: {"choices":[{"index":0,"delta":{"content":"` + toldOfAccount + `"}}]}` + "\n\n"
	long := strings.Repeat("<p>busy</p>\n\n", 30_000) // beyond what is read ahead
	for name, c := range map[string]struct {
		path, media, answer string
		says                bool // it is the model that says so
	}{
		"a page":               {"/v1/chat/completions", "text/html", "<html><body>" + toldOfAccount + "</body></html>", false},
		"a page, said JSON":    {"/v1/responses", "application/json", "<html><body>" + toldOfAccount + "</body></html>", false},
		"a long page":          {"/v1/chat/completions", "text/html", "<html><body>" + long + toldOfAccount, false},
		"a text":               {"/v1/chat/completions", "", toldOfAccount, false},
		"a string":             {"/v1/chat/completions", "application/json", `"` + toldOfAccount + `"`, false},
		"a list":               {"/v1/chat/completions", "application/json", `[{"error":{"message":"` + toldOfAccount + `"}}]`, false},
		"called an error":      {"/v1/chat/completions", "application/json", `{"object":"error","message":"` + toldOfAccount + `","code":400}`, false},
		"called so at the end": {"/v1/responses", "application/json", `{"message":"` + toldOfAccount + `","object":"error"}`, false},
		"a detail":             {"/v1/chat/completions", "application/json", `{"detail":"` + toldOfAccount + `"}`, false},
		"details":              {"/v1/responses", "application/json", `{"status":500,"errors":[{"x":"` + toldOfAccount + `"}]}`, false},
		"an event":             {"/v1/chat/completions", "text/plain", `data: {"error":{"message":"` + toldOfAccount + `"}}` + "\n\n", false},
		"an event, unended":    {"/v1/responses", "text/plain", "event: error\ndata: {\"message\":\"" + toldOfAccount + `"}`, false},

		"events":              {"/v1/chat/completions", "text/plain", ": ping\n\n" + said + "data: [DONE]\n\n", true},
		"events, said JSON":   {"/v1/chat/completions", "application/json", said + said + "data: [DONE]\n\n", true},
		"a detail and a word": {"/v1/chat/completions", "application/json", `{"detail":"a","choices":[{"message":{"content":"` + toldOfAccount + `"}}]}`, true},
		"called otherwise":    {"/v1/chat/completions", "application/json", `{"object":"errors","choices":[{"message":{"content":"\"object\":\"error\" ` + toldOfAccount + `"}}]}`, true},
		"an object within":    {"/v1/responses", "application/json", `{"id":"resp_1","output":[{"object":"error","detail":"` + toldOfAccount + `"}]}`, true},
		"a marked object":     {"/v1/chat/completions", "application/json", "\ufeff" + `{"choices":[{"message":{"content":"` + toldOfAccount + `"}}]}`, true},
	} {
		for way, write := range framings {
			for _, streamed := range []bool{false, true} {
				t.Run(name+", "+way+", streamed: "+strconv.FormatBool(streamed), func(t *testing.T) {
					h := newHouse(t, ofAccount(t), func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", c.media)
						write(w, c.answer)
					})
					got := h.ask(c.path, `"stream":`+strconv.FormatBool(streamed))
					got.passed(t, way, c.answer, c.says)
				})
			}
		}
	}
}

// TestWhatIsHeardPassesAsItIs, whatever it is said to be, and so does what is packed in a way that is not read here.
func TestWhatIsHeardPassesAsItIs(t *testing.T) {
	for name, c := range map[string]struct{ path, media, coding string }{
		"sound":                {"/v1/audio/speech", "audio/mpeg", ""},
		"sound, said JSON":     {"/v1/audio/speech", "application/json", ""},
		"a chat that is coded": {"/v1/chat/completions", "application/json", "br"},
	} {
		for _, way := range []string{"its length is told", "in chunks"} {
			h := newHouse(t, ofAccount(t), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				if c.coding != "" {
					w.Header().Set("Content-Encoding", c.coding)
				}
				framings[way](w, "ID3 "+toldOfAccount+"\n\n")
			})
			body := hi
			if strings.HasSuffix(c.path, "speech") {
				body = `{"model":"gpt-4o-mini-tts","input":"Hi","voice":"alloy"}`
			}
			if got := h.postForm(c.path, "application/json", body); got.status != http.StatusOK || got.body != "ID3 "+toldOfAccount+"\n\n" {
				t.Errorf("%s, %s: %d %q", name, way, got.status, got.body)
			}
		}
	}
}
