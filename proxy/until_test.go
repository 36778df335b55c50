package proxy_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// A refusal says of each budget that it names until when that one has no room, and its headers tell the wait of the whole call.
func TestEveryBudgetHasItsOwnDate(t *testing.T) {
	const day = 24 * time.Hour
	const group = `for gpt-4o-mini: group g1, budget "60 tokens each month on gpt-4o-mini" of your team's proxy (not OpenAI's): Limit 60, `
	for name, c := range map[string]struct {
		limit   string        // of alice
		spend   int           // tokens of output by a call
		after   time.Duration // since the month began
		another bool          // a call for another model runs
		says    string
		not     string
		waits   time.Duration // 0: none is told
	}{
		"what is used up lasts longest": {
			limit: "60 tokens in any 5 days", spend: 50, after: 20 * day,
			says: "Not enough budget left until Tuesday 1 February 2000 00:00 UTC " + group + "Used 58, Requested 58.", not: "Besides", waits: 11 * day,
		},
		"a window lasts longer": {
			limit: "60 tokens in any 30 days", spend: 50, after: 20 * day,
			says: "Not enough budget left until Tuesday 1 February 2000 00:00 UTC " + group + "Used 58, Requested 58. " +
				`Besides, key alice, budget "60 tokens in any 30 days", has no room until Sunday 20 February 2000 00:14 UTC: Limit 60, Used 58, Requested 58.`,
			waits: 30*day + 864*time.Second, // it counts calls together, and lets them go late rather than early
		},
		"a debt lasts longer than can be told": {
			limit: "60 tokens per 300 days, burst 60", spend: 120_000, after: 20 * day,
			says: "Budget used up until Tuesday 1 February 2000 00:00 UTC " + group + "Used 120008, Requested 58. " +
				`Besides, key alice, budget "60 tokens per 300 days, burst 60", has no room for longer than can be told: Limit 60, Used 120008, Requested 58.`,
		},
		"a call that runs may last longer": {
			limit: "130 tokens in total", spend: 50, after: 31*day - time.Second/2, another: true,
			says: "Not enough budget left until Tuesday 1 February 2000 00:00 UTC " + group + "Used 58, Requested 58. " +
				`Besides, key alice, budget "130 tokens in total", has no room until Tuesday 1 February 2000 00:00 UTC (a guess): Limit 130, Used 58, Held 58 by 1 running call, Requested 58.`,
			waits: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				spec := alice(t, c.limit)
				spec.Groups = []proxy.GroupSpec{{Name: "g1", Keys: []string{"alice"}, Limits: limits(t, "60 tokens each month on gpt-4o-mini")}}
				var calls atomic.Int64
				v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
					if calls.Add(1) > 1 {
						time.Sleep(time.Minute)
					}
					answerWith(200, plainAnswer(8, c.spend))(w, r)
				}, func(s *settings) { s.without = true })
				time.Sleep(c.after)
				if got := v.chat(hi); got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if c.another {
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						v.chat(strings.Replace(hi, "gpt-4o-mini", "gpt-4o", 1))
					}()
					defer func() { <-ended }()
					synctest.Wait()
				}
				got := v.chat(hi)
				message, _, _, code := got.errorOf(t)
				if got.status != http.StatusTooManyRequests || code != "insufficient_quota" || got.header.Get("x-should-retry") != "false" {
					t.Errorf("%d %s, x-should-retry %q", got.status, code, got.header.Get("x-should-retry"))
				}
				if !strings.HasPrefix(message, c.says) || c.not != "" && strings.Contains(message, c.not) {
					t.Errorf("the message is\n%s\nand should begin with\n%s", message, c.says)
				}
				if got := got.header.Get("Retry-After"); c.waits == 0 && got != "" || c.waits > 0 && got != strconv.Itoa(int(c.waits/time.Second)) {
					t.Errorf("Retry-After %q, want %v", got, c.waits)
				}
			})
		})
	}
}
