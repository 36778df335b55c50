package test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// budgetSeen is a budget of GET /v1/usage, as far as these tests read it.
type budgetSeen struct {
	Owner, Limit, Unit, Kind string
	Used, Remaining          any
	ResetsAt                 *time.Time `json:"resets_at"`
}

// wantBudgets checks the budgets of alice after one call of so many tokens: 1000 tokens in total, and $5 each month.
func wantBudgets(t *testing.T, seen []budgetSeen, used int64) {
	t.Helper()
	if len(seen) != 2 {
		t.Fatalf("saw %+v, want two budgets", seen)
	}
	tokens, money := seen[0], seen[1]
	if tokens.Owner != "key alice" || tokens.Limit != "1000 tokens in total" || tokens.Unit != "tokens" || tokens.Kind != "in total" ||
		tokens.Used != float64(used) || tokens.Remaining != float64(1000-used) || tokens.ResetsAt != nil {
		t.Errorf("tokens: saw %+v, used are %d", tokens, used)
	}
	spent, isText := money.Used.(string)
	if left, _ := money.Remaining.(string); money.Unit != "dollars" || !isText || !strings.HasPrefix(spent, "0.0000") || !strings.HasPrefix(left, "4.9999") {
		t.Errorf("dollars: saw %+v", money)
	}
	if next := time.Now().UTC().AddDate(0, 1, 1-time.Now().UTC().Day()); money.ResetsAt == nil || money.ResetsAt.Format(time.DateOnly) != next.Format(time.DateOnly) {
		t.Errorf("dollars: reset at %v, want the next 1st", money.ResetsAt)
	}
}

// The client for Go has no method of its own for it, but a way to ask for any path below the base URL.
func TestOpenAIGoUsage(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total", "$5 each month"}})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)

	var seen struct{ Budgets []budgetSeen }
	if err := newOpenAIGo(p, harness.Alice).Get(t.Context(), "/usage", nil, &seen); err != nil {
		t.Fatal(err)
	}
	wantBudgets(t, seen.Budgets, up.Last(t).Prompt+100)
	if err := newOpenAIGo(p, harness.Stranger).Get(t.Context(), "/usage", nil, &seen); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a stranger: %v", err)
	}
}

// What one asks is in the log by its path and never by more, and no key sees another's.
func TestUsageInTheLog(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}, BobLimits: []string{"77 tokens in total"}})
	got := p.Get(t, harness.Alice, "/v1/usage?key=sk-pasted-here").WantOK(t)
	if strings.Contains(got.Body, "bob") || strings.Contains(got.Body, "77") {
		t.Errorf("alice sees bob's: %s", got.Body)
	}
	line := p.AwaitLog(t, "the request", func(l harness.Line) bool { return l.String("path") == "/v1/usage" })
	if line.String("key") != "alice" || line["status"] != float64(http.StatusOK) {
		t.Errorf("logged %v", line)
	}
	p.Get(t, harness.Stranger, "/v1/usage").WantError(t, http.StatusUnauthorized)
	p.Stop(t)
	if strings.Contains(p.Stderr(), "sk-pasted-here") || strings.Contains(p.Stderr(), harness.Alice) {
		t.Error("a key is in the log")
	}
	up.WantCalls(t, 0)
}
