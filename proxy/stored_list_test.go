package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestListsShowOneKeysObjects, page by page, in order, whatever lies between them in the account.
func TestListsShowOneKeysObjects(t *testing.T) {
	v := freshVault(t)
	var want []string
	for i := range 13 {
		v.stored.Add("chat.completion", 7*i)
		for _, key := range []string{secret, bobsSecret} {
			id := v.must(key, "POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[],"max_tokens":50,"store":true}`)
			if key == secret {
				want = append(want, id)
			}
		}
	}
	v.stored.Add("chat.completion", 50)
	for _, limit := range []int{1, 4, 13, 20} {
		var got []string
		for after, more := "", true; more; {
			list := v.as(secret, "GET", fmt.Sprintf("/v1/chat/completions?limit=%d%s", limit, after), "")
			var page struct {
				Data    []struct{ ID string }
				HasMore bool   `json:"has_more"`
				First   string `json:"first_id"`
				Last    string `json:"last_id"`
			}
			if err := json.Unmarshal([]byte(list.body), &page); err != nil || list.status != 200 || len(page.Data) == 0 {
				t.Fatalf("%d %s: %v", list.status, list.body, err)
			}
			if strings.Contains(list.body, "not yours") || page.First != page.Data[0].ID || page.Last != page.Data[len(page.Data)-1].ID {
				t.Fatalf("a page: %s", list.body)
			}
			for _, o := range page.Data {
				got = append(got, o.ID)
			}
			if more = page.HasMore; more && len(page.Data) != limit {
				t.Errorf("%d of %d in a page that is not the last", len(page.Data), limit)
			}
			after = "&after=" + page.Last
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, want)
		}
	}
	if got := v.as(bobsSecret, "GET", "/v1/files", ""); got.body != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
		t.Errorf("files of a key that has none: %s", got.body)
	}
	v.stored.Add("chat.completion", 6000)
	for query, status := range map[string]int{"limit=0": 400, "limit=101": 400, "limit=x": 400, "after=a/b": 400, "after=zzz": 404, "order=asc&model=gpt-4o-mini&metadata[a]=b&x=y": 200} {
		if got := v.as(secret, "GET", "/v1/chat/completions?"+query, ""); got.status != status {
			t.Errorf("?%s: %d %s, want %d", query, got.status, got.body, status)
		}
	}
}

// TestPathsAreFreeOfCharge: they are in no budget, those of requests included.
func TestPathsAreFreeOfCharge(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/responses", remember)
	left := v.remaining()
	v.must(secret, "GET", "/v1/responses/"+id, "")
	conversation := v.must(secret, "POST", "/v1/conversations", `{"metadata":{"a":"b"}}`)
	v.must(secret, "POST", "/v1/conversations/"+conversation+"/items", `{"items":[{"type":"message","role":"user","content":"Hello"}]}`)
	if got := v.upload(secret, "user_data", "text"); got.status != 200 {
		t.Errorf("upload: %d %s", got.status, got.body)
	}
	v.must(secret, "GET", "/v1/files", "")
	if got := v.remaining(); !slices.Equal(got, left) {
		t.Errorf("%v are left, %v were before", got, left)
	}
	count := v.as(secret, "POST", "/v1/responses/input_tokens", `{"model":"gpt-4o-mini","input":"one two three"}`)
	if count.status != 200 || !strings.Contains(count.body, `"input_tokens":3`) {
		t.Errorf("input_tokens: %d %s", count.status, count.body)
	}
	if got := v.remaining(); got[0] != left[0] || got[1] != left[1]-1 {
		t.Errorf("%v are left after counting, %v were before: it is one request, and no token", got, left)
	}
}

// remaining are the tokens and the requests that alice has left.
func (v *vault) remaining() []int64 {
	v.t.Helper()
	budgets, err := v.server.Budgets(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	left := make([]int64, 2)
	for _, b := range budgets {
		if strings.Contains(b.Name, "alice") {
			if strings.Contains(b.Name, "requests") {
				left[1] = b.State.Remaining
			} else {
				left[0] = b.State.Remaining
			}
		}
	}
	return left
}

// TestUploads are stored for what costs nothing until it is named.
func TestUploads(t *testing.T) {
	v := freshVault(t)
	for purpose, status := range map[string]int{"user_data": 200, "vision": 200, "assistants": 200, "batch": 400, "fine-tune": 400, "evals": 400, "other": 400} {
		got := v.upload(secret, purpose, "text")
		if got.status != status || status == 400 && !strings.Contains(got.body, `"param":"purpose"`) {
			t.Errorf("for %s: %d %s, want %d", purpose, got.status, got.body, status)
		}
	}
	if got := v.as(secret, "POST", "/v1/files", "{}", "Content-Type", "application/json"); got.status != 400 {
		t.Errorf("no form: %d", got.status)
	}
	id := idOf(t, v.upload(secret, "user_data", strings.Repeat("bytes \x00\xff", 9000)).body)
	if got := v.as(secret, "GET", "/v1/files/"+id+"/content", ""); got.body != strings.Repeat("bytes \x00\xff", 9000) {
		t.Errorf("%d bytes came back of %d", len(got.body), 8*9000)
	}
}
