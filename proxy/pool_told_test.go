package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// shareSpec is alice at one upstream that has limits.
func shareSpec(t *testing.T, ofUpstream ...string) proxy.Spec {
	t.Helper()
	spec := alice(t, "1m tokens per minute", "100 requests in total")
	spec.Help = "Ask in #ai."
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Limits: limits(t, ofUpstream...)}}
	return spec
}

// share is what callers are told of the limits of an upstream.
const share = "the provider's share behind this proxy (upstream up)"

// untold checks that an answer tells of the caller's own budgets, and no figure of the upstream's.
func (a answer) untold(t *testing.T, refused bool, secrets ...string) {
	t.Helper()
	for name, values := range a.header {
		for _, v := range values {
			for _, secret := range secrets {
				if strings.Contains(v, secret) && name != "Date" && !strings.HasSuffix(name, "-Id") {
					t.Errorf("the header %s: %s tells %q", name, v, secret)
				}
			}
		}
	}
	for _, secret := range append(secrets, "Limit ", "Used ", "Held ", "Requested ") {
		if strings.Contains(a.body, secret) {
			t.Errorf("%q is told: %s", secret, a.body)
		}
	}
	if l, r := a.header.Get("x-ratelimit-limit-tokens"), a.header.Get("x-ratelimit-limit-requests"); l != "1000000" || r != "100" {
		t.Errorf("limits in headers are %q and %q, want the caller's own", l, r)
	}
	budget := a.header.Get("x-tokenfare-budget")
	if refused && budget != "upstream up" || !refused && !strings.HasPrefix(budget, "key alice: ") {
		t.Errorf("x-tokenfare-budget: %s", budget)
	}
}

// TestCallersAreNotToldWhatAnUpstreamHolds: neither in headers nor in refusals, which say whose fault it is not, and when to come
// back. The log says all.
func TestCallersAreNotToldWhatAnUpstreamHolds(t *testing.T) {
	const long = `{"model":"gpt-4o-mini","n":2,"max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`
	for _, c := range []struct {
		limit, body string
		first       bool // that it was told of when it passed
		status      int
		code, says  string
		log         string
	}{
		{"61 tokens per 10 minutes", hi, true, 429, "rate_limit_exceeded", "Rate limit reached for gpt-4o-mini: " + share + " is short, not the budget of your key. Please try again in 9m0.984s. Ask in #ai.", "Limit 61, Used 58, Requested 58."},
		{"61 tokens each month", hi, true, 429, "insufficient_quota", "Not enough budget left until Tuesday 1 February 2000 00:00 UTC for gpt-4o-mini: " + share + " is short, not the budget of your key. Ask in #ai.", "Limit 61, Used 58, Requested 58."},
		{"58 tokens in total", hi, true, 429, "insufficient_quota", "Not enough budget left, and it does not refill, for gpt-4o-mini: " + share + " is short, not the budget of your key. Ask in #ai.", "Limit 58, Used 58, Requested 58."},
		{"$0.000032 in total", hi, true, 429, "insufficient_quota", "Not enough budget left, and it does not refill, for gpt-4o-mini: " + share + " is short, not the budget of your key. Ask in #ai.", "Limit $0.000032, Used $0.0000312, Requested $0.0000312."},
		{"1 requests each month", hi, true, 429, "insufficient_quota", share, "Limit 1, Used 1, Requested 1."},
		{"57 tokens in total", hi, false, 400, "request_exceeds_budget", "Request too large for gpt-4o-mini: " + share + " is too small for it, not the budget of your key. It can never pass, so waiting does not help. Lower max_tokens. Ask in #ai.", "Limit 57, Requested 58."},
		{"48 output tokens per request", long, false, 400, "request_exceeds_budget", "Request too large for gpt-4o-mini: " + share + " is too small for it, not the budget of your key. It can never pass, so waiting does not help. Lower max_tokens, or n (2). Ask in #ai.", "Limit 48, Requested 100."},
		{"7 tokens in total", hi, false, 400, "request_exceeds_budget", "Request too large for gpt-4o-mini: " + share + " is too small for it, not the budget of your key. It can never pass, so waiting does not help. Shorten the prompt. Ask in #ai.", "Limit 7, Requested "},
	} {
		t.Run(c.limit, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, shareSpec(t, c.limit), answerWith(200, plainAnswer(8, 50)))
				figure, _, _ := strings.Cut(strings.TrimPrefix(c.limit, "$"), " ")
				secrets := []string{c.limit, figure}
				if figure == "1" { // is in many a word
					secrets = secrets[:1]
				}
				if c.first {
					got := v.chat(c.body)
					if got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
					got.body = ""
					got.untold(t, false, secrets[0])
				}
				got := v.chat(c.body)
				if _, _, _, code := got.errorOf(t); got.status != c.status || code != c.code || !strings.Contains(got.body, c.says) {
					t.Errorf("%d %s, want %d %s:\n%s\n%s", got.status, code, c.status, c.code, got.body, c.says)
				}
				got.untold(t, true, secrets...)
				if lines := v.log.lines(`"figures":"` + c.log); len(lines) != 1 || !strings.Contains(lines[0], `"refused_by":"upstream up, budget`) || !strings.Contains(lines[0], c.limit) {
					t.Errorf("the log says %v", lines)
				}
				if c.code == "rate_limit_exceeded" && got.header.Get("retry-after-ms") == "" {
					t.Error("no wait is told")
				}
			})
		})
	}
}

// TestCallersAreNotToldHowManyCallsAnUpstreamTakes, nor which limits of it are short besides.
func TestCallersAreNotToldHowManyCallsAnUpstreamTakes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, shareSpec(t, "1 at once"), after(time.Minute, answerWith(200, plainAnswer(8, 3))))
		done := make(chan reply)
		go func() { done <- v.chat(hi) }()
		time.Sleep(time.Second)
		got := v.chat(hi)
		if message, _, _, _ := got.errorOf(t); message != "Too many requests at once for gpt-4o-mini: "+share+" is short, not the budget of your key. Please try again in 1s (a guess). Ask in #ai." {
			t.Errorf("%d: %s", got.status, message)
		}
		got.untold(t, true, "1 at once")
		if running := <-done; running.header.Get("x-ratelimit-limit-at-once") != "" {
			t.Errorf("headers %v", running.header)
		}

		spec := shareSpec(t, "60 tokens per day, burst 60")
		spec.Keys[0].Limits = limits(t, "1m tokens per minute", "100 requests in total", "60 tokens each hour")
		v = newVirtual(t, spec, answerWith(200, plainAnswer(8, 50)))
		v.chat(hi)
		const besides = `budget "60 tokens each hour" of your team's proxy (not OpenAI's): Limit 60, Used 58, Requested 58. Besides, ` + share + ` has no room until Saturday 1 January 2000 22:25 UTC. Ask in #ai.`
		if message, _, _, _ := v.chat(hi).errorOf(t); !strings.Contains(message, besides) || strings.Contains(message, "per day") {
			t.Errorf("%s", message)
		}
	})
}

// TestAKeysRefusalDoesNotTellWhatTheUpstreamHasLeft: the limit that would pass now is said only where the caller's own budgets decide.
func TestAKeysRefusalDoesNotTellWhatTheUpstreamHasLeft(t *testing.T) {
	for upstream, says := range map[string]bool{"10k tokens in total": true, "70 tokens in total": false} {
		spec := alice(t, "100 tokens per hour")
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Limits: limits(t, upstream)}}
		h := newHouse(t, spec, answerWith(200, plainAnswer(8, 47)))
		h.chat(hi)
		got := h.chat(hi)
		if message, _, _, _ := got.errorOf(t); strings.Contains(message, "would pass now") != says || got.status != 429 || says != strings.Contains(message, "key alice") {
			t.Errorf("%s: %d %s", upstream, got.status, message)
		}
	}
}

// TestAnEndingDoesNotTellTheUpstreamsLimit: where a limit on single calls ends a stream, its end says whose it is.
func TestAnEndingDoesNotTellTheUpstreamsLimit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, shareSpec(t, "9992 output tokens per request"), (&teller{words: 12_000}).ServeHTTP)
		got := v.chat(unlimited)
		if !strings.HasSuffix(got.body, endedBy("upstream up")) || strings.Contains(got.body, "9992") {
			t.Errorf("the end: %.400q", got.body[max(0, len(got.body)-400):])
		}
		if lines := v.log.lines(`"ended_by":"upstream up, budget`); len(lines) != 1 {
			t.Errorf("the log has %d lines about it", len(lines))
		}
	})
}
