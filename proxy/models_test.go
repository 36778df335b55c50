package proxy_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

const upstreamModels = `{"object":"list","data":[{"id":"gpt-4o","object":"model","created":7,"owned_by":"x"},{"id":"gpt-4o-mini","object":"model"},{"id":"whisper-1","object":"model"}]}`

func (h *house) get(path string) answer {
	h.t.Helper()
	r, _ := http.NewRequest(http.MethodGet, h.url+path, nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	return h.do(r)
}

func ids(t *testing.T, a answer) []string {
	t.Helper()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &list); a.status != 200 || err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	var out []string
	for _, m := range list.Data {
		out = append(out, m.ID)
	}
	return out
}

func TestModelsOfThisKey(t *testing.T) {
	spec := proxy.Spec{
		Keys:      []proxy.KeySpec{{Name: "alice", Models: []string{"gpt-*", "fast"}}},
		Models:    []proxy.ModelSpec{{Pattern: "gpt-*", Upstream: "up"}, {Pattern: "fast", Upstream: "up", As: "gpt-4o-mini"}, {Pattern: "secret-model", Upstream: "up"}, {Pattern: "whisper*", Upstream: "up"}},
		Upstreams: []proxy.UpstreamSpec{{Name: "up", Key: "k-upstream"}},
	}
	h := newHouse(t, spec, answerWith(200, upstreamModels))
	for range 3 {
		if got, want := ids(t, h.get("/v1/models")), []string{"gpt-4o", "gpt-4o-mini", "fast"}; !slices.Equal(got, want) {
			t.Errorf("models %v, want %v", got, want)
		}
	}
	if n := len(h.asked); n != 1 {
		t.Errorf("the upstream was asked %d times, want once", n)
	}
	if r := <-h.asked; r.Header.Get("Authorization") != "Bearer k-upstream" {
		t.Errorf("the upstream got Authorization %q", r.Header.Get("Authorization"))
	}
	if got := h.get("/v1/models/gpt-4o"); got.status != 200 || got.body != `{"id":"gpt-4o","object":"model","created":7,"owned_by":"x"}` {
		t.Errorf("one model: %d %s", got.status, got.body)
	}
	for _, name := range []string{"whisper-1", "secret-model", "nothing"} {
		if got := h.get("/v1/models/" + name); got.status != 404 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

func TestModelsWithoutAnUpstreamList(t *testing.T) {
	spec := proxy.Spec{
		Keys:   []proxy.KeySpec{{Name: "alice"}},
		Models: []proxy.ModelSpec{{Pattern: "house", Upstream: "up"}, {Pattern: "*", Upstream: "up"}},
	}
	h := newHouse(t, spec, answerWith(500, "no"))
	if got := ids(t, h.get("/v1/models")); !slices.Equal(got, []string{"house"}) {
		t.Errorf("models %v", got)
	}
}

func TestAModelElsewhereIsNotFound(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	spec.Models = []proxy.ModelSpec{{Pattern: "gpt-4o", Upstream: "up"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	if got := h.chat(hi); got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	} else if _, _, param, code := got.errorOf(t); code != "model_not_found" || param != "model" {
		t.Errorf("code %q, param %q", code, param)
	}
}

func TestAnAliasIsSentByItsUpstreamName(t *testing.T) {
	spec := alice(t, "1000 tokens in total on gpt-4o-mini")
	spec.Models = []proxy.ModelSpec{{Pattern: "fast", Upstream: "up", As: "gpt-4o-mini"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	if got := h.chat(`{"model":"fast","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}`); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if v := h.sent()["model"]; v != "gpt-4o-mini" {
		t.Errorf("sent as %v", v)
	}
	if used := h.used("1000 tokens in total on gpt-4o-mini"); used != 11 {
		t.Errorf("an alias got around the limit on its model: used %d", used)
	}
}

func TestOnlyWhatIsMeteredIsForwarded(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/batches", 404},
		{"POST", "/v1/responses/compact", 404},
		{"GET", "/v1/embeddings", 405},
		{"GET", "/v1/files", 404},
		{"POST", "/chat/completions", 404},
		{"POST", "/v1//chat/completions", 404},
		{"POST", "/v1/chat/completions/", 404},
		{"POST", "/v1/./chat/completions", 404},
		{"POST", "/V1/chat/completions", 404},
		{"POST", "/v1/chat%2fcompletions", 404},
		{"POST", "/v1/chat/completions;x", 404},
		{"GET", "/v1/chat/completions", 404}, // nothing is stored where there is no ledger,
		{"DELETE", "/v1/models/gpt-4o", 405},
		{"POST", "/openai/deployments/x/chat/completions", 404},
	} {
		r, err := http.NewRequest(c.method, h.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		got := h.do(r)
		if got.status != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got.status, c.status)
			continue
		}
		got.errorOf(t)
	}
	if len(h.asked) > 0 {
		t.Error("something went upstream")
	}
}

func TestAModelNameWithASlash(t *testing.T) {
	spec := proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice"}}}
	h := newHouse(t, spec, answerWith(200, `{"object":"list","data":[{"id":"meta-llama/Llama-3"}]}`))
	for _, path := range []string{"/v1/models/meta-llama%2FLlama-3", "/v1/models/meta-llama/Llama-3"} {
		if got := h.get(path); got.status != 200 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// TestAListIsFetchedOnceForAll: callers who ask while it is fetched wait for it together, and a failure is not repeated at once.
func TestAListIsFetchedOnceForAll(t *testing.T) {
	for _, status := range []int{200, 500} {
		release := make(chan struct{})
		h := newHouse(t, proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice"}}}, func(w http.ResponseWriter, r *http.Request) {
			<-release
			answerWith(status, upstreamModels)(w, r)
		})
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() { h.get("/v1/models") })
		}
		<-h.asked
		close(release)
		callers.Wait()
		h.get("/v1/models")
		if n := len(h.asked); n != 0 {
			t.Errorf("status %d: the upstream was asked %d times more", status, n)
		}
	}
}

func TestAKeysModelsHoldForCalls(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	spec.Keys[0].Models = []string{"gpt-5*"}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	if got := h.chat(hi); got.status != 404 || len(h.asked) > 0 {
		t.Errorf("a model this key may not use: %d, %d calls went upstream", got.status, len(h.asked))
	}
}

// TestModelListsTellNothingOfTheAccount: neither whose a model is, nor what else a server says there; names of models stay.
func TestModelListsTellNothingOfTheAccount(t *testing.T) {
	const fine, odd = `{"id":"ft:gpt-4o:acme-org-research::9xyz","owned_by":"OWNER","object":"model"}`, `{"owned_by":"OWNER","permission":[{"organization":"OWNER"}],"id":"org-AbCdEf123/llama"}`
	list := strings.ReplaceAll(`{"by":"OWNER","object":"list","data":[`+fine+`,`+odd+`],"of":"OWNER"}`, "OWNER", toldOfAccount)
	h := newHouse(t, ofAccount(t), answerWith(200, list))
	for path, want := range map[string]string{
		"/v1/models": `{"object":"list","data":[` + fine + `,` + odd + `]}`,
		"/v1/models/ft:gpt-4o:acme-org-research::9xyz": fine,
		"/v1/models/org-AbCdEf123/llama":               odd,
	} {
		if got := h.get(path); got.status != 200 || got.body != strings.ReplaceAll(want, "OWNER", hiddenOfAccount) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
