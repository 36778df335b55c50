package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// everyBudget is key alice with a budget of every kind and unit, in a group that has one, at an upstream that has one.
func everyBudget(t *testing.T) proxy.Spec {
	t.Helper()
	spec := alice(
		t,
		"1m tokens in total", "$5 each month", "500 requests in any hour", "200k output tokens in any hour", "3600 input tokens per hour, burst 10000",
		"100k uncached input tokens each day", "7 at once", "90k tokens per request",
		"20 output tokens in total, observe only", "$1 in any hour, observe only", "1 at once on gpt-*, observe only", "5 output tokens per request, observe only",
	)
	spec.Groups = []proxy.GroupSpec{{Name: "research", Keys: []string{"alice"}, Limits: limits(t, "$100 each week", "9 requests in total, observe only")}}
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Limits: limits(t, "10m tokens each day")}}
	return spec
}

// spendsOf are the names of the budgets of which something is spent: all but those of calls at once.
func (v *virtual) spendsOf() (names []string) {
	v.t.Helper()
	budgets, err := v.server.Budgets(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	for _, b := range budgets {
		if b.Kind != "at once" {
			names = append(names, b.Name)
		}
	}
	return names
}

// silent is an upstream that begins to answer and stops.
func silent(w http.ResponseWriter, r *http.Request) {
	chunksThenHold(w, r, "one two three")
}

// notConnected is a network in which nobody answers.
func notConnected(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no route to anybody")
}

// speechless is a connection that panics when it is written to.
type speechless struct{ http.ResponseWriter }

func (speechless) Write([]byte) (int, error)     { panic("a mistake of ours") }
func (w speechless) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestEveryEndingHasOneEndRow: whatever the ending, the begin row says what is reserved of each budget, and the one end row what
// the limiter was settled at, to the unit.
func TestEveryEndingHasOneEndRow(t *testing.T) {
	const (
		three   = "one two three" // three tokens
		picture = `{"model":"gpt-image-1","prompt":"a cat","quality":"low"}`
	)
	broken := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(speechless{w}, r) })
	}
	cases := []struct {
		name, body string
		upstream   http.HandlerFunc
		ending     string
		basis      string
		status     int // of the upstream
		edit       func(*settings)
	}{
		{"nobody there", hi, hangUp, "never_connected", ledger.Nothing, 0, func(s *settings) { s.dial = notConnected }},
		{"400", hi, answerWith(400, `{"error":{"message":"no","type":"x","param":null,"code":null}}`), "upstream_error", ledger.Nothing, 400, nil},
		{"500", streamed, answerWith(500, `oops`), "upstream_error", ledger.Nothing, 500, nil},
		{"our key refused", hi, answerWith(401, `{}`), "upstream_error", ledger.Nothing, 401, nil},
		{"no status", hi, hangUp, "no_status", ledger.Unreported, 0, nil},
		{"plain, zero reported", hi, answerWith(200, plainAnswer(0, 0)), "incredible_usage", ledger.Distrusted, 200, nil},
		{"streamed, zero reported", streamed, chunks(three, usage(0, 0, 0), false), "incredible_usage", ledger.Distrusted, 200, nil},
		{"absurd, and more seen than reserved", streamed, chunks(strings.Repeat("one ", 70), usage(9, 1<<40, 1<<41), false), "incredible_usage", ledger.Distrusted, 200, nil},
		{"plain", hi, answerWith(200, plainAnswer(9, 4)), "complete", ledger.Reported, 200, nil},
		{"plain, long", hi, longAnswer, "complete", ledger.Reported, 200, nil},
		{"streamed", streamed, chunks(three, usage(9, 4, 13), false), "complete", ledger.Reported, 200, nil},
		{"more than reserved", streamed, chunks(three, usage(900, 91, 991), false), "complete", ledger.Reported, 200, nil},
		{"cached", hi, answerWith(200, strings.Replace(plainAnswer(9, 4), `"prompt_tokens":9`, `"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":7}`, 1)), "complete", ledger.Reported, 200, nil},
		{"reasoning", reasoning, chunks(three, `{"prompt_tokens":9,"completion_tokens":40,"total_tokens":49,"completion_tokens_details":{"reasoning_tokens":30}}`, false), "complete", ledger.Reported, 200, nil},
		{"plain, not reported", hi, answerWith(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":" one two three"}}]}`), "complete_unreported", ledger.Counted, 200, nil},
		{"streamed, not reported", streamed, chunks(three, "", false), "complete_unreported", ledger.Counted, 200, nil},
		{"cut after its usage", streamed, chunks(three, usage(9, 4, 13), true), "broken_reported", ledger.Reported, 200, nil},
		{"cut", streamed, chunks(three, "", true), "broken_stream", ledger.Counted, 200, nil},
		{"cut, and more seen than reserved", streamed, chunks(strings.Repeat("one ", 70), "", true), "broken_stream", ledger.Counted, 200, nil},
		{"silent", streamed, silent, "broken_stream", ledger.Counted, 200, nil},
		{"a panic of ours", streamed, chunks(three, "", false), "broken_stream", ledger.Counted, 200, func(s *settings) { s.front = broken }},
		{"a panic of ours after all was read", hi, answerWith(200, plainAnswer(9, 4)), "complete", ledger.Reported, 200, func(s *settings) { s.front = broken }},
		{"no more than one call may have", unlimited, (&teller{words: 95_000}).ServeHTTP, "ended_budget", ledger.Counted, 200, nil},
		{"cut, reasoning", reasoning, chunks(three, "", true), "broken", ledger.Unreported, 200, nil},
		{"pictures, not reported", picture, answerWith(200, `{"created":1,"data":[{"b64_json":""}]}`), "complete_uncountable", ledger.Unreported, 200, nil},
		{"plain, not JSON", hi, answerWith(200, `<html>`), "broken", ledger.Unreported, 200, nil},
	}
	missing := map[string]bool{}
	for _, name := range proxy.EndingNames() {
		missing[name] = name != "refused" // it has no rows
	}
	for _, c := range cases {
		missing[c.ending] = false
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var v *virtual
				held := map[string]int64{}
				upstream := func(w http.ResponseWriter, r *http.Request) {
					for _, call := range v.server.OpenCalls() {
						for _, h := range call.Holds {
							held[h.Budget] += h.Amount
						}
					}
					c.upstream(w, r)
				}
				v = newVirtual(t, everyBudget(t), upstream, func(s *settings) {
					s.options.IdleTimeout = time.Second
					if c.edit != nil {
						c.edit(s)
					}
				})
				endpoint := wire.Chat
				if c.body == picture {
					endpoint = wire.Pictures
				}
				v.post(t.Context(), endpoint, c.body)
				synctest.Wait()
				states := v.states()
				time.Sleep(time.Minute)
				x := v.store.only(t)
				if x.End.Ending != c.ending || x.End.Basis != c.basis || x.End.Status != c.status {
					t.Errorf("ended as %s, %s, status %d; want %s, %s, %d", x.End.Ending, x.End.Basis, x.End.Status, c.ending, c.basis, c.status)
				}
				took, settled := charged(x.Begin.Charges), charged(x.End.Charges)
				for _, name := range v.spendsOf() {
					if got, want := settled[name], states[name].Used; got != want && !(c.name == "silent" && got > want && strings.Contains(name, "per ")) { // a bucket fills
						t.Errorf("%s: the end row says %d, the limiter has counted %d", name, got, want)
					}
					if n, counted := held[name]; counted && took[name] != n {
						t.Errorf("%s: the begin row says %d, the limiter holds %d", name, took[name], n)
					}
				}
				for _, list := range [][]ledger.Charge{x.Begin.Charges, x.End.Charges} {
					for _, charge := range list {
						if !slices.Contains(v.spendsOf(), charge.Budget.Name) {
							t.Errorf("%s is charged, and nothing is spent of it", charge.Budget.Name)
						}
						if charge.N+charge.Late <= 0 || charge.N < 0 || charge.Late < 0 {
							t.Errorf("%s is charged %d and %d", charge.Budget.Name, charge.N, charge.Late)
						}
					}
				}
				v.datedRight(x)
				v.costsWhatItsPriceSays(x)
			})
		})
	}
	for name, is := range missing {
		if is {
			t.Errorf("no case ends as %s", name)
		}
	}
}

// datedRight checks that what was reserved is dated to the beginning, and what went beyond to the end; with what only observes, all.
func (v *virtual) datedRight(x ledger.Exchange) {
	v.t.Helper()
	reserved := charged(x.Begin.Charges)
	for _, c := range x.End.Charges {
		observed := false
		for _, b := range x.Begin.Charges {
			observed = observed || b.Budget == c.Budget && b.N == 0
		}
		switch most := reserved[c.Budget.Name]; {
		case observed && c.N != 0:
			v.t.Errorf("%s only observes, and is charged %d before its time", c.Budget.Name, c.N)
		case !observed && (c.N > most || c.Late > 0 && c.N != most):
			v.t.Errorf("%s had %d reserved and is charged %d at the beginning, %d at the end", c.Budget.Name, most, c.N, c.Late)
		}
	}
}

// costsWhatItsPriceSays works out the cost of an exchange again, from its row and its price.
func (v *virtual) costsWhatItsPriceSays(x ledger.Exchange) {
	v.t.Helper()
	var price cost.Price
	if err := json.Unmarshal([]byte(v.store.prices[x.Begin.Price]), &price); err != nil {
		v.t.Errorf("price %q of the ledger: %v", x.Begin.Price, err)
		return
	}
	want := price.Cost(x.End.Usage)
	if x.End.Basis == ledger.Unreported || x.End.Basis == ledger.Distrusted {
		reserved := x.Begin.Reserved
		for _, d := range x.Draws {
			reserved += d.Reserved
		}
		want = max(want, reserved)
	}
	if x.End.Cost != want {
		v.t.Errorf("%+v costs %s by its price, and the row says %s", x.End.Usage, want, x.End.Cost)
	}
}
