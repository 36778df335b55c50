package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestAnErrorInAStreamDoesNotTellOurKey, however it is cut; what a model says passes as it is.
func TestAnErrorInAStreamDoesNotTellOurKey(t *testing.T) {
	const said = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sk-upstream-secret, an error\"}}]}\n\n"
	const failed = "data: {\"error\":{\"message\":\"bad key sk-upstream-secret!\",\"type\":\"x\",\"param\":null,\"code\":null}}\n\n"
	want := said + strings.Replace(failed, "sk-upstream-secret", "[key]", 1) + said
	const asked = `,"max_tokens":50,"stream_options":{"include_usage":true}`
	for name, body := range map[string]string{"passed on": asked, "event by event": `,"max_tokens":50`, "drawn": "", "packed": asked} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				text := said + failed + said
				if name == "packed" {
					w.Header().Set("Content-Encoding", "gzip")
					text = zipped(text)
				}
				for text != "" {
					n := min(7, len(text))
					_, _ = w.Write([]byte(text[:n]))
					_ = http.NewResponseController(w).Flush()
					text = text[n:]
				}
			})
			got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"stream":true`+body+`}`, "Accept-Encoding", "gzip")
			if got.status != http.StatusOK || got.body != want || got.err != nil {
				t.Errorf("%d %q, %v", got.status, got.body, got.err)
			}
		})
	}
}
