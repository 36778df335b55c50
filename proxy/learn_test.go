package proxy_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// What a call without an output limit is given, before and after enough answers have been seen.
func TestLearnedOutput(t *testing.T) {
	for _, c := range []struct {
		name    string
		learn   bool
		answers int
		length  int // of each, in tokens
		limit   string
		limits  []string
		want    float64
	}{
		{"not wanted", false, 60, 400, "", []string{"1m tokens in total"}, 4096},
		{"not yet", true, 49, 400, "", []string{"1m tokens in total"}, 4096},
		{"learned", true, 60, 400, "", []string{"1m tokens in total"}, 447}, // 384 to 447 is one bucket
		{"never more than fits", true, 60, 400, "", []string{"1m tokens in total", "60 tokens per request"}, 52},
		{"not from what callers limit", true, 60, 400, `,"max_completion_tokens":400`, []string{"1m tokens in total"}, 4096},
		{"nobody is left with next to nothing", true, 60, 1, "", []string{"1m tokens in total"}, 256},
		{"what was cut would have been longer", true, 60, 4096, "", []string{"1m tokens in total"}, 10239}, // 8,192 to 10,239
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := alice(t, c.limits...)
			// A model of which no maximum is known is not given a generous bound.
			spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", LearnOutput: c.learn}}
			h := newHouse(t, spec, answerWith(200, plainAnswer(8, c.length)))
			ask := func(more string) any {
				t.Helper()
				if got := h.chat(`{"model":"house-llm","messages":[{"role":"user","content":"Hi"}]` + more + `}`); got.status != 200 {
					t.Fatal(got.status, got.body)
				}
				return h.sent()["max_completion_tokens"]
			}
			for range c.answers {
				ask(c.limit)
			}
			if got := ask(""); got != c.want {
				t.Errorf("given %v, want %v", got, c.want)
			}
			if n := h.metric("tokenfare_estimate_error_ratio"); n != float64(c.answers+1) {
				t.Errorf("%v calls in the histogram, want %d", n, c.answers+1)
			}
		})
	}
}
