package proxy_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestOutputOfAKey: strict gives a stream a limit; fit lowers a caller's.
func TestOutputOfAKey(t *testing.T) {
	for _, c := range []struct {
		name, limit, body string
		output            proxy.Output
		status            int
		sent, announced   any
	}{
		{"strict", "10000 tokens in total", unlimited, proxy.StrictOutput, 200, 4096.0, "4096"},
		{"draw", "10000 tokens in total", unlimited, proxy.DrawOutput, 200, nil, ""},
		{"fit draws", "10000 tokens in total", unlimited, proxy.FitOutput, 200, nil, ""},
		{"draw refuses", "2000 tokens in total", limitedTo(5000, 1), proxy.DrawOutput, 400, nil, ""},
		{"fit lowers", "2000 tokens in total", limitedTo(5000, 1), proxy.FitOutput, 200, 1992.0, "1992"},
		{"fit leaves alone", "20000 tokens in total", limitedTo(5000, 1), proxy.FitOutput, 200, 5000.0, ""},
		{"fit lowers each choice", "8008 tokens in total", limitedTo(5000, 4), proxy.FitOutput, 200, 2000.0, "2000"},
		{"not below a thousand", "1000 tokens in total", limitedTo(5000, 1), proxy.FitOutput, 400, nil, ""},
		{"not at all below that", "1000 tokens in total", limitedTo(1000, 1), proxy.FitOutput, 400, nil, ""},
		{"to one call's", "3000 output tokens per request", limitedTo(5000, 1), proxy.FitOutput, 200, 3000.0, "3000"},
		{"dollars", "$0.0012012 in total", limitedTo(5000, 1), proxy.FitOutput, 200, 2000.0, "2000"},
		{"no budget minds", "5 requests in total", limitedTo(5000, 1), proxy.FitOutput, 200, 5000.0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := alice(t, c.limit)
			spec.Keys[0].Output = c.output
			h := newHouse(t, spec, chunks("one two three", usage(8, 3, 11), false))
			got := h.chat(c.body)
			if got.status != c.status || got.header.Get("x-tokenfare-output-limit") != c.announced && c.status == 200 {
				t.Fatalf("%d, announced %q: %s", got.status, got.header.Get("x-tokenfare-output-limit"), got.body)
			}
			if c.status == 200 {
				if v := h.sent()["max_completion_tokens"]; v != c.sent {
					t.Errorf("the upstream was asked for %v, want %v", v, c.sent)
				}
			}
		})
	}
}

func limitedTo(n, choices int) string {
	return fmt.Sprintf(`{"model":"gpt-4o-mini","stream":true,"n":%d,"max_completion_tokens":%d,"messages":[{"role":"user","content":"Hi"}]}`, choices, n)
}

// TestFitTakesWhatIsLeftNow, and what others hold is not.
func TestFitTakesWhatIsLeftNow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "10000 tokens in total")
		spec.Keys[0].Output = proxy.FitOutput
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: "up", OutputMember: "max_tokens"}}
		v := newVirtual(t, spec, after(time.Minute, chunks("one", usage(8, 1, 9), false)))
		var calls sync.WaitGroup
		statuses := make([]int, 4)
		for i := range statuses {
			calls.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				statuses[i] = v.chat(limitedTo(4000, 1)).status
			})
		}
		calls.Wait()
		asked := v.sent()
		if diff := cmp.Diff([]int{200, 200, 200, 429}, statuses); diff != "" || len(asked) != 3 {
			t.Fatalf("%d calls (-want +got):\n%s", len(asked), diff)
		}
		last := sentBody(t, asked[2])
		if last["max_tokens"] != 10000.0-2*4008-8 || last["max_completion_tokens"] != nil {
			t.Errorf("the last one was sent %v", last)
		}
	})
}
