package proxy_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// servedPaths are the only ones under which anything goes upstream: those of the README and docs/wire.md, to the letter.
var servedPaths = regexp.MustCompile(`^/v1/(chat/completions|completions|responses|embeddings|moderations|images/(generations|edits|variations)|audio/(speech|transcriptions|translations)|` +
	`responses/compact|responses/input_tokens|conversations|files|models)$`)

// FuzzPath: whatever method and target a request has, it goes upstream under the path that it has, and only if that is one that is served;
// nothing of its query goes along with what is metered. Objects that nobody has stored are nobody's.
func FuzzPath(f *testing.F) {
	for _, seed := range []struct{ method, target string }{
		{"POST", "/v1/chat/completions"},
		{"POST", "/v1//chat/completions"},
		{"POST", "/v1/./chat/completions"},
		{"POST", "/v1/files/../chat/completions"},
		{"POST", "/v1/chat%2fcompletions"},
		{"POST", "/v1/Chat/completions"},
		{"POST", "/v1/chat/completions/"},
		{"POST", "/v1/chat/completions;x"},
		{"POST", "/v1/chat/completions?api-version=1&key=k"},
		{"PUT", "/v1/chat/completions"},
		{"POST", "http://elsewhere.example/v1/chat/completions"},
		{"GET", "/v1/responses/resp_1"},
		{"GET", "/v1/responses/resp_1%2f..%2f..%2ffiles"},
		{"DELETE", "/v1/files/file-1"},
		{"GET", "/v1/models/a/b"},
		{"GET", "/v1/models"},
		{"CONNECT", "elsewhere.example:443"},
		{"OPTIONS", "*"},
		{"POST", "/v1/batches"},
		{"GET", "/v1/organization/usage/completions"},
		{"POST", "/v1/responses/resp_1/cancel"},
	} {
		f.Add(seed.method, seed.target)
	}
	const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}],"max_tokens":5}`
	var upstream atomic.Pointer[http.Request]
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upstream.Store(r)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, plainAnswer(8, 3))
	}))
	f.Cleanup(up.Close)
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		f.Fatal(err)
	}
	memory := limiter.NewMemory()
	policy, err := proxy.NewPolicy(proxy.Spec{
		Upstreams: []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", URL: up.URL + "/v1"}},
		Models:    []proxy.ModelSpec{{Pattern: "*", Upstream: "up"}},
		Keys:      []proxy.KeySpec{{Name: "alice", Hashes: [][32]byte{sha256.Sum256([]byte(secret))}, Limits: limits(f, "1b tokens per minute")}},
	}, memory, catalog)
	if err != nil {
		f.Fatal(err)
	}
	server, err := proxy.New(proxy.Options{Limiter: memory, Estimator: estimator, Registry: prometheus.NewRegistry()}, policy)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		wire := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: proxy\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, target, secret, len(body), body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
		if err != nil || r.Header.Get("Authorization") != "Bearer "+secret {
			return // no server would have let it in
		}
		upstream.Store(nil)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		went := upstream.Load()
		if went == nil {
			if w.Code == http.StatusOK && !strings.HasPrefix(r.URL.Path, "/v1/models") && r.URL.Path != "/v1/usage" && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
				t.Errorf("%s %q is answered with 200: %s", method, target, w.Body)
			}
			return
		}
		path, _, _ := strings.Cut(target, "?")
		if at := strings.Index(path, "://"); at >= 0 { // only its path is looked at
			_, path, _ = strings.Cut(path[at+3:], "/")
			path = "/" + path
		}
		listed := went.Method == http.MethodGet && went.URL.Path == "/v1/models" && method == http.MethodGet // to answer for one model, the list is read
		if !servedPaths.MatchString(went.URL.Path) || went.URL.EscapedPath() != path && !listed {
			t.Errorf("%s %q went upstream as %s %s", method, target, went.Method, went.URL)
		}
		if went.Method != method || went.URL.RawQuery != "" && strings.HasPrefix(path, "/v1/chat/") {
			t.Errorf("%s %q went upstream as %s %s", method, target, went.Method, went.URL)
		}
	})
}
