package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// blockUntil is an upstream that answers each call only when told to.
func blockUntil(release <-chan struct{}, prompt, completion int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		answerWith(200, plainAnswer(prompt, completion))(w, r)
	}
}

func TestARefillingBudgetTellsTheExactWait(t *testing.T) {
	// 20 tokens a second, 100 at once: after a call of 58 that used 58, another of 58 fits 0.8 s later, whatever is done
	// meanwhile.
	h := newHouse(t, alice(t, "100 tokens per 5 seconds"), answerWith(200, plainAnswer(8, 50)))
	if got := h.chat(hi); got.status != 200 {
		t.Fatalf("first call: %d %s", got.status, got.body)
	}
	got := h.chat(hi)
	if got.status != http.StatusTooManyRequests {
		t.Fatalf("second call: %d %s", got.status, got.body)
	}
	message, kind, _, code := got.errorOf(t)
	if kind != "tokens" || code != "rate_limit_exceeded" {
		t.Errorf("type %q, code %q", kind, code)
	}
	want := regexp.MustCompile(`^Rate limit reached for gpt-4o-mini: key alice, budget "100 tokens per 5 seconds" of your team's proxy \(not OpenAI's\): ` +
		`Limit 100, Used \d+, Requested 58\. Please try again in (\d+)ms\. A call with max_tokens of at most \d+ would pass now\.$`)
	m := want.FindStringSubmatch(message)
	if m == nil {
		t.Fatalf("message: %s", message)
	}
	ms, err := strconv.ParseInt(got.header.Get("retry-after-ms"), 10, 64)
	if err != nil || ms < 1 || ms > 800 || m[1] != strconv.FormatInt(ms, 10) {
		t.Errorf("retry-after-ms %q, message says %sms", got.header.Get("retry-after-ms"), m[1])
	}
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q, want 1: whole seconds, rounded up", got.header.Get("Retry-After"))
	}
	if v := got.header.Get("x-should-retry"); v != "" {
		t.Errorf("x-should-retry %q on a short wait", v)
	}
	<-time.After(time.Duration(ms) * time.Millisecond)
	if again := h.chat(hi); again.status != 200 {
		t.Errorf("after waiting exactly that long: %d %s", again.status, again.body)
	}
}

func TestLongWaitsAreNotWorthARetry(t *testing.T) {
	h := newHouse(t, alice(t, "60 tokens per 10 minutes"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	if got := h.chat(hi); got.status != 429 || got.header.Get("x-should-retry") != "false" || got.header.Get("Retry-After") == "" {
		t.Errorf("a wait of minutes: %d, x-should-retry %q, Retry-After %q", got.status, got.header.Get("x-should-retry"), got.header.Get("Retry-After"))
	}
	h = newHouse(t, alice(t, "60 tokens per 20 seconds"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	if got := h.chat(hi); got.status != 429 || got.header.Get("x-should-retry") != "" {
		t.Errorf("18 s, any SDK: %d, x-should-retry %q", got.status, got.header.Get("x-should-retry"))
	}
	if got := h.chat(hi, "X-Stainless-Lang", "go"); got.header.Get("x-should-retry") != "false" {
		t.Errorf("18 s, openai-go, which waits 8: x-should-retry %q", got.header.Get("x-should-retry"))
	}
}

func TestAUsedUpBudgetSaysUntilWhen(t *testing.T) {
	h := newHouse(t, alice(t, "60 tokens each month"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	got := h.chat(hi)
	message, kind, _, code := got.errorOf(t)
	if got.status != 429 || kind != "insufficient_quota" || code != "insufficient_quota" || got.header.Get("x-should-retry") != "false" {
		t.Errorf("%d %s %s, x-should-retry %q", got.status, kind, code, got.header.Get("x-should-retry"))
	}
	next := time.Now().UTC().AddDate(0, 1, 1-time.Now().UTC().Day())
	if want := next.Format("Monday 2 January 2006") + " 00:00 UTC"; !strings.Contains(message, "Not enough budget left until "+want) {
		t.Errorf("message does not say %q: %s", want, message)
	}
	h = newHouse(t, alice(t, "60 tokens in total"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	if got := h.chat(hi); got.status != 429 || got.header.Get("Retry-After") != "" || !strings.Contains(got.body, "does not refill") {
		t.Errorf("a total: %d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
	}
}

func TestTheLongestWaitIsTold(t *testing.T) {
	// The hour is used up, and the bucket needs longer than any hour has left.
	h := newHouse(t, alice(t, "60 tokens each hour", "60 tokens per day, burst 60"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	got := h.chat(hi)
	seconds, _ := strconv.Atoi(got.header.Get("Retry-After"))
	if _, _, _, code := got.errorOf(t); code != "insufficient_quota" || seconds < 22*3600 || seconds > 24*3600 {
		t.Errorf("%s, Retry-After %d s; want the bucket's wait, about 22 to 23 hours", code, seconds)
	}
	when := time.Now().UTC().Add(time.Duration(seconds) * time.Second).Format("2 January 2006 15:")
	if message, _, _, _ := got.errorOf(t); !strings.Contains(message, when) {
		t.Errorf("the message does not say %q: %s", when, message)
	}
}

// TestALimitLoweredUnderWay: the budget shrinks after the call was compared with it.
func TestALimitLoweredUnderWay(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens per minute"), answerWith(200, plainAnswer(8, 50)))
	name := "key alice: " + limits(t, "1000 tokens per minute")[0].ID()
	h.limiter.Budget(name, limiter.TokenBucket{Size: 20, Refill: 20, Every: time.Minute}) // what a reload does
	got := h.chat(hi)
	if got.status != 400 || got.header.Get("Retry-After") != "" || got.header.Get("x-should-retry") != "false" {
		t.Errorf("%d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
	}
}

func TestHeldIsNotSpent(t *testing.T) {
	release := make(chan struct{})
	for _, sentence := range []string{"100 tokens in total", "100 tokens each month"} {
		h := newHouse(t, alice(t, sentence), blockUntil(release, 8, 3))
		running := make(chan answer)
		go func() { running <- h.chat(hi) }()
		<-h.asked
		got := h.chat(hi)
		message, _, _, code := got.errorOf(t)
		if got.status != 429 || code != "rate_limit_exceeded" || got.header.Get("x-should-retry") != "" {
			t.Errorf("%s: %d %s, x-should-retry %q", sentence, got.status, code, got.header.Get("x-should-retry"))
		}
		if !strings.Contains(message, "Used 0, Held 58 by 1 running call, Requested 58.") || strings.Contains(message, "used up") {
			t.Errorf("%s: %s", sentence, message)
		}
		if s, _ := strconv.Atoi(got.header.Get("Retry-After")); s < 1 || s > 10 {
			t.Errorf("%s: Retry-After %q, want a guess of 1 to 10 s", sentence, got.header.Get("Retry-After"))
		}
		release <- struct{}{}
		if a := <-running; a.status != 200 {
			t.Errorf("%s: the running call: %d", sentence, a.status)
		}
	}
}

func TestNeverFits(t *testing.T) {
	long := `{"model":"gpt-4o-mini","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}]}`
	for _, c := range []struct {
		name, limit, body, param, says string
	}{
		{"output limit", "40 tokens per minute", hi, "max_tokens", "Lower max_tokens to at most 32."},
		{"output limit, per request", "10 output tokens per request", hi, "max_tokens", "Lower max_tokens to at most 10."},
		{"choices", "100 tokens per minute", `{"model":"gpt-4o-mini","n":4,"max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`, "max_tokens", "to at most 23, or n (4)."},
		{"prompt", "100 tokens per minute", long, "messages", "shorten it by at least 1"},
		{"prompt, money", "$0.000001 each day", hi, "messages", "The prompt alone is at least 8 tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, alice(t, c.limit), answerWith(200, plainAnswer(1, 1)))
			got := h.chat(c.body)
			message, kind, param, code := got.errorOf(t)
			if got.status != 400 || kind != "invalid_request_error" || code != "request_exceeds_budget" || param != c.param {
				t.Errorf("%d, type %q, code %q, param %q", got.status, kind, code, param)
			}
			if !strings.Contains(message, c.says) {
				t.Errorf("message does not say %q: %s", c.says, message)
			}
			if got.header.Get("x-should-retry") != "false" || got.header.Get("Retry-After") != "" {
				t.Errorf("x-should-retry %q, Retry-After %q", got.header.Get("x-should-retry"), got.header.Get("Retry-After"))
			}
			if len(h.asked) != 0 {
				t.Error("the upstream was asked")
			}
		})
	}
}

func TestAHopelessPromptIsNotCounted(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens per minute"), answerWith(200, plainAnswer(1, 1)))
	began := time.Now()
	got := h.chat(`{"model":"gpt-4o-mini","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("qwertyuiop", 2<<20) + `"}]}`)
	if message, _, _, _ := got.errorOf(t); got.status != 400 || !strings.Contains(message, "at least 163840 tokens") {
		t.Errorf("%d %s", got.status, message)
	}
	t.Logf("20 MiB were refused in %v", time.Since(began))
}

func TestAPromptIsNotCountedBeyondWhatFits(t *testing.T) {
	h := newHouse(t, alice(t, "300k tokens per minute"), answerWith(200, plainAnswer(1, 1)))
	got := h.chat(`{"model":"gpt-4o-mini","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("qwertyuiop ", 2<<20) + `"}]}`)
	message, _, _, _ := got.errorOf(t)
	m := regexp.MustCompile(`at least (\d+) tokens`).FindStringSubmatch(message)
	if got.status != 400 || m == nil || len(m[1]) != len("300000") || m[1] < "300000" || m[1] > "310000" {
		t.Errorf("%d %s", got.status, message) // there are some four million tokens
	}
}

func TestTooLongAs(t *testing.T) {
	spec := alice(t, "100 tokens per minute")
	spec.Keys[0].TooLongAs = "context_length_exceeded"
	h := newHouse(t, spec, answerWith(200, plainAnswer(1, 1)))
	got := h.chat(`{"model":"gpt-4o-mini","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}]}`)
	if _, _, _, code := got.errorOf(t); got.status != 400 || code != "context_length_exceeded" {
		t.Errorf("%d %s", got.status, code)
	}
}

func TestTheSameNumberIsPromisedAsIsKept(t *testing.T) {
	// What the refusal calls the largest output that would pass now does pass, and one more does not.
	h := newHouse(t, alice(t, "100 tokens in total"), answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	got := h.chat(hi)
	m := regexp.MustCompile(`max_tokens of at most (\d+) would pass now`).FindStringSubmatch(got.body)
	if m == nil {
		t.Fatalf("no number in %s", got.body)
	}
	n, _ := strconv.Atoi(m[1])
	if over := h.chat(fmt.Sprintf(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":%d}`, n+1)); over.status != 429 {
		t.Errorf("%d passed: %d", n+1, over.status)
	}
	if fits := h.chat(fmt.Sprintf(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":%d}`, n)); fits.status != 200 {
		t.Errorf("%d did not pass: %d %s", n, fits.status, fits.body)
	}
}

func TestEveryBudgetOrNone(t *testing.T) {
	// The group's budget refuses; the key's own must not be charged for it.
	spec := alice(t, "10000 tokens in total")
	spec.Groups = []proxy.GroupSpec{
		{Name: "outer", Groups: []string{"inner"}, Limits: limits(t, "50 tokens in total")},
		{Name: "inner", Keys: []string{"*"}, Limits: limits(t, "9000 tokens in total")},
		{Name: "named", Keys: []string{"alice"}, Limits: limits(t, "8000 tokens in total")},
		{Name: "others", Keys: []string{"bob"}, Limits: limits(t, "7000 tokens in total")},
	}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":20}`)
	if got.status != 200 {
		t.Fatalf("first call: %d %s", got.status, got.body)
	}
	if refused := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":40}`); refused.status != 429 ||
		!strings.Contains(refused.body, `group outer, budget \"50 tokens in total\"`) {
		t.Errorf("%d %s", refused.status, refused.body)
	}
	for owner, sentence := range map[string]string{"key alice": "10000 tokens in total", "group outer": "50 tokens in total", "group inner": "9000 tokens in total", "group named": "8000 tokens in total"} {
		if s := h.state(owner, sentence); s.Used != 11 || s.Held != 0 {
			t.Errorf("%s: used %d, held %d, want 11 and 0", owner, s.Used, s.Held)
		}
	}
	if s := h.state("group others", "7000 tokens in total"); s.Used != 0 {
		t.Errorf("a group alice is not in was charged %d", s.Used)
	}
}

func TestAnUnpricedModelIsRefusedWhereMoneyLimits(t *testing.T) {
	h := newHouse(t, alice(t, "$10 each month"), answerWith(200, plainAnswer(8, 3)))
	got := h.chat(`{"model":"house-llm","messages":[{"role":"user","content":"Hi"}]}`)
	if message, _, param, code := got.errorOf(t); got.status != 400 || code != "model_not_priced" || param != "model" || !strings.Contains(message, "price:") {
		t.Errorf("%d %s %s: %s", got.status, code, param, message)
	}
}

func TestHelpEndsEveryRefusal(t *testing.T) {
	spec := alice(t, "60 tokens in total")
	spec.Help = "Ask in #ai-platform."
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 50)))
	h.chat(hi)
	if message, _, _, _ := h.chat(hi).errorOf(t); !strings.HasSuffix(message, " Ask in #ai-platform.") {
		t.Error(message)
	}
}

func TestObserveOnlyNeverRefuses(t *testing.T) {
	h := newHouse(t, alice(t, "10 tokens in total, observe only"), answerWith(200, plainAnswer(8, 3)))
	for range 3 {
		if got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}`); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		sent, _ := io.ReadAll((<-h.asked).Body)
		var body map[string]any
		if json.Unmarshal(sent, &body); len(body) != 2 {
			t.Errorf("nothing limits this call, and yet its body was changed: %s", sent)
		}
	}
	if s := h.state("key alice", "10 tokens in total"); s.Used != 33 {
		t.Errorf("counted %d tokens, want 33", s.Used)
	}
}

// TestADebtOfCenturies: a budget that refills so slowly that no time can be told must not tell a wrong one.
func TestADebtOfCenturies(t *testing.T) {
	h := newHouse(t, alice(t, "60 tokens per 300 days, burst 60"), answerWith(200, plainAnswer(8, 120_000)))
	h.chat(`{"model":"gpt-4o-mini","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`)
	got := h.chat(hi)
	if got.status != 429 || got.header.Get("Retry-After") != "" || got.header.Get("x-should-retry") != "false" || strings.Contains(got.body, "h") && strings.Contains(got.body, "2562047") {
		t.Errorf("%d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
	}
}
