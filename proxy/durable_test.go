package proxy_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// longAnswer is an upstream whose plain answer is too long to be read ahead.
func longAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, plainAnswer(9, 4)+strings.Repeat(" ", 400<<10))
}

// unannounced is an upstream that does not say how long its answer is.
func unannounced(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	answerWith(http.StatusOK, plainAnswer(9, 4))(w, r)
}

// answers are the ways in which an answer comes, each with the request for it.
var answers = []struct {
	name, body string
	upstream   http.HandlerFunc
}{
	{"plain", hi, answerWith(http.StatusOK, plainAnswer(9, 4))},
	{"plain and long", hi, longAnswer},
	{"plain, of no announced length", hi, unannounced},
	{"streamed", streamed, chunks("one two three", usage(9, 4, 13), false)},
}

// TestNothingLeavesBeforeItsRowIsDurable: neither a status nor a byte, whatever the answer. Where the upstream thinks longer than
// the ledger, nobody notices that there is one.
func TestNothingLeavesBeforeItsRowIsDurable(t *testing.T) {
	for _, c := range answers {
		for _, times := range []struct{ ledger, upstream time.Duration }{
			{time.Second, 0},
			{time.Second, 10 * time.Millisecond},
			{time.Second, 3 * time.Second},
			{0, time.Second},
			{20 * time.Millisecond, 60*time.Millisecond + 1},
			{4 * time.Second, time.Minute},
		} {
			t.Run(c.name+", ledger "+times.ledger.String()+", upstream "+times.upstream.String(), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					v := newVirtual(t, alice(t, "1000 tokens in total"), after(times.upstream, c.upstream))
					v.store.be(times.ledger, nil)
					began := time.Now()
					got := v.chat(c.body)
					if got.status != http.StatusOK || got.err != nil {
						t.Fatalf("%d %v %s", got.status, got.err, got.body)
					}
					const late = 40 * time.Millisecond // for which a row waits for others, while nobody waits for it
					if want := max(times.upstream, min(times.upstream, late)+times.ledger); got.first != want {
						t.Errorf("the first byte came after %s, want %s", got.first, want)
					}
					x := v.store.rows(t)
					if len(x) != 1 {
						t.Fatalf("%d exchanges in the ledger", len(x))
					}
					if durable := v.store.durable[x[0].Begin.Exchange].Sub(began); got.first < durable {
						t.Errorf("the first byte came after %s, and its row was durable after %s", got.first, durable)
					}
				})
			})
		}
	}
}

// TestErrorsDoNotWaitForTheLedger: they have cost nothing.
func TestErrorsDoNotWaitForTheLedger(t *testing.T) {
	for _, c := range []struct {
		name     string
		upstream http.HandlerFunc
		status   int
	}{
		{"400", answerWith(400, `{"error":{"message":"no","type":"x","param":null,"code":null}}`), 400},
		{"429", answerWith(429, `{"error":{"message":"slow down","type":"x","param":null,"code":"rate"}}`), 429},
		{"500", answerWith(500, `oops`), 500},
		{"our key refused", answerWith(401, `{}`), 502},
		{"a redirect", answerWith(302, ``), 502},
		{"no status", hangUp, 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), after(10*time.Millisecond, c.upstream))
				v.store.be(3*time.Second, nil)
				if got := v.chat(hi); got.status != c.status || got.whole != 10*time.Millisecond {
					t.Errorf("%d after %s: %s", got.status, got.whole, got.body)
				}
			})
		})
	}
}

// TestRefusalsAskNothingOfTheLedger: they have no rows, and do not wait.
func TestRefusalsAskNothingOfTheLedger(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "20 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
		v.store.be(3*time.Second, nil)
		if got := v.chat(hi); got.status != http.StatusBadRequest || got.whole != 0 {
			t.Errorf("%d after %s: %s", got.status, got.whole, got.body)
		}
		time.Sleep(time.Minute)
		if rows := v.store.rows(t); len(rows) != 0 {
			t.Errorf("rows of a refused call: %+v", rows)
		}
	})
}

var errDisk = errors.New("the disk is full of cats")

// TestALedgerThatCannotBeWrittenEndsAnswers: the client is told that there is none, the upstream's work is charged all the same,
// and the rows are written once that can be done. Nothing new is begun meanwhile.
func TestALedgerThatCannotBeWrittenEndsAnswers(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), after(10*time.Millisecond, c.upstream))
				v.store.be(0, errDisk)
				got := v.chat(c.body)
				if _, kind, _, code := got.errorOf(t); got.status != http.StatusServiceUnavailable || kind != "server_error" || code != "ledger_unavailable" {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if want := 5*time.Second + 10*time.Millisecond; got.whole != want {
					t.Errorf("the client was told after %s, want %s", got.whole, want)
				}
				if strings.Contains(got.body, "cats") || strings.Contains(got.body, "Hello") || !strings.Contains(got.body, "is charged") {
					t.Errorf("the answer says too much, or not what is charged: %s", got.body)
				}
				if n := v.limiter.OpenCount(); n != 0 {
					t.Errorf("%d reservations are open", n)
				}

				refused := v.chat(c.body) // at once, and without the upstream
				if _, _, _, code := refused.errorOf(t); refused.status != http.StatusServiceUnavailable || code != "ledger_unavailable" || refused.whole != 0 ||
					!strings.Contains(refused.body, "Nothing is charged") {
					t.Errorf("a new call: %d after %s: %s", refused.status, refused.whole, refused.body)
				}
				if n := len(v.sent()); n != 1 {
					t.Errorf("the upstream was asked %d times, want once", n)
				}
				if failing := v.metric("tokenfare_ledger_unavailable_seconds"); failing < 5 {
					t.Errorf("unavailable for %v seconds, want at least 5", failing)
				}
				if n := v.metric("tokenfare_ledger_failures_total"); int(n) != v.store.attempts() || n < 2 {
					t.Errorf("%v failures counted of %d attempts", n, v.store.attempts())
				}
				if lines := v.log.lines("ledger unavailable"); len(lines) != 1 || !strings.Contains(lines[0], "cats") || !strings.Contains(lines[0], `"level":"ERROR"`) {
					t.Errorf("the log has %d lines about it: %v", len(lines), lines)
				}

				v.store.be(0, nil)
				time.Sleep(2 * time.Second)
				x := v.store.only(t)
				if used := v.states()["key alice: tokens in total"].Used; charged(x.End.Charges)["key alice: tokens in total"] != used || used == 0 {
					t.Errorf("charged %v, and the limiter has counted %d", x.End.Charges, used)
				}
				if got := v.chat(c.body); got.status != http.StatusOK {
					t.Errorf("after the ledger has come back: %d %s", got.status, got.body)
				}
				if failing := v.metric("tokenfare_ledger_unavailable_seconds"); failing != 0 {
					t.Errorf("unavailable for %v seconds although it is not", failing)
				}
				if lines := v.log.lines("ledger available again"); len(lines) != 1 {
					t.Errorf("the log has %d lines about its return", len(lines))
				}
			})
		})
	}
}
