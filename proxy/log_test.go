package proxy_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestTheLogHasTheRoute: each line says which endpoint was called, and no line has an id or anything else that somebody put into a path.
func TestTheLogHasTheRoute(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/v1/chat/completions", "/v1/chat/completions"},
		{"POST", "/v1/responses", "/v1/responses"},
		{"POST", "/v1/responses/input_tokens", "/v1/responses/input_tokens"},
		{"POST", "/v1/images/edits", "/v1/images/edits"},
		{"PUT", "/v1/embeddings", "/v1/embeddings"},
		{"PUT", "/v1/usage", "/v1/usage"},
		{"GET", "/v1/usage", "/v1/usage"},
		{"GET", "/v1/models/secret", "/v1/models/*"},
		{"GET", "/v1/responses/secret", "/v1/responses/{id}"},
		{"DELETE", "/v1/files/secret", "/v1/files/{id}"},
		{"GET", "/v1/conversations/secret/items/secret", "/v1/conversations/{id}/items/{item}"},
		{"PUT", "/v1/files/secret", "other"},
		{"GET", "/v1/secret", "other"},
		{"GET", "/", "other"},
	} {
		var log bytes.Buffer
		h := newHouse(t, alice(t), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
		r, err := http.NewRequestWithContext(t.Context(), c.method, h.url+c.path, strings.NewReader(hi))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if err := h.server.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var line struct{ Path string }
		lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n")) // of which the last is the request's
		if err := json.Unmarshal(lines[len(lines)-1], &line); err != nil || line.Path != c.want || strings.Contains(log.String(), "secret") {
			t.Errorf("%s %s: %v, path %q, want %q in %s", c.method, c.path, err, line.Path, c.want, log.String())
		}
	}
}
