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
