package proxy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// What was not counted to its end is counted anew when the limit that it could never pass has ended: nothing less than the
// whole prompt may be reserved.
func TestAPromptCountedInPartIsCountedAnew(t *testing.T) {
	for name, c := range map[string]struct {
		sentence string
		text     string
	}{
		"a long one":     {"100k tokens in total, until 2030-01-01", strings.Repeat("word ", 200_000)},
		"a hopeless one": {"100 tokens in total, until 2030-01-01", strings.Repeat("word ", 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			s := serverWith(t, c.sentence, "10m input tokens in total")
			body := []byte(`{"model":"gpt-4o","input":"` + c.text + `","max_output_tokens":16}`)
			at := func(year int) (*exchange, error) {
				s.wall = func() time.Time { return time.Date(year, 1, 2, 0, 0, 0, 0, time.UTC) }
				x := &exchange{server: s, endpoint: wire.Responses, policy: s.policy.Load(), caller: s.policy.Load().callers[[32]byte{1}], rec: &record{}, began: s.wall(), choices: 1}
				request, err := wire.Read(x.endpoint, "", body)
				if err == nil {
					err = x.find(request)
				}
				if err == nil {
					x.route = x.routes[0]
					err = errors.Join(x.resolve(request), x.meter(t.Context(), request))
				}
				if err == nil {
					err = x.reserve(t.Context(), request.Cost.HasMaxOutput)
				}
				s.memo.remember(x, body)
				return x, err
			}
			for range 2 {
				if x, err := at(2029); err == nil || !x.partial {
					t.Fatalf("it passes with %d tokens of input, in part %v", x.estimate.Input, x.partial)
				}
			}
			x, err := at(2031)
			if want := s.options.Estimator.Count(x.facts, c.text); err != nil || x.estimate.Input < want || x.partial {
				t.Errorf("%d tokens are reserved of %d, in part %v: %v", x.estimate.Input, want, x.partial, err)
			}
		})
	}
}
