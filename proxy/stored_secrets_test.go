package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestAStoredErrorTellsNothingOfTheAccount, wherever it is read; what a model or the caller said passes as it is.
func TestAStoredErrorTellsNothingOfTheAccount(t *testing.T) {
	failed := `{"id":"resp_1","object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"` + toldOfAccount + `"},"output":[]}`
	done := `{"id":"resp_1","object":"response","status":"completed","error":null,"output":[{"type":"mcp_call","error":"` + toldOfAccount + `"}]}`
	page := "<html>" + toldOfAccount + "</html>"
	long := strings.Repeat("instructions ", 30_000) // beyond what is read ahead
	v, answerWith := ownerOfAll(t)
	for _, c := range []struct {
		method, path, answer string
		says                 bool // it is the model that says so, or the caller
	}{
		{"GET", "/v1/responses/resp_1", failed, false},
		{"GET", "/v1/responses/resp_1", strings.Replace(failed, "[]", `"`+long+`"`, 1), false},
		{"GET", "/v1/responses/resp_1", done, true},
		{"GET", "/v1/responses/resp_1", strings.Replace(done, "[{", `["`+long+`",{`, 1), true},
		{"GET", "/v1/responses/resp_1/input_items", failed, false},
		{"GET", "/v1/chat/completions/chatcmpl_1", failed, false},
		{"POST", "/v1/chat/completions/chatcmpl_1", failed, false},
		{"GET", "/v1/chat/completions/chatcmpl_1/messages", failed, false},
		{"GET", "/v1/conversations/conv_1/items", failed, false},
		{"GET", "/v1/conversations/conv_1/items/msg_1", failed, false},
		{"POST", "/v1/conversations", failed, false},
		{"GET", "/v1/files/file_1", failed, false},
		{"GET", "/v1/files/file_1/content", failed, true},
		{"GET", "/v1/responses/resp_1", page, false},
		{"GET", "/v1/responses/resp_1", page + long, false},
		{"GET", "/v1/conversations/conv_1/items", `{"detail":"` + toldOfAccount + `"}`, false},
		{"GET", "/v1/files/file_1/content", page, true},
	} {
		for way, write := range framings {
			t.Run(c.method+" "+c.path+" "+way+" "+strconv.Itoa(len(c.answer)), func(t *testing.T) {
				answerWith(func(w http.ResponseWriter) { write(w, c.answer) })
				got := v.as(secret, c.method, c.path, `{"metadata":{}}`, "Accept-Encoding", "gzip")
				got.passed(t, way, c.answer, c.says)
			})
		}
	}
}

// TestAListOfStoredErrorsTellsNothingOfTheAccount: each entry is shown as the object is.
func TestAListOfStoredErrorsTellsNothingOfTheAccount(t *testing.T) {
	const failed, said = `{"id":"chatcmpl_1","error":{"message":"` + toldOfAccount + `"}}`, `{"id":"chatcmpl_1","error":null,"choices":[{"message":{"content":"` + toldOfAccount + `"}}]}`
	v, answerWith := ownerOfAll(t)
	for entry, want := range map[string]string{failed: strings.Replace(failed, toldOfAccount, hiddenOfAccount, 1), said: said} {
		for way, write := range framings {
			answerWith(func(w http.ResponseWriter) { write(w, `{"object":"list","data":[`+entry+`],"has_more":false}`) })
			got := v.as(secret, "GET", "/v1/chat/completions", "")
			if want := `{"object":"list","data":[` + want + `],"first_id":"chatcmpl_1","last_id":"chatcmpl_1","has_more":false}`; got.status != http.StatusOK || got.body != want {
				t.Errorf("%s: %d %q", way, got.status, got.body)
			}
		}
	}
}

// ownerOfAll is a vault in which alice owns an object of each kind, and whose upstream answers all requests alike, as it is told.
func ownerOfAll(t *testing.T) (v *vault, answer func(func(w http.ResponseWriter))) {
	t.Helper()
	var write atomic.Value
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		write.Load().(func(w http.ResponseWriter))(w)
	}))
	t.Cleanup(up.Close)
	v = freshVault(t, func(s *proxy.Spec) { s.Upstreams = ofAccount(t).Upstreams })
	v.spec.Upstreams[0].URL = up.URL
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(v.spec, v.limiter, catalog)
	if err != nil {
		t.Fatal(err)
	}
	v.server.SetPolicy(policy)
	var rows []*ledger.Owned
	for id, kind := range map[string]ledger.ObjectKind{
		"resp_1": ledger.Response, "chatcmpl_1": ledger.Completion, "conv_1": ledger.Conversation, "file_1": ledger.File,
	} {
		rows = append(rows, &ledger.Owned{ID: id, Kind: kind, Key: "alice", Upstream: "up"})
	}
	if err := v.writer.Own(rows).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v, func(next func(w http.ResponseWriter)) { write.Store(next) }
}
