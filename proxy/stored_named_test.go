package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestNamingAnIDDoesNotMakeItOnes, though the upstream echoes it.
func TestNamingAnIDDoesNotMakeItOnes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "100k tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer := `{"id":"conv_1","object":"conversation"}`
			if strings.HasSuffix(r.URL.Path, "/items") {
				answer = `{"object":"list","data":[{"id":"msg_SECRET","type":"message"},{"id":"msg_made","type":"message"}]}`
			}
			_, _ = w.Write([]byte(answer))
		})
		if got := v.post(t.Context(), "/v1/conversations", `{}`); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for _, items := range []string{
			`{"type":"message","role":"user","content":"Hi","id":"msg_SECRET"}`,
			`{"type":"message","role":"user","content":"Hi","id":"msg\u005fSECRET"}`,
			`{"type":"message","role":"user","content":"\ud800"},{"type":"message","role":"user","content":"Hi","id":"msg_SECRET"}`,
			`{"type":"message","role":"user","content":"Hi","x":{"a":1,"a":2},"id":"msg_SECRET"}`,
			`{"type":"message","role":"user","content":"Hi","x":{"msg_SECRET":1}}`,
		} {
			items = `{"items":[` + items + `,{"type":"message","role":"user","content":"msg_other"}]}`
			if got := v.post(t.Context(), wire.Endpoint("/v1/conversations/conv_1/items"), items); got.status != http.StatusOK {
				t.Fatalf("%s: %d %s", items, got.status, got.body)
			}
		}
		made := false
		for _, row := range v.store.ownedRows() {
			made = made || row.ID == "msg_made"
			if row.ID == "msg_SECRET" {
				t.Errorf("%s owns %s", row.Key, row.ID)
			}
		}
		if !made {
			t.Error("what was made is not owned")
		}
	})
}
