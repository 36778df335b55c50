package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestAnErrorInAStreamTellsNothingOfTheAccount: neither the names of organisations and projects, nor what is set in headers, nor the key
// with escapes; what a model says passes as it is.
func TestAnErrorInAStreamTellsNothingOfTheAccount(t *testing.T) {
	const told = `key sk\u002dupstream\u002Dsecret, token very\/secret-4711, org-AbCdEf123, proj_Xy12345 (org\u002dAbCdEf123)`
	const hidden = `key [key], token [key], org-…, proj_… (org-…)`
	said := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + told + ", an error\"}}]}\n\n"
	failed := "data: {\"error\":{\"message\":\"" + told + "\",\"type\":\"x\",\"param\":null,\"code\":null}}\n\n"
	want := said + strings.Replace(failed, told, hidden, 1) + said
	for name, body := range map[string]string{"passed on": `,"max_tokens":50,"stream_options":{"include_usage":true}`, "event by event": `,"max_tokens":50`, "drawn": ""} {
		for _, size := range []int{1, 7, 1000} {
			t.Run(name, func(t *testing.T) {
				spec := alice(t, "1000 tokens in total")
				spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Set: map[string]string{"X-Token": "very/secret-4711"}}}
				h := newHouse(t, spec, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for text := said + failed + said; text != ""; {
						n := min(size, len(text))
						_, _ = w.Write([]byte(text[:n]))
						_ = http.NewResponseController(w).Flush()
						text = text[n:]
					}
				})
				got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"stream":true` + body + `}`)
				if got.status != http.StatusOK || got.body != want || got.err != nil {
					t.Errorf("%d %q, %v", got.status, got.body, got.err)
				}
			})
		}
	}
}

// TestWhatIsNoEventOfAStreamTellsNothingOfTheAccount: some servers say what has failed in other words than events, or in an object of another
// shape. A model says nothing outside of objects.
func TestWhatIsNoEventOfAStreamTellsNothingOfTheAccount(t *testing.T) {
	word := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" one\"}}]}\n\n"
	for name, format := range map[string]string{
		"an object called error": "data: {\"object\":\"error\",\"message\":\"%\",\"type\":\"x\",\"param\":null,\"code\":500}\n\n",
		"a text":                 "data: It is too hot: %\n\n",
		"a string":               "data: \"%\"\n\n",
		"a list":                 "data: [{\"error\":{\"message\":\"%\"}}]\n\n",
		"no event":               "{\"error\":{\"message\":\"%\"}}\n\n",
		"a page":                 "<html>\n<p>%</p>\n</html>\n\n",
		"a line":                 "Internal error: %",
	} {
		for _, body := range []string{`,"max_tokens":50,"stream_options":{"include_usage":true}`, `,"max_tokens":50`, ""} {
			for _, size := range []int{1, 1000} {
				t.Run(name+body, func(t *testing.T) {
					text := word + strings.ReplaceAll(format, "%", toldOfAccount)
					h := newHouse(t, ofAccount(t), func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "text/event-stream")
						flushed(w, text, size)
					})
					got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"stream":true` + body + `}`)
					if want := word + strings.ReplaceAll(format, "%", hiddenOfAccount); got.status != http.StatusOK || got.body != want {
						t.Errorf("%d %q, want %q", got.status, got.body, want)
					}
				})
			}
		}
	}
}
