package proxy_test

import (
	"strconv"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// TestFitLooksForRoomElsewhereFirst: what one upstream has left lowers a caller's limit only where there is no other to be asked.
func TestFitLooksForRoomElsewhereFirst(t *testing.T) {
	for _, c := range []struct {
		name, one, two string
		sent           float64
		from           string
	}{
		{"the second has room", "5k tokens in total", "", 8000, "two"},
		{"the first has room", "50k tokens in total", "5k tokens in total", 8000, "one"},
		{"nobody has", "5k tokens in total", "3k tokens in total", 2992, "two"},
		{"in single calls nobody has", "5k output tokens per request", "3k output tokens per request", 3000, "two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := pairSpec(t, "1m tokens in total")
			spec.Keys[0].Output = proxy.FitOutput
			spec.Upstreams[0].Limits = limits(t, c.one)
			if c.two != "" {
				spec.Upstreams[1].Limits = limits(t, c.two)
			}
			h := newHouse(t, spec, chunks("one two three", usage(8, 3, 11), false))
			got := h.chat(limitedTo(8000, 1))
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			announced := ""
			if c.sent < 8000 {
				announced = strconv.Itoa(int(c.sent))
			}
			asked := <-h.asked
			if limit := sentBody(t, asked)["max_completion_tokens"]; limit != c.sent || asked.Header.Get("Authorization") != "Bearer sk-key-"+c.from || got.header.Get("x-tokenfare-output-limit") != announced {
				t.Errorf("%s was asked for %v, and the caller told %q", asked.Header.Get("Authorization"), limit, got.header.Get("x-tokenfare-output-limit"))
			}
		})
	}
}
