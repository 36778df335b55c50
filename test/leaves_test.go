package test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// leaving is one moment at which a client leaves.
type leaving struct {
	name    string
	model   string
	stream  bool
	events  int // read before leaving
	answer  fakeopenai.Answer
	charged func(costs) int64
}

// The client's leaving cancels the upstream call at once, wherever the exchange is.
func TestClientLeaves(t *testing.T) {
	for _, c := range []leaving{
		{"before headers", model, true, 0, fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, wholeReservation},
		{"before headers, plain", model, false, 0, fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, wholeReservation},
		{"mid-stream", model, true, 11, fakeopenai.Answer{Text: words(40), Pause: fakeopenai.Forever(), PauseAt: 11}, promptAnd(10)},
		{"mid-stream, reasoning", "gpt-5-mini", true, 11, fakeopenai.Answer{Text: words(40), Pause: fakeopenai.Forever(), PauseAt: 11}, wholeReservation},
	} {
		for _, over := range fakeopenai.Ways {
			t.Run(c.name+", "+string(over), func(t *testing.T) {
				t.Parallel()
				c.leave(t, over)
			})
		}
	}
}

func (c leaving) leave(t *testing.T, over fakeopenai.Over) {
	up := fakeopenai.NewOver(t, over)
	up.Always(c.model, c.answer)
	p := harness.Start(t, harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Limits: []string{fmt.Sprintf("%d tokens in total", total)}})

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body := askModel(c.model, fmt.Sprintf(`"stream": %v, "max_completion_tokens": %d`, c.stream, output))
	request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, body).WithContext(ctx)
	left := make(chan time.Time, 1)
	go func() {
		resp, err := p.HTTP.Do(request)
		if err == nil {
			defer resp.Body.Close()
			readEvents(t, resp.Body, c.events)
		} else if c.events > 0 {
			t.Error(err)
		}
		if c.events > 0 {
			left <- time.Now()
			leave()
		}
	}()
	call := up.Await(t, 1)
	<-call.Paused()
	if c.events == 0 {
		left <- time.Now()
		leave()
	}
	call.WantCancelled(t, <-left, promptly())
	p.WantIdle(t)
	charged := total - p.Remaining(t, "alice")
	if want := c.charged(costs{call.Prompt, call.Prompt + output}); charged != want {
		t.Errorf("charged %d, want %d", charged, want)
	}
}
