package proxy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// vault is a proxy for two keys, alice and bob, in front of an upstream that remembers, with a ledger in a file.
type vault struct {
	*house
	stored *fakeopenai.Stored
	writer *ledger.Writer
	rows   ledger.Store
	close  func() // the proxy's process ends
}

const bobsSecret = "tf-secret of bob"

// newVault opens a vault on a ledger that may be there already, and on an account of the provider's.
func newVault(t *testing.T, path string, stored *fakeopenai.Stored, edit ...func(*proxy.Spec)) *vault {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	closed := false
	v := &vault{stored: stored, writer: w, rows: store}
	v.close = func() {
		if closed {
			return
		}
		closed = true
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the writer ended with %v", err)
		}
		store.Close()
	}
	spec := proxy.Spec{Keys: []proxy.KeySpec{
		{Name: "alice", Limits: limits(t, "1m tokens in total", "1000 requests in total"), Hashes: [][32]byte{sha256.Sum256([]byte(secret)), sha256.Sum256([]byte("new " + secret))}},
		{Name: "bob", Hashes: [][32]byte{sha256.Sum256([]byte(bobsSecret))}},
	}}
	for _, e := range edit {
		e(&spec)
	}
	t.Cleanup(v.close)
	v.house = newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // it is in memory
		if !stored.Serve(w, r, body) {
			answerWith(200, plainAnswer(8, 3))(w, r)
		}
	}, func(o *proxy.Options) { o.Ledger = w })
	return v
}

func freshVault(t *testing.T, edit ...func(*proxy.Spec)) *vault {
	t.Helper()
	return newVault(t, filepath.Join(t.TempDir(), "usage.db"), fakeopenai.NewStored(), edit...)
}

// as sends a request with a key.
func (v *vault) as(key, method, path, body string, header ...string) answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text), err}
}

// must is as for what succeeds, and returns the id in the answer.
func (v *vault) must(key, method, path, body string, header ...string) string {
	v.t.Helper()
	got := v.as(key, method, path, body, header...)
	var object struct {
		ID string `json:"id"`
	}
	if got.status != 200 || got.err != nil {
		v.t.Fatalf("%s %s %s: %d %v %s", method, path, body, got.status, got.err, got.body)
	}
	_ = json.Unmarshal([]byte(got.body), &object) // an answer that is no JSON has no id
	return object.ID
}

// upload stores a file.
func (v *vault) upload(key, purpose, content string) answer {
	v.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", purpose)
	part, _ := w.CreateFormFile("file", "notes.txt")
	_, _ = io.WriteString(part, content)
	w.Close()
	return v.as(key, "POST", "/v1/files", form.String(), "Content-Type", w.FormDataContentType())
}

func idOf(t *testing.T, body string) string {
	t.Helper()
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(body), &object); err != nil || object.ID == "" {
		t.Fatalf("no id in %s", body)
	}
	return object.ID
}

const remember = `{"model":"gpt-4o-mini","input":"Remember this one thing.","max_output_tokens":50}`

func goOn(id string) string {
	return fmt.Sprintf(`{"model":"gpt-4o-mini","input":"And then?","max_output_tokens":50,"previous_response_id":%q}`, id)
}

// TestAKeyGoesOnWithItsOwnResponses: plain and streamed, and under each of its secrets.
func TestAKeyGoesOnWithItsOwnResponses(t *testing.T) {
	v := freshVault(t)
	for _, stream := range []string{"", `,"stream":true`} {
		got := v.as(secret, "POST", "/v1/responses", strings.Replace(remember, `}`, stream+`}`, 1))
		id := "resp_" + strings.SplitN(strings.SplitN(got.body, "resp_", 2)[1], `"`, 2)[0]
		for _, key := range []string{secret, "new " + secret} {
			next := v.must(key, "POST", "/v1/responses", goOn(id))
			v.must(key, "GET", "/v1/responses/"+next, "")
			v.must(key, "GET", "/v1/responses/"+id+"/input_items?limit=5&order=asc", "")
		}
	}
}

// TestAnotherKeyFindsNothing: what one key owns another cannot name, see, change, list or delete, and is told exactly what is
// said of what does not exist.
func TestAnotherKeyFindsNothing(t *testing.T) {
	v := freshVault(t)
	response := v.must(secret, "POST", "/v1/responses", remember)
	whole := v.as(secret, "GET", "/v1/responses/"+response, "")
	item := "msg_" + strings.SplitN(strings.SplitN(whole.body, `"msg_`, 2)[1], `"`, 2)[0]
	completion := v.must(secret, "POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":50,"store":true}`)
	conversation := v.must(secret, "POST", "/v1/conversations", `{"items":[{"type":"message","role":"user","content":"My secret is blue."}]}`)
	file := idOf(t, v.upload(secret, "user_data", "red green blue").body)
	input := func(items string) string {
		return `{"model":"gpt-4o-mini","max_output_tokens":50,"input":[` + items + `]}`
	}
	uses := map[string]struct{ method, path, body, id string }{
		"continue":         {"POST", "/v1/responses", goOn("ID"), response},
		"continue, count":  {"POST", "/v1/responses/input_tokens", goOn("ID"), response},
		"join":             {"POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"input":"What is my secret?","conversation":"ID"}`, conversation},
		"join by object":   {"POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"input":"What?","conversation":{"id":"ID"}}`, conversation},
		"name an item":     {"POST", "/v1/responses", input(`{"type":"item_reference","id":"ID"}`), item},
		"name it barely":   {"POST", "/v1/responses", input(`{"id":"ID"}`), item},
		"name reasoning":   {"POST", "/v1/responses", input(`{"type":"reasoning","id":"ID","summary":[]}`), item},
		"read a file":      {"POST", "/v1/responses", input(`{"role":"user","content":[{"type":"input_file","file_id":"ID"}]}`), file},
		"look at a file":   {"POST", "/v1/responses", input(`{"role":"user","content":[{"type":"input_image","file_id":"ID"}]}`), file},
		"chat about it":    {"POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","max_tokens":50,"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"ID"}}]}]}`, file},
		"copy an item":     {"POST", "/v1/conversations", `{"items":[{"type":"item_reference","id":"ID"}]}`, item},
		"get a response":   {"GET", "/v1/responses/ID", "", response},
		"list its input":   {"GET", "/v1/responses/ID/input_items", "", response},
		"drop a response":  {"DELETE", "/v1/responses/ID", "", response},
		"get a completion": {"GET", "/v1/chat/completions/ID", "", completion},
		"its messages":     {"GET", "/v1/chat/completions/ID/messages", "", completion},
		"change it":        {"POST", "/v1/chat/completions/ID", `{"metadata":{"a":"b"}}`, completion},
		"drop it":          {"DELETE", "/v1/chat/completions/ID", "", completion},
		"list from it":     {"GET", "/v1/chat/completions?after=ID", "", completion},
		"see it":           {"GET", "/v1/conversations/ID", "", conversation},
		"rename it":        {"POST", "/v1/conversations/ID", `{"metadata":{}}`, conversation},
		"read it":          {"GET", "/v1/conversations/ID/items", "", conversation},
		"write into it":    {"POST", "/v1/conversations/ID/items", `{"items":[]}`, conversation},
		"read an item":     {"GET", "/v1/conversations/ID/items/" + item, "", conversation},
		"drop an item":     {"DELETE", "/v1/conversations/ID/items/" + item, "", conversation},
		"forget it":        {"DELETE", "/v1/conversations/ID", "", conversation},
		"see a file":       {"GET", "/v1/files/ID", "", file},
		"download it":      {"GET", "/v1/files/ID/content", "", file},
		"list files after": {"GET", "/v1/files?after=ID", "", file},
		"drop a file":      {"DELETE", "/v1/files/ID", "", file},
		"another kind":     {"GET", "/v1/files/ID", "", response},
	}
	if len(uses) < 30 {
		t.Fatalf("%d uses", len(uses))
	}
	before := len(v.stored.Asked())
	for name, use := range uses {
		fill := func(text, id string) string { return strings.ReplaceAll(text, "ID", id) }
		unknown := strings.Repeat("z", len(use.id))
		theirs := v.as(bobsSecret, use.method, fill(use.path, use.id), fill(use.body, use.id))
		nobodys := v.as(bobsSecret, use.method, fill(use.path, unknown), fill(use.body, unknown))
		if theirs.status != 404 || nobodys.status != 404 {
			t.Errorf("%s: %d %s; unknown: %d %s", name, theirs.status, theirs.body, nobodys.status, nobodys.body)
		}
		if got := strings.ReplaceAll(theirs.body, use.id, unknown); got != nobodys.body {
			t.Errorf("%s: of another's it is said\n%s\nof what does not exist\n%s", name, theirs.body, nobodys.body)
		}
		for h := range theirs.header {
			if _, there := nobodys.header[h]; !there {
				t.Errorf("%s: only of another's there is a header %s", name, h)
			}
		}
	}
	if asked := v.stored.Asked(); len(asked) != before {
		t.Errorf("the upstream was asked: %v", asked[before:])
	}
	for name, use := range uses { // and its owner can do all of it, what deletes last
		if use.method != "DELETE" && name != "name reasoning" && name != "another kind" && name != "read an item" && !strings.HasPrefix(name, "copy") {
			if got := v.as(secret, use.method, strings.ReplaceAll(use.path, "ID", use.id), strings.ReplaceAll(use.body, "ID", use.id)); got.status != 200 {
				t.Errorf("%s, by its owner: %d %s", name, got.status, got.body)
			}
		}
	}
}

// TestWhatWasDeletedIsGone, once the upstream has said so.
func TestWhatWasDeletedIsGone(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/responses", remember)
	v.must(secret, "DELETE", "/v1/responses/"+id, "")
	before := len(v.stored.Asked())
	for path, body := range map[string]string{"/v1/responses": goOn(id), "/v1/responses/" + id: ""} {
		method := "POST"
		if body == "" {
			method = "GET"
		}
		if got := v.as(secret, method, path, body); got.status != 404 {
			t.Errorf("%s after it was deleted: %d %s", path, got.status, got.body)
		}
	}
	if asked := v.stored.Asked(); len(asked) != before {
		t.Errorf("the upstream was asked: %v", asked[before:])
	}
}

// TestOwnershipSurvivesARestart of the proxy.
func TestOwnershipSurvivesARestart(t *testing.T) {
	path, stored := filepath.Join(t.TempDir(), "usage.db"), fakeopenai.NewStored()
	v := newVault(t, path, stored)
	response := v.must(secret, "POST", "/v1/responses", remember)
	gone := v.must(secret, "POST", "/v1/responses", remember)
	v.must(secret, "DELETE", "/v1/responses/"+gone, "")
	conversation := v.must(bobsSecret, "POST", "/v1/conversations", `{}`)
	v.close()

	v = newVault(t, path, stored)
	v.must(secret, "POST", "/v1/responses", goOn(response))
	v.must(bobsSecret, "GET", "/v1/conversations/"+conversation, "")
	for key, paths := range map[string][]string{
		secret: {"/v1/responses/" + gone, "/v1/conversations/" + conversation}, bobsSecret: {"/v1/responses/" + response},
	} {
		for _, path := range paths {
			if got := v.as(key, "GET", path, ""); got.status != 404 {
				t.Errorf("%s after a restart: %d", path, got.status)
			}
		}
	}
}
