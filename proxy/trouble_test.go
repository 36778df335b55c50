package proxy_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestALedgerThatHangsIsOneThatCannotBeWritten: what the upstream would do for calls that nobody gets an answer to is not asked for.
func TestALedgerThatHangsIsOneThatCannotBeWritten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "1000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)))
		v.store.be(time.Hour, nil)
		if got := v.chat(hi); got.status != http.StatusServiceUnavailable || got.whole != 5*time.Second {
			t.Fatalf("%d after %s: %s", got.status, got.whole, got.body)
		}
		time.Sleep(time.Millisecond) // the writer notices at the same instant
		if got := v.chat(hi); got.status != http.StatusServiceUnavailable || got.whole != 0 {
			t.Errorf("a new call: %d after %s: %s", got.status, got.whole, got.body)
		}
		if n := len(v.sent()); n != 1 {
			t.Errorf("the upstream was asked %d times, want once", n)
		}
		if lines := v.log.lines("ledger unavailable"); len(lines) != 1 {
			t.Errorf("the log has %d lines about it", len(lines))
		}
		if n := v.metric("tokenfare_ledger_failures_total"); n != 0 {
			t.Errorf("%v commits failed although the first still runs", n)
		}
		v.store.be(0, nil) // for the next attempt
		time.Sleep(time.Minute)
		if x := v.store.only(t); x.End.Ending != "complete" || x.End.Usage.Input != 9 {
			t.Errorf("%+v", x.End)
		}
		if got := v.chat(hi); got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestServingGoesBeforeRecording: with on_failure: serve, a call waits at most until it is known that the ledger cannot be written.
func TestServingGoesBeforeRecording(t *testing.T) {
	for _, c := range []struct {
		name string
		slow time.Duration
		most time.Duration // that a call waits which begins while nothing is known yet
	}{
		{"it fails at once", 0, 0},
		{"it fails after a while", 2 * time.Second, 4 * time.Second},
		{"it hangs", 20 * time.Second, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "10000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)), func(s *settings) {
					s.ledger.Serve = true
				})
				v.store.be(c.slow, errDisk)
				var all sync.WaitGroup
				for i := range 5 { // the first is in the commit that fails, the others wait for the next one
					all.Go(func() {
						time.Sleep(time.Duration(i) * 100 * time.Millisecond)
						if got := v.chat(hi); got.status != http.StatusOK || got.whole > c.most {
							t.Errorf("call %d: %d after %s: %s", i, got.status, got.whole, got.body)
						}
					})
				}
				all.Wait()
				if got := v.chat(hi); got.status != http.StatusOK || got.whole != 0 {
					t.Errorf("once it is known: %d after %s", got.status, got.whole)
				}
				if n := len(v.store.rows(t)); n != 0 {
					t.Fatalf("%d rows are in a store that cannot be written", n)
				}
				if lines := v.log.lines("ledger unavailable"); len(lines) != 1 || !strings.Contains(lines[0], "served all the same") {
					t.Errorf("the log says %v", lines)
				}
				v.store.be(0, nil)
				time.Sleep(time.Minute)
				if rows := v.store.rows(t); len(rows) != 6 {
					t.Errorf("%d exchanges were recorded later, want 6", len(rows))
				}
				v.store.be(time.Second, nil)
				if got := v.chat(hi); got.whole != time.Second {
					t.Errorf("once it can be written, a call waits %s for its row, want a second", got.whole)
				}
			})
		})
	}
}

// TestWhatDoesNotFitInMemoryIsCounted: with on_failure: serve, and only then.
func TestWhatDoesNotFitInMemoryIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "10000 tokens in total"), answerWith(http.StatusOK, plainAnswer(9, 4)), func(s *settings) {
			s.ledger.Serve, s.ledger.MostQueued = true, 6
		})
		v.store.be(0, errDisk)
		for range 20 {
			if got := v.chat(hi); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		lost := v.metric("tokenfare_ledger_lost_rows_total")
		v.store.be(0, nil)
		time.Sleep(time.Minute)
		rows := v.store.rows(t)
		if len(rows) < 3 || len(rows) > 5 || int(lost) < 2*(20-len(rows))-1 || int(lost) > 2*(20-len(rows)) {
			t.Errorf("%d exchanges have rows, and %v rows of 20 exchanges are lost", len(rows), lost)
		}
		if used := v.states()["key alice: tokens in total"].Used; used != 20*13 {
			t.Errorf("the budget has counted %d, want %d", used, 20*13)
		}
	})
}

// TestAClientThatLeavesWhileItsRowIsWritten: its answer is there, so it is charged like one that was sent, and once.
func TestAClientThatLeavesWhileItsRowIsWritten(t *testing.T) {
	for i, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, "1000 tokens in total"), c.upstream)
				v.store.be(2*time.Second, nil)
				ctx, leave := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer leave()
				if got := v.chatUntil(ctx, c.body); !errors.Is(got.err, context.DeadlineExceeded) || got.first != never {
					t.Errorf("%d, first byte after %s, %v", got.status, got.first, got.err)
				}
				synctest.Wait()
				if n := v.limiter.OpenCount(); n != 0 {
					t.Errorf("%d reservations are open", n)
				}
				time.Sleep(time.Minute)
				x := v.store.only(t)
				ending, charge := "complete", int64(13) // a short answer was read
				switch i {
				case 1, 2: // of a long one nothing
					ending, charge = "broken", reserved
				case 3:
					ending, charge = "broken_stream", 8
				}
				used := v.states()["key alice: tokens in total"].Used
				if x.End.Ending != ending || used != charge || charged(x.End.Charges)["key alice: tokens in total"] != charge {
					t.Errorf("ended as %s, the limiter has counted %d, the row has %v; want %s and %d", x.End.Ending, used, x.End.Charges, ending, charge)
				}
			})
		})
	}
}
