package test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// The most important promise: however many calls arrive at once, what the upstream may be asked to produce, together
// with what finished calls used, is never more than the budget. Each budget is worth about 100 of 1,000 calls.
func TestParallelCallsNeverExceedTheBudget(t *testing.T) {
	const (
		calls  = 1000
		worth  = 100
		output = 90 // tokens, given by the caller or the model's default
	)
	prompt := fakeopenai.New(t).PromptTokens(ask())
	tokens := worth * (prompt + output)
	// A token costs 1,000 nano-dollars going in and 4,000 coming out.
	nanos := func(prompt, output int64) int64 { return 1000*prompt + 4000*output }

	for _, budget := range []struct {
		name   string
		limit  string
		amount int64
		weigh  func(prompt, output int64) int64
	}{
		{"bucket", fmt.Sprintf("10 tokens per day, burst %d", tokens), tokens, nil},
		{"window", fmt.Sprintf("%d tokens in any hour", tokens), tokens, nil},
		{"month", fmt.Sprintf("%d tokens each month", tokens), tokens, nil},
		{"total", fmt.Sprintf("%d tokens in total", tokens), tokens, nil},
		{"output", fmt.Sprintf("%d output tokens in total", worth*output), worth * output, func(_, output int64) int64 { return output }},
		{"dollars", fmt.Sprintf("$%.9f in total", float64(worth*nanos(prompt, output))/1e9), worth * nanos(prompt, output), nanos},
	} {
		for _, request := range []struct {
			name    string
			members []string
			exactly bool // each admitted call asks for output tokens, no more and no less
		}{
			{"plain limited", []string{`"max_tokens": 90`}, true},
			{"plain unlimited", nil, false},
			{"stream limited", []string{`"stream": true`, `"max_completion_tokens": 90`}, true},
			{"stream unlimited", []string{`"stream": true`}, false},
			{"choices", []string{`"n": 3`, `"max_tokens": 30`}, true},
		} {
			for _, spend := range []string{"all", "little"} {
				// One kind of budget sees every request; the others see the two that differ most, unless there is time.
				if !*long && budget.name != "total" && (spend != "all" || request.name != "plain limited" && request.name != "stream unlimited") {
					continue
				}
				t.Run(budget.name+"/"+request.name+"/spending "+spend, func(t *testing.T) {
					up := fakeopenai.New(t)
					up.Always(model, fakeopenai.Answer{Text: words(3), SpendAll: spend == "all"})
					if budget.weigh != nil {
						up.Weigh(budget.weigh)
					}
					p := harness.Start(t, harness.Config{
						Upstream: up.URL, Limits: []string{budget.limit}, AliceExtra: "output: strict", // what is drawn bounds what passes, and not what is made
						Models: fmt.Sprintf("  %s: { upstream: fake, default_output_tokens: %d, price: { input: \"$1\", output: \"$4\" } }\n", model, output),
						More:   noonHere(time.Now()),
					})
					admitted := storm(t, p, calls, ask(request.members...))

					if peak := up.PeakExposure(); peak > budget.amount {
						t.Errorf("the upstream could have been made to spend %d of a budget of %d", peak, budget.amount)
					}
					for _, call := range up.Calls() {
						if !call.Limited {
							t.Fatal("a call reached the upstream without an output limit")
						}
					}
					if got := len(up.Calls()); got != admitted {
						t.Errorf("the upstream saw %d calls, %d clients got an answer", got, admitted)
					}
					if spend == "all" && request.exactly && admitted != worth {
						t.Errorf("%d calls were admitted, want all the %d the budget is worth", admitted, worth)
					}
					if admitted == 0 {
						t.Error("no call was admitted")
					}
					p.WantIdle(t)
				})
			}
		}
	}
}

// storm makes n equal calls at once and returns how many were answered; every other one must be a 429.
func storm(t *testing.T, p *harness.Program, n int, body string) (admitted int) {
	t.Helper()
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex
		statuses = map[int]int{}
		start    = make(chan struct{})
	)
	for range n {
		request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, body)
		wait.Go(func() {
			<-start
			resp, err := p.HTTP.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			answer := harness.Read(resp)
			if answer.Err != nil {
				t.Error(answer.Err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[answer.Status]++
		})
	}
	close(start)
	wait.Wait()
	if statuses[http.StatusOK]+statuses[http.StatusTooManyRequests] != n {
		t.Errorf("answers by status: %v, want 200 and 429 only, %d in all", statuses, n)
	}
	return statuses[http.StatusOK]
}

// noonHere is a timezone setting in which it is about noon, so that no day or month ends during the test.
func noonHere(now time.Time) string {
	east := 12 - now.UTC().Hour() // -11..12
	return fmt.Sprintf("timezone: Etc/GMT%+d\n", -east)
}

// Calls that are still running hold their reservation: even when none of them ever ends, no more are let through.
func TestRunningCallsHoldTheBudget(t *testing.T) {
	up := fakeopenai.New(t)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(3), Pause: release, PauseAt: 2})
	cost := up.PromptTokens(ask()) + 50
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{fmt.Sprintf("%d tokens in total", 10*cost)}})

	body := ask(`"stream": true`, `"max_tokens": 50`)
	for range 10 {
		if resp := p.Open(t.Context(), t, harness.Alice, body); resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d while the budget lasts", resp.StatusCode)
		}
	}
	refused := p.Chat(t, harness.Alice, body)
	problem := refused.WantError(t, http.StatusTooManyRequests)
	if problem.CodeText() != "rate_limit_exceeded" || refused.Header.Get("X-Should-Retry") == "false" || refused.Header.Get("Retry-After") == "" {
		t.Errorf("held is not spent: code %q, x-should-retry %q, Retry-After %q, want a temporary refusal",
			problem.CodeText(), refused.Header.Get("X-Should-Retry"), refused.Header.Get("Retry-After"))
	}
	up.WantCalls(t, 10)

	close(release) // the ten end having used little, and what they held comes back
	p.WantIdle(t)
	p.Chat(t, harness.Alice, body).WantOK(t)
}
