package test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// An extra comes and goes with the file: what was consumed stays, and the limit's series is one and the same.
func TestExtraByReload(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	config := harness.Config{Upstream: up.URL, Limits: []string{"130 tokens each month", "9 requests in total"}}
	p := harness.StartYAML(t, config.YAML())
	left := func() int64 {
		n, found := p.Metrics(t).Sum("rate_limit_tokens", "key", "alice", "budget", "130 tokens each month")
		if !found {
			t.Fatal("the budget has no series")
		}
		return int64(n)
	}
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	used := 130 - left()
	if used < 100 {
		t.Fatalf("used %d tokens", used)
	}
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantError(t, http.StatusTooManyRequests)

	config.AliceExtra = `extra: ["+150 tokens until 2199-01-01"]`
	p.Rewrite(t, config.YAML())
	harness.Eventually(t, "the limit is raised", func() bool { return left() == 280-used })
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	refused := p.Chat(t, harness.Alice, ask(`"max_tokens": 100`))
	if e := refused.WantError(t, http.StatusTooManyRequests); !strings.Contains(e.Message, `"130 tokens each month" raised by 150 tokens until 2199-01-01`) {
		t.Errorf("the refusal does not say what raises the limit: %s", e.Message)
	}

	config.AliceExtra = `extra: ["+150 tokens until 2020-01-01"]`
	p.Rewrite(t, config.YAML())
	p.AwaitLog(t, "the extra is over", func(l harness.Line) bool {
		return l.String("warning") == `key alice: extra "+150 tokens until 2020-01-01" no longer holds: it ended on 2020-01-01`
	})
	harness.Eventually(t, "the limit is as it was", func() bool { return left() == 0 })
	if e := p.Chat(t, harness.Alice, ask(`"max_tokens": 1`)).WantError(t, http.StatusTooManyRequests); strings.Contains(e.Message, "raised") {
		t.Errorf("the refusal speaks of what is over: %s", e.Message)
	}

	config.AliceExtra = `extra: ["+$5 until 2199-01-01"]`
	p.Rewrite(t, config.YAML())
	p.AwaitLog(t, "an extra of no limit is refused", func(l harness.Line) bool {
		return l.String("level") == "ERROR" && strings.Contains(l.String("error"), "there is no limit of dollars")
	})
}
