package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestModelsOfAPool: what several upstreams serve is there once, and what is served under another name is not there under that.
func TestModelsOfAPool(t *testing.T) {
	spec := proxy.Spec{
		Keys:      []proxy.KeySpec{{Name: "alice"}},
		Upstreams: []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}},
		Models: []proxy.ModelSpec{
			{Pattern: "gpt-*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two"}}},
			{Pattern: "fast", Pool: []proxy.PoolSpec{{Upstream: "one", As: "gpt-4o-mini"}, {Upstream: "two", As: "llama"}}},
		},
	}
	h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
		list := `{"object":"list","data":[{"id":"gpt-4o","object":"model"},{"id":"gpt-4.1","object":"model"}]}`
		if r.Header.Get("Authorization") == "Bearer sk-key-two" {
			list = `{"object":"list","data":[{"id":"gpt-4o","object":"model"},{"id":"gpt-5","object":"model"},{"id":"llama","object":"model"}]}`
		}
		answerWith(200, list)(w, r)
	})
	if got, want := ids(t, h.get("/v1/models")), []string{"gpt-4o", "gpt-4.1", "gpt-5", "fast"}; !slices.Equal(got, want) {
		t.Errorf("the models are %v, want %v", got, want)
	}
}

// TestWhatIsStoredIsAskedForWhereItIs: a call that goes on with a stored response goes to the upstream that has it, whoever is first.
func TestWhatIsStoredIsAskedForWhereItIs(t *testing.T) {
	var spec proxy.Spec
	v := freshVault(t, func(s *proxy.Spec) {
		s.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
		s.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "two"}}
	})
	id := v.must(secret, "POST", "/v1/responses", remember)
	spec = v.spec
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(spec, v.limiter, catalog)
	if err != nil {
		t.Fatal(err)
	}
	v.server.SetPolicy(policy)
	v.must(secret, "POST", "/v1/responses", remember)
	v.must(secret, "POST", "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o-mini","input":"And then?","max_output_tokens":50,"previous_response_id":%q}`, id))
	var at []string
	for len(v.asked) > 0 {
		at = append(at, (<-v.asked).Header.Get("Authorization"))
	}
	if want := []string{"Bearer sk-key-two", "Bearer sk-key-one", "Bearer sk-key-two"}; !slices.Equal(at, want) {
		t.Errorf("the calls went to %v, want %v", at, want)
	}
}

// TestHeadersForAnUpstream: those that are set, and of the caller's those that are named; never its key.
func TestHeadersForAnUpstream(t *testing.T) {
	spec := alice(t)
	spec.Upstreams = []proxy.UpstreamSpec{{
		Name: "up", Key: "sk-upstream-secret", Forward: []string{"x-team-trace", "user-agent"},
		Set: map[string]string{"OpenAI-Project": "proj_ours", "X-Team-Trace": "always"},
	}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	h.chat(hi, "X-Team-Trace", "mine", "X-Other", "no", "OpenAI-Project", "proj_theirs", "User-Agent", "agent/1", "Cookie", "c=1", "Traceparent", "00-1-2-3")
	got := (<-h.asked).Header
	want := http.Header{
		"Authorization": {"Bearer sk-upstream-secret"}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
		"Content-Length": {fmt.Sprint(len(hi))}, "User-Agent": {"agent/1"}, "Openai-Project": {"proj_ours"}, "X-Team-Trace": {"always"}, "Traceparent": {"00-1-2-3"},
	}
	if len(got) != len(want) {
		t.Errorf("the upstream got %v", got)
	}
	for name, v := range want {
		if !slices.Equal(got[name], v) {
			t.Errorf("%s is %q, want %q", name, got[name], v)
		}
	}
}

// TestWhatConnectionNamesStaysHere: it is meant for the connection between the caller and this proxy (RFC 9110, section 7.6.1).
func TestWhatConnectionNamesStaysHere(t *testing.T) {
	spec := alice(t)
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Forward: []string{"X-Team-Trace", "X-Other"}, Set: map[string]string{"X-Set": "ours"}}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for connection, named := range map[string]string{
		"keep-alive": "", "X-Team-Trace": "X-Team-Trace", "keep-alive, x-team-trace": "X-Team-Trace", "x-other\t ,keep-alive": "X-Other",
		"x-team": "", "Traceparent": "Traceparent", "X-Set": "", "Authorization": "",
	} {
		h.chat(hi, "Connection", connection, "X-Team-Trace", "mine", "X-Other", "too", "Traceparent", "00-1-2-3")
		got := (<-h.asked).Header
		for _, name := range []string{"X-Team-Trace", "X-Other", "Traceparent", "X-Set", "Authorization"} {
			if travels := got.Get(name) != ""; travels != (name != named) {
				t.Errorf("Connection: %s: %s travels: %v", connection, name, travels)
			}
		}
		if got.Get("Connection") != "" {
			t.Errorf("Connection: %s went upstream", got.Get("Connection"))
		}
	}
}

// TestMistakesOfPools: each is named.
func TestMistakesOfPools(t *testing.T) {
	two := []proxy.UpstreamSpec{{Name: "one", URL: "http://one/v1"}, {Name: "two", URL: "http://two/v1"}}
	headers := func(forward string, set map[string]string) []proxy.UpstreamSpec {
		return []proxy.UpstreamSpec{{Name: "one", URL: "http://one/v1", Forward: []string{forward}, Set: set}}
	}
	for says, spec := range map[string]proxy.Spec{
		`model m: there is no upstream "three"`:      {Upstreams: two, Models: []proxy.ModelSpec{{Pattern: "m", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "three"}}}}},
		`model m: upstream "one" is named twice`:     {Upstreams: two, Models: []proxy.ModelSpec{{Pattern: "m", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "one", Weight: 2}}}}},
		`headers: forward: Cookie of a caller`:       {Upstreams: headers("cookie", nil)},
		`headers: forward: Authorization is written`: {Upstreams: headers("authorization", nil)},
		`headers: set: Host is written`:              {Upstreams: headers("X-A", map[string]string{"host": "a"})},
		`headers: set: Idempotency-Key would be`:     {Upstreams: headers("X-A", map[string]string{"idempotency-key": "a"})},
		`headers: set: X-Idempotency-Key would be`:   {Upstreams: headers("X-A", map[string]string{"x-idempotency-key": "a"})},
		`headers: forward: Idempotency-Key of a`:     {Upstreams: headers("idempotency-key", nil)},
		`headers: forward: X-Idempotency-Key of a`:   {Upstreams: headers("x-idempotency-key", nil)},
		`"X A" is not the name of a header`:          {Upstreams: headers("X A", nil)},
		`headers: set: X-B: the value of a header`:   {Upstreams: headers("X-A", map[string]string{"X-B": "a\r\nHost: b"})},
	} {
		if _, err := proxy.NewPolicy(spec, limiter.NewMemory(), &cost.Catalog{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}
