package proxy_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// ofBudget wants the metrics of alice's budget of that sentence.
func (h *house) ofBudget(sentence string, want map[string]float64) {
	h.t.Helper()
	for name, value := range want {
		if got := h.metric("rate_limit_"+name, "key", "alice", "budget", sentence); got != value {
			h.t.Errorf("%s of %q: %v, want %v", name, sentence, got, value)
		}
	}
}

func TestWhatBudgetsHeldAndWereCharged(t *testing.T) {
	h := newHouse(t, alice(t, "100 tokens per hour", "9 requests in any minute", "5 at once", "1000 tokens in total, observe only"), answerWith(200, plainAnswer(8, 3)))
	h.chat(hi)
	h.ofBudget("100 tokens per hour", map[string]float64{"reserved_total": 58, "settled_total": 11, "refunded_total": 47, "overrun_total": 0, "tokens": 89, "debt": 0})
	h.ofBudget("9 requests in any minute", map[string]float64{"reserved_total": 1, "settled_total": 1, "refunded_total": 0, "tokens": 8})
	h.ofBudget("5 at once", map[string]float64{"reserved_total": 1, "settled_total": 1, "refunded_total": 0, "tokens": 5, "debt": 0})
	h.ofBudget("1000 tokens in total, observe only", map[string]float64{"reserved_total": 0, "settled_total": 11, "tokens": 989})

	h = newHouse(t, alice(t, "100 tokens per hour"), answerWith(200, plainAnswer(8, 300)))
	h.chat(hi)
	h.chat(hi) // refused
	h.ofBudget("100 tokens per hour", map[string]float64{"reserved_total": 58, "settled_total": 308, "refunded_total": 0, "overrun_total": 250, "tokens": 0, "debt": 208})
	h = newHouse(t, alice(t, "100 tokens per hour"), answerWith(500, `{"error":{"message":"no"}}`))
	h.chat(hi)
	h.ofBudget("100 tokens per hour", map[string]float64{"reserved_total": 58, "settled_total": 0, "refunded_total": 58, "tokens": 100})
}

// TestACallIsOneDecision, however many output bounds were tried for it.
func TestACallIsOneDecision(t *testing.T) {
	h := newHouse(t, alice(t, "40008 tokens in total"), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) {
		o.Limiter = &thief{Memory: o.Limiter.(*limiter.Memory), takes: 32000}
	})
	h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`)
	for result, want := range map[string]float64{"allowed": 1, "refused": 0, "never": 0} {
		if got := h.metric("rate_limit_acquire_total", "result", result); got != want {
			t.Errorf("%v %s, want %v", got, result, want)
		}
	}
	if n := h.metric("rate_limit_decisions_total", "source", "local"); n != 1 {
		t.Errorf("%v decisions, want 1", n)
	}
}
