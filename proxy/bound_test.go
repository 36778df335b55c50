package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// sent reads the next request the upstream got.
func (h *house) sent() map[string]any {
	h.t.Helper()
	body, _ := io.ReadAll((<-h.asked).Body)
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		h.t.Fatalf("the upstream got %q: %v", body, err)
	}
	return out
}

// TestAnOutputLimitIsInsertedAsReserved: what goes upstream as the limit is never more than what is reserved.
func TestAnOutputLimitIsInsertedAsReserved(t *testing.T) {
	for _, c := range []struct {
		name, limit, body string
		model             proxy.ModelSpec
		inserted          float64
		reserved          string
	}{
		{"the default", "10000 tokens in total", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 4096, "4104"},
		{"a quarter of what is left", "40008 tokens in total", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 10000, "10008"},
		{"the model's most", "4000000 tokens in total", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 16384, "16392"},
		{"what fits the smallest budget", "1000 tokens in total", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 992, "1000"},
		{"what fits one call", "100 output tokens per request", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 100, "108"},
		{"for each choice", "1008 tokens in total", `{"model":"gpt-4o-mini","n":4,"messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 250, "1008"},
		{"streamed, for what one call may have", "100 output tokens per request", `{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 100, "108"},
		{"a reasoning model", "20000 tokens in total", `{"model":"o4-mini","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 16384, "16392"},
		{"the operator's default", "10000 tokens in total", `{"model":"house","messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{DefaultOutput: 512}, 512, "520"},
		{"null is absent", "10000 tokens in total", `{"model":"gpt-4o-mini","max_tokens":null,"messages":[{"role":"user","content":"Hi"}]}`, proxy.ModelSpec{}, 4096, "4104"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := alice(t, c.limit)
			c.model.Pattern, c.model.Upstream = "*", "up"
			spec.Models = []proxy.ModelSpec{c.model}
			h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
			got := h.chat(c.body)
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if v := h.sent()["max_completion_tokens"]; v != c.inserted {
				t.Errorf("the upstream was asked for %v, want %v", v, c.inserted)
			}
			if v := got.header.Get("x-tokenfare-reserved"); v != c.reserved {
				t.Errorf("reserved %s, want %s", v, c.reserved)
			}
			if v := got.header.Get("x-tokenfare-output-limit"); v != fmt.Sprint(c.inserted) {
				t.Errorf("x-tokenfare-output-limit %q", v)
			}
		})
	}
}

func TestOutputMember(t *testing.T) {
	spec := alice(t, "10000 tokens in total")
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", OutputMember: "max_tokens"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`)
	if v := h.sent(); v["max_tokens"] != 4096.0 || v["max_completion_tokens"] != nil {
		t.Errorf("the upstream got %v", v)
	}
}

// TestNeverOver: whatever is asked at once, the upstream is never asked for more than the budget.
func TestNeverOver(t *testing.T) {
	for _, sentence := range []string{"5800 tokens in total", "5800 tokens each month", "5800 tokens in any day", "5800 tokens per hour", "$0.003120 each day", "100 requests in total"} {
		for _, body := range []string{hi, `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`} {
			h := newHouse(t, alice(t, sentence), answerWith(200, plainAnswer(8, 50)))
			var passed, other atomic.Int64
			var callers sync.WaitGroup
			for range 64 {
				callers.Go(func() {
					for range 6 {
						switch h.chat(body).status {
						case 200:
							passed.Add(1)
						case 429:
						default:
							other.Add(1)
						}
					}
				})
			}
			callers.Wait()
			close(h.asked)
			var tokens, calls int64
			for r := range h.asked {
				var b map[string]any
				json.NewDecoder(r.Body).Decode(&b)
				limit, _ := b["max_tokens"].(float64)
				if limit == 0 {
					limit, _ = b["max_completion_tokens"].(float64)
				}
				// 50 of them are used at most; what is asked for and not used comes back.
				tokens += 8 + min(int64(limit), 50)
				calls++
			}
			if other.Load() > 0 || calls != passed.Load() {
				t.Errorf("%s: %d calls passed, the upstream got %d, %d ended otherwise", sentence, passed.Load(), calls, other.Load())
			}
			if calls > 100 || tokens > 5800 {
				t.Errorf("%s: the upstream did %d calls and %d tokens on a budget of 100 calls", sentence, calls, tokens)
			}
		}
	}
}

// TestTheCallersLimitIsKnownToTheUpstream: a limit under a name that the upstream does not know would be none.
func TestTheCallersLimitIsKnownToTheUpstream(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", OutputMember: "max_tokens"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	h.chat(`{"model":"gpt-4o-mini","max_completion_tokens":5,"messages":[{"role":"user","content":"Hi"}]}`)
	if v := h.sent(); v["max_tokens"] != 5.0 || v["max_completion_tokens"] != nil {
		t.Errorf("the upstream got %v", v)
	}
}
