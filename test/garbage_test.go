package test

import (
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestGarbageGathers: a program that keeps little collects seldom, unless it is told how often.
func TestGarbageGathers(t *testing.T) {
	percent := func(p *harness.Program) float64 {
		n, _ := p.Metrics(t).Sum("go_gc_gogc_percent")
		return n
	}
	config := harness.Config{Upstream: fakeopenai.New(t).URL}.YAML()
	long := ask(`"metadata": {"a": "` + strings.Repeat("x", 1<<19) + `"}`)
	p := harness.StartPlain(t, config)
	harness.Eventually(t, "garbage gathers", func() bool {
		p.Chat(t, harness.Alice, long)
		return percent(p) > 100
	})
	p = harness.StartPlain(t, config, "GOGC=50")
	for range 50 {
		p.Chat(t, harness.Alice, long)
	}
	if got := percent(p); got != 50 {
		t.Errorf("GOGC=50: %v %%", got)
	}
}
