package proxy_test

import (
	"context"
	"testing"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestUnits settles one call of 100 prompt tokens, 60 of them cached, and 20 of output, 15 of them reasoning, on every unit.
func TestUnits(t *testing.T) {
	const body = `{"id":"c","choices":[{"index":0,"message":{"content":"Hello"}}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,` +
		`"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":15}}}`
	for sentence, want := range map[string]int64{
		"5000 tokens in total":                 120,
		"5000 input tokens in total":           100,
		"5000 uncached input tokens in total":  40,
		"5000 output tokens in total":          20,
		"5000 requests in total":               1,
		"$5 in total":                          40*150 + 60*75 + 20*600, // nano-dollars, by gpt-4o-mini's $0.15, $0.075 and $0.60 a million
		"5000 tokens in total on gpt-4o*":      120,
		"5000 tokens in total on gpt-5*":       0,
		"5000 tokens in total, observe only":   120,
		"5000 tokens in total, until 2020-1-1": 0,
	} {
		if sentence == "5000 tokens in total, until 2020-1-1" {
			sentence = "5000 tokens in total, until 2020-01-01"
		}
		h := newHouse(t, alice(t, sentence), answerWith(200, body))
		if got := h.chat(hi); got.status != 200 {
			t.Fatalf("%s: %d %s", sentence, got.status, got.body)
		}
		if used := h.used(sentence); used != want {
			t.Errorf("%s: used %d, want %d", sentence, used, want)
		}
	}
}

func TestUpstreamLimitsAreSharedByAll(t *testing.T) {
	spec := alice(t)
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Limits: limits(t, "60 tokens in total")}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	if s := h.state("upstream up", "60 tokens in total"); s.Used != 58 {
		t.Errorf("used %d of the upstream's budget, want 58", s.Used)
	}
	if got := h.chat(hi); got.status != 429 {
		t.Errorf("second call: %d", got.status)
	}
}

// TestTheDefaultIsTriedWhereTheGenerousBoundDoesNotFit: what a quarter of one budget suggests need not fit what another holds.
func TestTheDefaultIsTriedWhereTheGenerousBoundDoesNotFit(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "40000 tokens in total"), blockUntil(release, 8, 3))
	const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`
	running := make(chan answer, 16)
	bounds := map[float64]int{}
	for range 8 {
		go func() { running <- h.chat(body) }()
		select {
		case r := <-h.asked:
			h.asked <- r
			bounds[h.sent()["max_completion_tokens"].(float64)]++
		case a := <-running:
			if a.status != 429 {
				t.Errorf("%d %s", a.status, a.body)
			}
			running <- a
		}
	}
	if bounds[4096] < 2 || len(bounds) < 3 {
		t.Errorf("bounds %v; want generous ones first, then the default", bounds)
	}
	close(release)
	for range 8 {
		<-running
	}
}

// thief is a limiter whose budgets are spent by somebody else between a look and the reservation.
type thief struct {
	*limiter.Memory
	takes int64
}

func (l *thief) Peek(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	d, err := l.Memory.Peek(ctx, charges)
	if err == nil && l.takes > 0 && len(charges) > 0 {
		err = l.Memory.Inc(ctx, []limiter.Charge{{Budget: charges[0].Budget, N: l.takes}})
		l.takes = 0
	}
	return d, err
}

func TestAStaleLookCostsASecondTryOnly(t *testing.T) {
	h := newHouse(t, alice(t, "40008 tokens in total"), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) {
		o.Limiter = &thief{Memory: o.Limiter.(*limiter.Memory), takes: 32000}
	})
	if got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if v := h.sent()["max_completion_tokens"]; v != 4096.0 {
		t.Errorf("the upstream was asked for %v, want the default", v)
	}
}
