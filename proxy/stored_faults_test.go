package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// TestObjectsAreWhereTheyWereMade: at their upstream, with its key; a model that another upstream serves cannot read them, and
// their owner is told why.
func TestObjectsAreWhereTheyWereMade(t *testing.T) {
	v := freshVault(t, func(s *proxy.Spec) {
		s.Upstreams = []proxy.UpstreamSpec{{Name: "a", Key: "sk-of-a"}, {Name: "b", Key: "sk-of-b"}}
		s.Models = []proxy.ModelSpec{{Pattern: "gpt-4o-mini", Upstream: "a"}, {Pattern: "gpt-4o", Upstream: "b"}}
	})
	at := strings.Replace(remember, "gpt-4o-mini", "gpt-4o", 1)
	id := v.must(secret, "POST", "/v1/responses", at)
	v.must(secret, "GET", "/v1/responses/"+id, "")
	v.must(secret, "POST", "/v1/conversations", `{}`)
	for i, want := range []string{"sk-of-b", "sk-of-b", "sk-of-a"} {
		if got := (<-v.asked).Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("request %d went upstream with another key than %s", i, want)
		}
	}
	got := v.as(secret, "POST", "/v1/responses", goOn(id))
	if got.status != 404 || !strings.Contains(got.body, "stored at b") {
		t.Errorf("read by a model of another upstream: %d %s", got.status, got.body)
	}
	theirs := v.as(bobsSecret, "POST", "/v1/responses", goOn(id))
	if theirs.status != 404 || strings.Contains(theirs.body, "stored at") {
		t.Errorf("another key: %d %s", theirs.status, theirs.body)
	}
}

// TestALedgerThatCannotBeRead: what this process has had made is known; all else may be somebody's, and is refused for a while.
func TestALedgerThatCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		stored := fakeopenai.NewStored()
		v := newVirtual(t, alice(t, "100k tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			stored.Serve(w, r, []byte(`{"model":"gpt-4o-mini","input":"Hi"}`))
		}) // its store cannot be read
		first := v.post(t.Context(), wire.Responses, remember)
		if next := v.post(t.Context(), wire.Responses, goOn(idOf(t, first.body))); next.status != 200 {
			t.Errorf("what was made just now: %d %s", next.status, next.body)
		}
		unknown := v.post(t.Context(), wire.Responses, goOn("resp_unknown"))
		if _, _, _, code := unknown.errorOf(t); unknown.status != 503 || code != "ledger_unavailable" {
			t.Errorf("what is not known: %d %s", unknown.status, unknown.body)
		}
		if n := len(v.store.rows(t)); n != 2 {
			t.Errorf("%d calls were recorded, want 2", n)
		}
	})
}

// TestAnAnswerThatBreaksOffIsOwned, if its id was seen: the provider may have stored it. Its tokens are those that were reserved.
func TestAnAnswerThatBreaksOffIsOwned(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "100k tokens in total"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_half\"}}\n\n"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			panic(http.ErrAbortHandler)
		})
		got := v.post(t.Context(), wire.Responses, strings.Replace(remember, "}", `,"stream":true}`, 1))
		if got.err == nil {
			t.Errorf("it did not break off: %s", got.body)
		}
		time.Sleep(time.Second)
		rows := v.store.ownedRows()
		if len(rows) != 1 || rows[0].ID != "resp_half" || rows[0].Key != "alice" || rows[0].Tokens != got.reserved(t) {
			text, _ := json.Marshal(rows)
			t.Errorf("recorded: %s, and %d tokens were reserved", text, got.reserved(t))
		}
	})
}

// TestStoredPathsPassOnFaults of the upstream, without its key and without a broken answer that looks whole.
func TestStoredPathsPassOnFaults(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/responses", remember)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		has    string
	}{
		"an error":       {answerWith(500, `{"error":{"message":"key sk-upstream-secret is tired","type":"server_error","param":null,"code":null}}`), 500, "key [key] is tired"},
		"a message":      {answerWith(409, `{"error":{"message":"only"}}`), 409, `"message":"only","type":"invalid_request_error","param":null,"code":null`},
		"a page":         {answerWith(503, "<html>busy</html>"), 503, "without saying why"},
		"no room":        {answerWith(429, `{"error":{"message":"Slow down.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`), 429, `is short, not the budget of your key. The provider says: Slow down.`},
		"our key is bad": {answerWith(401, `{}`), 502, "upstream_unauthorized"},
		"a redirect":     {answerWith(302, ``), 502, "upstream_redirected"},
		"a broken answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		}, 502, "upstream_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			up := httptest.NewServer(c.answer)
			defer up.Close()
			catalogPolicy(t, v.house, up.URL, v.spec)
			got := v.as(secret, "GET", "/v1/responses/"+id, "")
			if got.status != c.status || !strings.Contains(got.body, c.has) || strings.Contains(got.body, "sk-upstream") {
				t.Errorf("%d %s, %v; want %d with %q", got.status, got.body, got.err, c.status, c.has)
			}
			operators := c.has == "upstream_unauthorized" || c.has == "upstream_redirected"
			if told := got.header.Get("x-should-retry") == "false"; told != operators {
				t.Errorf("x-should-retry: false is there: %v, want %v", told, operators)
			}
		})
	}
}

// TestStoredPathsTellWhetherTheUpstreamWasReached: what it has read it may have done.
func TestStoredPathsTellWhetherTheUpstreamWasReached(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/responses", remember)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer there.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	const nobodys = "an object that was made so is nobody's"
	for _, c := range []struct {
		method, path, at string
		code             string
		nobodys          bool
	}{
		{"POST", "/v1/conversations", there.URL, "upstream_failed", true},
		{"GET", "/v1/responses/" + id, there.URL, "upstream_failed", false},
		{"POST", "/v1/conversations", gone.URL, "upstream_unreachable", false},
		{"GET", "/v1/responses/" + id, gone.URL, "upstream_unreachable", false},
	} {
		body := ""
		if c.method == http.MethodPost {
			body = `{}`
		}
		catalogPolicy(t, v.house, c.at, v.spec)
		got := v.as(secret, c.method, c.path, body)
		message, _, _, code := got.errorOf(t)
		if got.status != 502 || code != c.code || strings.Contains(message, nobodys) != c.nobodys || strings.Contains(message, "cannot be reached") != (c.at == gone.URL) {
			t.Errorf("%s %s: %d %s: %s", c.method, c.path, got.status, code, message)
		}
	}
}

// TestStoredPathsKeepTheAccountToThemselves: of an answer's headers only those come back that come back of a call's, and none that
// quotes the upstream's key.
func TestStoredPathsKeepTheAccountToThemselves(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/responses", remember)
	for _, status := range []int{http.StatusOK, http.StatusNotFound} {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range map[string]string{
				"Openai-Organization": "org-leak", "Openai-Project": "proj_leak", "Set-Cookie": "leak=1", "X-Ratelimit-Remaining-Requests": "7777",
				"Openai-Model": "sk-upstream-secret", "X-Request-Id": "req_theirs", "Openai-Processing-Ms": "12",
			} {
				w.Header().Set(name, value)
			}
			answerWith(status, `{"error":{"message":"x"},"id":"`+id+`"}`)(w, r)
		}))
		defer up.Close()
		catalogPolicy(t, v.house, up.URL, v.spec)
		got := v.as(secret, "GET", "/v1/responses/"+id, "")
		if got.status != status || got.header.Get("X-Request-Id") != "req_theirs" || got.header.Get("Openai-Processing-Ms") != "12" {
			t.Errorf("%d: %v", got.status, got.header)
		}
		for _, name := range []string{"Openai-Organization", "Openai-Project", "Set-Cookie", "Openai-Model"} {
			if value := got.header.Get(name); value != "" {
				t.Errorf("%d: %s came back: %s", status, name, value)
			}
		}
		if left := got.header.Get("X-Ratelimit-Remaining-Requests"); left == "7777" {
			t.Errorf("%d: what the upstream has left is shown as what the key has left", status)
		}
	}
}
