package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

func TestTheEndWritesWhatIsLeft(t *testing.T) {
	for i := range 20 { // some of it depends on who comes first
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.onCommit(slow(time.Second), nil)
			w, stop := run(t, m, ledger.Options{})
			var list []*ledger.Begin
			for range 10 { // the first goes alone, the others wait
				b := begun(w, "key", 3)
				list = append(list, b)
				w.Begin(b)
				w.End(ended(b, 2))
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			}
			w.Refused("key", "model", "code")
			w.Correct([]*ledger.Correction{corrected(list[0], 1)})
			w.Notify(ledger.Notice{Budget: "budget"})
			w.Price(ledger.PriceCard{Version: "v1"})
			stopped(t, stop)
			m.balanced()
			for i, b := range list {
				if !m.has(b.Exchange) {
					t.Errorf("exchange %d is not there", i)
				}
			}
			m.look(func() {
				if len(m.corrected) != 1 || len(m.notices) != 1 || len(m.prices) != 1 || len(m.refused) != 1 {
					t.Errorf("%d corrections, %d notices, %d prices, %d refusals; want one of each", len(m.corrected), len(m.notices), len(m.prices), len(m.refused))
				}
			})
		})
	}
}

func TestTheEndTriesForTenSecondsAndSaysWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		durable(t, w.Begin(begun(w, "key", 1)))
		m.onCommit(broken, nil)
		w.Begin(begun(w, "key", 1))
		time.Sleep(time.Minute)
		for range 6 {
			w.Begin(begun(w, "key", 1))
		}
		began := time.Now()
		err := stop()
		if !errors.Is(err, ledger.ErrUnavailable) || !errors.Is(err, errBroken) || !strings.Contains(fmt.Sprint(err), " 7 rows ") {
			t.Errorf("run: %v; want one that says that 7 rows are lost, and why", err)
		}
		if took := time.Since(began); took < 9*time.Second || took > 12*time.Second {
			t.Errorf("it took %v to give up, want 10 s", took)
		}
	})
}

func TestTheEndWaitsForALedgerThatRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(broken, nil)
		w, stop := run(t, m, ledger.Options{})
		b := begun(w, "key", 1)
		w.Begin(b)
		time.Sleep(3 * time.Second)
		w.End(ended(b, 1))
		time.AfterFunc(8*time.Second, func() { m.onCommit(nil, nil) })
		stopped(t, stop)
		m.balanced()
		if w.Err() != nil || !m.has(b.Exchange) {
			t.Errorf("%v; the row is there: %v", w.Err(), m.has(b.Exchange))
		}
	})
}

// A context that ends in the middle of a commit leaves its outcome unknown, and the end tries the same batch again.
func TestTheEndRepeatsACommitItInterrupted(t *testing.T) {
	for _, written := range []bool{false, true} {
		t.Run(fmt.Sprintf("written=%v", written), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				hang := func(ctx context.Context, _ *ledger.Batch) error {
					m.onCommit(nil, nil)
					<-ctx.Done()
					return ctx.Err()
				}
				if written {
					m.onCommit(nil, hang)
				} else {
					m.onCommit(hang, nil)
				}
				w, stop := run(t, m, ledger.Options{})
				b := begun(w, "key", 3)
				ticket := w.Begin(b)
				time.Sleep(time.Second)
				w.End(ended(b, 2))
				stopped(t, stop)
				durable(t, ticket)
				m.balanced()
				m.look(func() {
					if len(m.rows) != 1 {
						t.Errorf("%d exchanges are there, want 1", len(m.rows))
					}
				})
			})
		})
	}
}

func TestCallersWhoGoOnAtTheEndDoNotHoldItUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(slow(5*time.Millisecond), nil)
		w, stop := run(t, m, ledger.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				for ctx.Err() == nil {
					b := begun(w, "key", 1)
					w.Begin(b)
					time.Sleep(4 * time.Millisecond)
					w.End(ended(b, 1))
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		err := stop()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v: %v", took, err)
		}
		cancel()
		wg.Wait()
	})
}
