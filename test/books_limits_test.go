package test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// The books balance, too, while a stream uses more than the limits of its upstream hold, afterwards, and when the program has begun anew.
func TestTheBooksBalanceBeyondAnUpstreamsLimits(t *testing.T) {
	t.Parallel()
	const said = 12_000
	up := fakeopenai.New(t)
	dir := t.TempDir()
	yaml := harness.Config{
		Upstream: up.URL, Limits: []string{"1m tokens in total"},
		UpstreamExtra: `limits: ["5000 tokens in total", "5000 output tokens each month", "6000 tokens in any hour"]`,
	}.YAML()
	p := serveIn(t, dir, yaml)
	release := make(chan struct{})
	up.Next(model, fakeopenai.Answer{Text: words(said), Report: fakeopenai.Absent, Pause: release, PauseAt: 9000})
	running := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`))
	readEvents(t, running.Body, 8900)
	busy := verify(t, dir, "-admin", p.Admin)
	if slices.Contains(busy.states(), "differs") || busy.Open.Exchanges != 1 {
		t.Errorf("while the stream runs: %+v", busy)
	}
	close(release)
	harness.Read(running)
	p.WantIdle(t)
	total := said + up.Last(t).Prompt
	want := map[string]int64{
		"key alice: tokens in total": total, "upstream fake: tokens in total": total, "upstream fake: output tokens each month": said,
		"upstream fake: tokens in any hour": total,
	}
	wantUsed(t, p, want)
	harness.Eventually(t, "the end is in the ledger", func() bool { return verify(t, dir, "-admin", p.Admin).Open.Exchanges == 0 })
	if b := verify(t, dir, "-admin", p.Admin); !slices.Equal(b.states(), []string{"equal"}) {
		t.Errorf("budgets are %+v", b.Live)
	}
	p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)).WantError(t, http.StatusTooManyRequests)

	p.Stop(t)
	again := serveIn(t, dir, yaml)
	wantUsed(t, again, want)
	if b := verify(t, dir, "-admin", again.Admin); !slices.Equal(b.states(), []string{"equal"}) {
		t.Errorf("after a restart budgets are %+v", b.Live)
	}
}
