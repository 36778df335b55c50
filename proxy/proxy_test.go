package proxy_test

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// house is a proxy in front of an upstream that a test scripts.
type house struct {
	t        *testing.T
	server   *proxy.Server
	limiter  *limiter.Memory
	registry *prometheus.Registry
	spec     proxy.Spec // as it was filled in
	url      string
	asked    chan *http.Request // every request the upstream got, its body in place
}

const secret = "tf-secret of alice"

// newHouse serves spec over an upstream that answers with upstream. Missing parts of spec are filled in: key alice, every
// model to the one upstream.
func newHouse(t *testing.T, spec proxy.Spec, upstream http.HandlerFunc, edit ...func(*proxy.Options)) *house {
	t.Helper()
	h := &house{t: t, limiter: limiter.NewMemory(), registry: prometheus.NewRegistry(), asked: make(chan *http.Request, 10_000)}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("upstream: read body: %v", err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		kept := r.Clone(r.Context())
		kept.Body = io.NopCloser(strings.NewReader(string(body)))
		h.asked <- kept
		upstream(w, r)
	}))
	t.Cleanup(up.Close)
	if spec.Upstreams == nil {
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret"}}
	}
	for i := range spec.Upstreams {
		spec.Upstreams[i].URL = up.URL + "/v1"
	}
	if spec.Models == nil {
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: spec.Upstreams[0].Name}}
	}
	for i := range spec.Keys {
		if spec.Keys[i].Hashes == nil {
			spec.Keys[i].Hashes = [][32]byte{sha256.Sum256([]byte(secret))}
		}
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(spec, h.limiter, catalog)
	if err != nil {
		t.Fatal(err)
	}
	h.spec = spec
	o := proxy.Options{Limiter: h.limiter, Estimator: estimator, Registry: h.registry}
	for _, e := range edit {
		e(&o)
	}
	if h.server, err = proxy.New(o, policy); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h.server)
	t.Cleanup(func() {
		front.Close()
		if n := h.limiter.OpenCount(); n != 0 {
			t.Errorf("%d reservations are still open at the end", n)
		}
	})
	h.url = front.URL
	return h
}

// estimator is shared: reading the vocabularies takes most of a second under the race detector.
var estimator = cost.NewEstimator()

// alice is a spec with one key that has these limits.
func alice(t *testing.T, sentences ...string) proxy.Spec {
	t.Helper()
	return proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice", Limits: limits(t, sentences...)}}}
}

func limits(t testing.TB, sentences ...string) []limit.Limit {
	t.Helper()
	var out []limit.Limit
	for _, s := range sentences {
		l, err := limit.Parse(s, time.UTC)
		if err != nil {
			t.Fatalf("limit %q: %v", s, err)
		}
		out = append(out, l)
	}
	return out
}

// client gives up before the test binary does.
var client = &http.Client{Timeout: time.Minute}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // the transfer broke off
}

// chat posts a chat completion as alice.
func (h *house) chat(body string, header ...string) answer {
	h.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return h.do(r)
}

func (h *house) do(r *http.Request) answer {
	h.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body), err}
}

// errorOf reads an answer as OpenAI's error object; all four members must be there.
func (a answer) errorOf(t *testing.T) (message, kind, param, code string) {
	t.Helper()
	var out struct {
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("not an error object: %v\n%s", err, a.body)
	}
	for _, member := range []string{"message", "type", "param", "code"} {
		if _, ok := out.Error[member]; !ok {
			t.Errorf("the error has no member %q: %s", member, a.body)
		}
	}
	text := func(v any) string { s, _ := v.(string); return s }
	return text(out.Error["message"]), text(out.Error["type"]), text(out.Error["param"]), text(out.Error["code"])
}

// used is what a limit of alice has consumed, settled.
func (h *house) used(sentence string) int64 {
	h.t.Helper()
	return h.state("key alice", sentence).Used
}

func (h *house) state(owner, sentence string) limiter.State {
	h.t.Helper()
	l := limits(h.t, sentence)[0]
	charge := []limiter.Charge{{Budget: h.limiter.Budget(owner+": "+l.ID(), limiter.Total{Limit: l.Capacity()})}}
	if l.Kind != limit.InTotal {
		h.t.Fatalf("%q: only totals are read by tests", sentence)
	}
	if _, err := h.limiter.Peek(h.t.Context(), charge); err != nil {
		h.t.Fatal(err)
	}
	return charge[0].State
}

// plainAnswer is a chat completion with usage.
func plainAnswer(prompt, completion int) string {
	b, _ := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "Hello there."}}},
		"usage":   map[string]any{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
	})
	return string(b)
}

// answerWith is an upstream that always sends this JSON.
func answerWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

const hi = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":50}`

func TestACallIsChargedWhatWasUsed(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	got := h.chat(hi)
	if got.status != 200 || got.body != plainAnswer(8, 3) {
		t.Fatalf("answer: %d %s", got.status, got.body)
	}
	if used := h.used("1000 tokens in total"); used != 11 {
		t.Errorf("used %d tokens, want 11", used)
	}
	for name, want := range map[string]string{
		"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "989",
		"x-tokenfare-budget": "key alice: 1000 tokens in total", "x-tokenfare-reserved": "58",
	} {
		if v := got.header.Get(name); v != want {
			t.Errorf("header %s: %q, want %q", name, v, want)
		}
	}
}

// catalogPolicy puts a policy into effect whose upstream is at url.
func catalogPolicy(t *testing.T, h *house, url string, spec proxy.Spec) {
	t.Helper()
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", URL: url, Key: "sk-upstream-secret"}}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up"}}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(spec, h.limiter, catalog)
	if err != nil {
		t.Fatal(err)
	}
	h.server.SetPolicy(policy)
}

func TestLimitHeadersOnEveryAnswerToAKnownCaller(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total", "70 requests in total", "5 requests in total on gpt-4o-mini"), answerWith(200, plainAnswer(8, 3)))
	for name, got := range map[string]answer{
		"not JSON":       h.chat(`{`),
		"models":         h.get("/v1/models"),
		"unknown member": h.chat(`{"model":"gpt-4o-mini","messages":[],"store":true}`),
		"too large":      h.chat(`{"model":"gpt-4o-mini","messages":[],"max_tokens":5000}`),
	} {
		if got.header.Get("x-ratelimit-remaining-tokens") != "1000" || got.header.Get("x-ratelimit-limit-requests") == "" {
			t.Errorf("%s: %d, headers %v", name, got.status, got.header)
		}
		if v := got.header.Get("x-tokenfare-reserved"); v != "" {
			t.Errorf("%s: reserved %q", name, v)
		}
	}
}

func TestAnEarlyRetryIsNoticed(t *testing.T) {
	h := newHouse(t, alice(t, "60 tokens per 10 minutes"), answerWith(200, plainAnswer(8, 50)))
	for range 3 { // one passes, one is refused, one is early
		h.chat(hi)
	}
	if n := h.metric("tokenfare_early_retries_total"); n != 1 {
		t.Errorf("%v early retries, want 1", n)
	}
}

// metric is the value of a counter or gauge, or how much a histogram has seen, whose labels, given as name, value pairs, are those; there must be one.
func (h *house) metric(name string, labels ...string) float64 {
	h.t.Helper()
	families, err := h.registry.Gather()
	if err != nil {
		h.t.Fatal(err)
	}
	var found []float64
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			has := map[string]string{}
			for _, l := range m.GetLabel() {
				has[l.GetName()] = l.GetValue()
			}
			same := true
			for i := 0; i+1 < len(labels); i += 2 {
				same = same && has[labels[i]] == labels[i+1]
			}
			if same {
				found = append(found, m.GetCounter().GetValue()+m.GetGauge().GetValue()+float64(m.GetHistogram().GetSampleCount()))
			}
		}
	}
	if len(found) != 1 {
		h.t.Fatalf("%s %v has %d series, want one", name, labels, len(found))
	}
	return found[0]
}
