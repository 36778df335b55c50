package proxy_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// panicky is a limiter that panics on the Peek that follows a reservation.
type panicky struct {
	*limiter.Memory
	armed bool
}

func (p *panicky) Peek(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	if p.armed && p.OpenCount() > 0 {
		panic("secret text of a prompt")
	}
	return p.Memory.Peek(ctx, charges)
}

func TestAPanicSettlesAndTheOthersGoOn(t *testing.T) {
	var log bytes.Buffer
	var broken *panicky
	h := newHouse(t, alice(t, "1000 tokens in total", "10 requests in total, observe only"), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) {
		broken = &panicky{Memory: o.Limiter.(*limiter.Memory), armed: true}
		o.Limiter, o.Log = broken, slog.New(slog.NewJSONHandler(&log, nil))
	})
	got := h.chat(hi)
	if _, kind, _, code := got.errorOf(t); got.status != http.StatusInternalServerError || kind != "server_error" || code != "internal_error" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if h.limiter.OpenCount() != 0 || h.used("1000 tokens in total") != 0 {
		t.Errorf("%d open, %d charged for a call that was never sent", h.limiter.OpenCount(), h.used("1000 tokens in total"))
	}
	if !strings.Contains(log.String(), `"msg":"panic"`) || strings.Contains(log.String(), "secret text") {
		t.Errorf("the log says %s", log.String())
	}
	if n := h.metric("tokenfare_panics_total"); n != 1 {
		t.Errorf("tokenfare_panics_total is %v, want 1", n)
	}
	broken.armed = false
	if got := h.chat(hi); got.status != 200 {
		t.Errorf("the next call: %d %s", got.status, got.body)
	}
	if n := h.metric("tokenfare_panics_total"); n != 1 {
		t.Errorf("tokenfare_panics_total is %v after a call that did not panic, want 1", n)
	}
}
