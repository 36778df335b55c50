package test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// Waiting exactly as long as the refusal says is long enough, and not much less would have been.
func TestTheNamedWaitIsExact(t *testing.T) {
	for _, limit := range []string{"100 tokens per second, burst 160", "160 tokens in any 2 seconds"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, fakeopenai.Answer{SpendAll: true})
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{limit}})
			body := ask(`"max_tokens": 100`)
			p.Chat(t, harness.Alice, body).WantOK(t)

			var asked, answered time.Time
			var refused harness.Response
			for range 20 { // on a busy machine there may be room again before the next has arrived
				asked = time.Now() // the decision is later, so before this plus the wait nothing may pass
				refused = p.Chat(t, harness.Alice, body)
				answered = time.Now()
				if refused.Status != http.StatusOK {
					break
				}
			}
			refused.WantError(t, http.StatusTooManyRequests)
			wait := waitOf(t, refused)
			early := time.NewTimer(wait - 300*time.Millisecond)
			<-early.C
			again := p.Chat(t, harness.Alice, body)
			if time.Since(asked) < wait {
				again.WantError(t, http.StatusTooManyRequests) // and asking early postpones nothing
			} else if again.Status == http.StatusOK {
				return // the machine is too slow to be early on
			}
			rest := time.NewTimer(time.Until(answered.Add(wait)))
			<-rest.C
			p.Chat(t, harness.Alice, body).WantOK(t)
		})
	}
}

// waitOf is the exact wait a refusal names; its two headers must agree.
func waitOf(t *testing.T, r harness.Response) time.Duration {
	t.Helper()
	ms, err := strconv.Atoi(r.Header.Get("Retry-After-Ms"))
	if err != nil || ms < 1 {
		t.Fatalf("retry-after-ms is %q", r.Header.Get("Retry-After-Ms"))
	}
	if want := strconv.Itoa((ms + 999) / 1000); r.Header.Get("Retry-After") != want {
		t.Errorf("Retry-After is %q beside retry-after-ms %d, want %s", r.Header.Get("Retry-After"), ms, want)
	}
	return time.Duration(ms) * time.Millisecond
}

// Each kind of refusal has its own status, code and advice to retry.
func TestRefusals(t *testing.T) {
	type refusal struct {
		Status      int
		Type, Code  string
		ShouldRetry string
		RetryAfter  bool
	}
	spend := fakeopenai.Answer{SpendAll: true}
	call := ask(`"max_tokens": 100`)
	for _, c := range []struct {
		name   string
		limits []string
		before int    // calls that are let through first
		lang   string // X-Stainless-Lang
		body   string
		want   refusal
		says   []string
	}{
		{
			"refills soon",
			[]string{"10 tokens per second, burst 130"},
			1, "js", call,
			refusal{429, "tokens", "rate_limit_exceeded", "", true},
			[]string{"Limit 130", "Used ", "Requested ", "Please try again in "},
		},
		{
			"refills in more than a minute",
			[]string{"1 tokens per second, burst 130"},
			1, "js", call,
			refusal{429, "tokens", "rate_limit_exceeded", "false", true},
			[]string{"Please try again in "},
		},
		{
			"refills later than Go's SDK waits",
			[]string{"10 tokens per second, burst 130"},
			1, "go", call,
			refusal{429, "tokens", "rate_limit_exceeded", "false", true},
			nil,
		},
		{
			"requests in a window",
			[]string{"1 requests in any 30 seconds"},
			1, "js", call,
			refusal{429, "requests", "rate_limit_exceeded", "", true},
			[]string{"1 request", "Please try again in "},
		},
		{
			"used up this month",
			[]string{"130 tokens each month"},
			1, "js", call,
			refusal{429, "insufficient_quota", "insufficient_quota", "false", true},
			[]string{"130 tokens each month"},
		},
		{
			"used up for good",
			[]string{"130 tokens in total"},
			1, "js", call,
			refusal{429, "insufficient_quota", "insufficient_quota", "false", false},
			[]string{"130 tokens in total"},
		},
		{
			"output never fits",
			[]string{"50 tokens in any minute"},
			0, "js", call,
			refusal{400, "invalid_request_error", "request_exceeds_budget", "false", false},
			[]string{"max_"},
		},
		{
			"prompt never fits",
			[]string{"5 tokens in any minute"},
			0, "js", ask(`"max_tokens": 1`),
			refusal{400, "invalid_request_error", "request_exceeds_budget", "false", false},
			nil,
		},
		{
			"per request",
			[]string{"50 output tokens per request"},
			0, "js", call,
			refusal{400, "invalid_request_error", "request_exceeds_budget", "false", false},
			[]string{"50"},
		},
		{
			"dollars never fit",
			[]string{"$0.000001 in total"},
			0, "js", call,
			refusal{400, "invalid_request_error", "request_exceeds_budget", "false", false},
			[]string{"$"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, spend)
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: c.limits, More: "help: \"Ask in #ai-platform.\"\n" + noonHere(time.Now())})
			for range c.before {
				p.Chat(t, harness.Alice, c.body).WantOK(t)
			}
			request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, c.body)
			request.Header.Set("X-Stainless-Lang", c.lang)
			got := p.Do(t, request)
			problem := got.WantError(t, c.want.Status)
			retry := got.Header.Get("X-Should-Retry")
			if retry == "true" {
				retry = ""
			}
			have := refusal{got.Status, problem.Type, problem.CodeText(), retry, got.Header.Get("Retry-After") != ""}
			if c.want.Code == "insufficient_quota" {
				have.RetryAfter = c.want.RetryAfter // either is right: the advice not to retry is what counts
			}
			if diff := cmp.Diff(c.want, have); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			for _, part := range append(c.says, "alice", strings.TrimSuffix(c.limits[0], ", burst 130"), "not OpenAI's", "Ask in #ai-platform.") {
				if !strings.Contains(problem.Message, part) {
					t.Errorf("message %q does not say %q", problem.Message, part)
				}
			}
			up.WantCalls(t, c.before)
		})
	}
}

// All budgets of a key and its groups, or none: what one of them refuses takes nothing from the others.
func TestAllBudgetsOrNone(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	each := up.PromptTokens(ask()) + 100
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, BobLimits: []string{"1000000 tokens in total"},
		More: fmt.Sprintf("groups:\n  team: { keys: [alice, bob], limits: [\"%d tokens each month\"] }\n%s", 3*each, noonHere(time.Now())),
	})
	body := ask(`"max_tokens": 100`)
	p.Chat(t, harness.Alice, body).WantOK(t)
	p.Chat(t, harness.Bob, body).WantOK(t)
	p.Chat(t, harness.Bob, body).WantOK(t)
	for range 5 {
		problem := p.Chat(t, harness.Alice, body).WantError(t, http.StatusTooManyRequests)
		if !strings.Contains(problem.Message, "team") {
			t.Errorf("message %q does not name the group", problem.Message)
		}
	}
	if left := p.Remaining(t, "alice"); left != 1_000_000-each {
		t.Errorf("alice has %d left, want %d: refusals are free", left, 1_000_000-each)
	}
	if left := p.Remaining(t, "bob"); left != 1_000_000-2*each {
		t.Errorf("bob has %d left, want %d", left, 1_000_000-2*each)
	}
	up.WantCalls(t, 3)
}

// A limit "on" some models counts those models only, and "observe only" refuses nobody.
func TestScopeAndObservation(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always("", fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"150 tokens in total on gpt-4o", "10 tokens in total, observe only"}})
	p.Chat(t, harness.Alice, askModel("gpt-4o", `"max_tokens": 100`)).WantOK(t)
	p.Chat(t, harness.Alice, askModel("gpt-4o", `"max_tokens": 100`)).WantError(t, http.StatusTooManyRequests)
	for range 3 {
		p.Chat(t, harness.Alice, askModel("gpt-4o-mini", `"max_tokens": 100`)).WantOK(t)
	}
}
