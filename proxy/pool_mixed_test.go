package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// mixedSpec is alice with a provider, of priority 1 or 2, and a server of the operator's own, of the other.
func mixedSpec(t *testing.T, provider, own proxy.PoolSpec, sentences ...string) proxy.Spec {
	t.Helper()
	spec := alice(t, sentences...)
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "provider", Key: "sk-key-one"}, {Name: "own", Key: "sk-key-two"}}
	provider.Upstream, own.Upstream, own.Priority = "provider", "own", 3-provider.Priority
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{provider, own}}}
	return spec
}

// TestEachUpstreamIsSentItsOwnLimit: by the member it knows and by no other, also where another was asked before, whoever has set it.
func TestEachUpstreamIsSentItsOwnLimit(t *testing.T) {
	const plain = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]`
	members := []string{"max_completion_tokens", "max_tokens"}
	type limit map[string]any // what is sent of the two members
	for _, c := range []struct {
		name, body      string
		provider        string // its output_member
		first           int    // priority of the provider
		toProvider, own limit
	}{
		{"none", plain + `}`, "", 1, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
		{"none, null", plain + `,"max_tokens":null}`, "", 1, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
		{"none, the other null", plain + `,"max_completion_tokens":null}`, "", 1, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
		{"none, its own server first", plain + `}`, "", 2, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
		{"the new name", plain + `,"max_completion_tokens":77}`, "", 1, limit{members[0]: 77.0}, limit{members[1]: 77.0}},
		{"the new name, its own server first", plain + `,"max_completion_tokens":77}`, "", 2, limit{members[0]: 77.0}, limit{members[1]: 77.0}},
		{"the old name", plain + `,"max_tokens":77}`, "", 1, limit{members[1]: 77.0}, limit{members[1]: 77.0}},
		{"the old name, renamed each way", plain + `,"max_tokens":77}`, members[0], 1, limit{members[0]: 77.0}, limit{members[1]: 77.0}},
		{"the new name and a null, renamed each way", plain + `,"max_tokens":null,"max_completion_tokens":77}`, members[0], 2, limit{members[0]: 77.0}, limit{members[1]: 77.0}},
		{"a strict stream", plain + `,"stream":true}`, members[0], 1, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
		{"a strict stream, its own server first", plain + `,"stream":true}`, members[0], 2, limit{members[0]: 4096.0}, limit{members[1]: 500.0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := mixedSpec(t, proxy.PoolSpec{OutputMember: c.provider, Priority: c.first}, proxy.PoolSpec{As: "llama3", OutputMember: members[1], MaxOutput: 500, Context: 4000}, "8k tokens in total")
			spec.Keys[0].Output = proxy.StrictOutput
			asked := 0
			h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked == 1 {
					answerWith(503, errorBody("overloaded"))(w, r)
					return
				}
				answerWith(200, plainAnswer(8, 3))(w, r)
			})
			if got := h.chat(c.body); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			sent := map[bool]limit{}
			for range 2 {
				r := <-h.asked
				one, body := r.Header.Get("Authorization") == "Bearer sk-key-one", sentBody(t, r)
				sent[one] = limit{}
				for _, m := range members {
					if body[m] != nil {
						sent[one][m] = body[m]
					}
				}
			}
			if got, want := fmt.Sprint(sent[true], sent[false]), fmt.Sprint(c.toProvider, c.own); got != want {
				t.Errorf("the provider and the server were sent %s, want %s", got, want)
			}
		})
	}
}

// TestACallGoesWhereItsContextFits: an upstream whose model cannot hold it is left out, unless none can; where it would be the last to
// be tried, the answer of those before it is told.
func TestACallGoesWhereItsContextFits(t *testing.T) {
	long, huge := strings.Repeat("hello ", 3000), strings.Repeat("hello ", 30_000)
	body := func(text string, limit int) string {
		return fmt.Sprintf(`{"model":"gpt-4o-mini","max_tokens":%d,"messages":[{"role":"user","content":"%s"}]}`, limit, text)
	}
	for _, c := range []struct {
		name, body    string
		provider, own int64 // contexts
		first         int
		providerIs    int // its status
		status        int
		want          []string
	}{
		{"short, its own server first", body("Hi", 50), 128_000, 2000, 2, 200, 200, []string{"own"}},
		{"long, its own server first", body(long, 50), 128_000, 2000, 2, 200, 200, []string{"provider"}},
		{"long, of unknown size elsewhere", body(long, 50), 0, 2000, 2, 200, 200, []string{"provider"}},
		{"much output, its own server first", body("Hi", 2000), 128_000, 2000, 2, 200, 200, []string{"provider"}},
		{"long, and the only one that can hold it fails", body(long, 50), 128_000, 2000, 1, 503, 503, []string{"provider"}},
		{"short, and the provider fails", body("Hi", 50), 128_000, 2000, 1, 503, 200, []string{"provider", "own"}},
		{"too long for all", body(huge, 50), 9000, 2000, 2, 200, 200, []string{"own"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := mixedSpec(t, proxy.PoolSpec{Context: c.provider, Priority: c.first, As: "big"}, proxy.PoolSpec{Context: c.own, As: "small", OutputMember: "max_tokens"}, "1m tokens in total")
			h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
				if isOne(r) {
					answerWith(c.providerIs, map[bool]string{true: plainAnswer(8, 3), false: errorBody("down")}[c.providerIs == 200])(w, r)
					return
				}
				answerWith(200, plainAnswer(8, 3))(w, r)
			})
			if got := h.chat(c.body); got.status != c.status {
				t.Errorf("%d %s", got.status, got.body)
			}
			var asked []string
			for len(h.asked) > 0 {
				asked = append(asked, map[bool]string{true: "provider", false: "own"}[isOne(<-h.asked)])
			}
			if !slices.Equal(asked, c.want) {
				t.Errorf("asked were %v, want %v", asked, c.want)
			}
			if n := h.limiter.OpenCount(); n != 0 {
				t.Errorf("%d reservations are open", n)
			}
		})
	}
}
