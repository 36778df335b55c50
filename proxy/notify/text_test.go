package notify_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// What a team lead reads.
func TestSentences(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	december := time.Date(2000, 12, 1, 0, 0, 0, 0, berlin)
	const dollar, cent = 1_000_000_000, 10_000_000
	for _, c := range []struct {
		name, owner, limit string
		ends               time.Time
		used, of, percent  int64
		refused            bool
		want               string
	}{
		{
			"part of a month", "key alice", "$50 each month", december, 40*dollar + 12*cent + 999, 50 * dollar, 80, false,
			`key alice has used 80 % of "$50 each month": $40.12 of $50.00. It resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"all of a month", "key alice", "$50 each month", december, 50 * dollar, 50 * dollar, 100, false,
			`key alice has used 100 % of "$50 each month": $50.00 of $50.00. Its calls are refused until it resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"too little is left", "key alice", "$50 each month", december, 49*dollar + 99*cent, 50 * dollar, 99, true,
			`key alice has used 99 % of "$50 each month": $49.99 of $50.00. A call was refused, as too little is left for it; only smaller ones pass until it resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"too little for a large one", "key alice", "$50 each month", december, 42 * dollar, 50 * dollar, 84, true,
			`key alice has used 84 % of "$50 each month": $42.00 of $50.00. It resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"total", "key alice", "500k tokens in total",
			time.Time{},
			1_412_345, 1_500_000, 94, false,
			`key alice has used 94 % of "500k tokens in total" raised by 1m tokens until 2000-12-24: 1,412,345 of 1,500,000 tokens. It never resets.`,
		},
		{
			"all of a total", "group research", "500k tokens in total",
			time.Time{},
			500_000, 500_000, 100, false,
			`group research has used 100 % of "500k tokens in total": 500,000 of 500,000 tokens. Calls of its keys are refused, and it never resets.`,
		},
		{
			"too little of a total", "group research", "1k requests in total",
			time.Time{},
			999, 1_000, 99, true,
			`group research has used 99 % of "1k requests in total": 999 of 1,000 requests. A call was refused, as too little is left for it; only smaller ones pass, and it never resets.`,
		},
		{
			"some models of an upstream", "upstream openai", "$1k each day on gpt-5* o3*", december, 1_234*dollar + 50*cent, 1_000 * dollar, 123, false,
			`upstream openai has used 123 % of "$1k each day on gpt-5* o3*": $1,234.50 of $1,000.00. Calls to it for these models are refused until it resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"observed", "key bob", "$50 each month, observe only", december, 85 * dollar, 50 * dollar, 170, false,
			`key bob has used 170 % of "$50 each month, observe only": $85.00 of $50.00. It is only observed, so nothing is refused. It resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"a limit that ends sooner", "key bob", "$50 each month, until 2000-11-20", december, 50 * dollar, 50 * dollar, 100, false,
			`key bob has used 100 % of "$50 each month, until 2000-11-20": $50.00 of $50.00. Its calls are refused until it ends on Monday 20 November 2000 01:00 CET.`,
		},
		{
			"a total that ends", "key bob", "$50 in total, until 2000-11-20",
			time.Time{},
			45 * dollar, 50 * dollar, 90, false,
			`key bob has used 90 % of "$50 in total, until 2000-11-20": $45.00 of $50.00. It ends on Monday 20 November 2000 01:00 CET.`,
		},
		{
			"hardly any money", "key bob", "$0.05 each day", december, 4_123_456*10 + 1, 5 * cent, 82, false,
			`key bob has used 82 % of "$0.05 each day": $0.041234561 of $0.05. It resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"one request", "key bob", "1 request each day", december, 1, 1, 100, false,
			`key bob has used 100 % of "1 request each day": 1 of 1 request. Its calls are refused until it resets on Friday 1 December 2000 00:00 CET.`,
		},
		{
			"what Slack would take for a mention", "key <!channel> & co", "$50 each month", december, 40 * dollar, 50 * dollar, 80, false,
			`key &lt;!channel&gt; &amp; co has used 80 % of "$50 each month": $40.00 of $50.00. It resets on Friday 1 December 2000 00:00 CET.`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t)
				r.notifier.Set(notify.Settings{URL: webhook, At: []int64{80}, Zone: berlin, Help: "Ask  in\n<#ai>."})
				raised := ""
				if c.of == 1_500_000 {
					raised = "raised by 1m tokens until 2000-12-24"
				}
				r.uses(proxy.Quota{
					Raised: raised, Name: c.owner, Owner: c.owner, Limit: parse(c.limit), State: limiter.State{Used: c.used, Limit: c.of}, Percent: c.percent, Ends: c.ends, Refused: c.refused,
				})
				r.hears(time.Second, c.want+" Ask in &lt;#ai&gt;.")
			})
		})
	}
}
