package proxy_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestOurIDIsOnEveryAnswer: whatever the upstream calls the request, the caller can find it in our log and ledger.
func TestOurIDIsOnEveryAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		body   string
	}{
		"plain":    {answerWith(200, plainAnswer(8, 3)), hi},
		"an error": {answerWith(400, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}`), hi},
		"refused":  {nil, "{}"},
	} {
		var log bytes.Buffer
		h := newHouse(t, alice(t), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "req_upstream")
			w.Header().Set("X-Tokenfare-Id", "req_of_another")
			c.answer(w, r)
		}, func(o *proxy.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
		ids := h.chat(c.body).header.Values("X-Tokenfare-Id")
		err := h.server.Wait(t.Context())
		if len(ids) != 1 || err != nil {
			t.Errorf("%s: the client got ids %q, %v", name, ids, err)
			continue
		}
		if _, err := ledger.ParseID(ids[0]); err != nil || !strings.Contains(log.String(), `"id":"`+ids[0]+`"`) {
			t.Errorf("%s: the client got id %q, %v; the log: %s", name, ids[0], err, log.String())
		}
	}
}
