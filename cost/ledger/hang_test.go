package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// hangs until it is told to stop.
func hangs(ctx context.Context, _ *ledger.Batch) error {
	<-ctx.Done()
	return ctx.Err()
}

// deaf hangs until release is closed, whatever it is told.
func deaf(release chan struct{}) func(context.Context, *ledger.Batch) error {
	return func(context.Context, *ledger.Batch) error {
		<-release
		return nil
	}
}

func TestTicketsWaitForTheirPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(slow(20*time.Second), nil)
		w, stop := run(t, m, ledger.Options{Patience: 3 * time.Second})
		b := begun(w, "key", 1)
		ticket := w.Begin(b)
		began := time.Now()
		unavailable(t, ticket)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the ticket waited for %v, want 3 s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := ticket.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v, want the context's error", err)
		}
		time.Sleep(20 * time.Second)
		durable(t, ticket) // late
		if !m.has(b.Exchange) {
			t.Error("the row is not there")
		}
		stopped(t, stop)
	})
}

// A store that does not answer is as good as none: nothing new is to be spent until it does.
func TestAStoreThatHangsIsUnavailable(t *testing.T) {
	for name, listens := range map[string]bool{"listens": true, "deaf": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				release := make(chan struct{})
				w, stop := run(t, m, ledger.Options{Patience: 2 * time.Second})
				durable(t, w.Begin(begun(w, "key", 1)))
				m.onCommit(deaf(release), nil)
				if listens {
					m.onCommit(hangs, nil)
				}
				b := begun(w, "key", 1)
				ticket := w.Begin(b)
				time.Sleep(time.Second)
				if err := w.Err(); err != nil {
					t.Errorf("after a second: %v", err)
				}
				time.Sleep(2 * time.Second)
				if err := w.Err(); !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "2s") {
					t.Errorf("after three seconds without an answer: %v", err)
				}
				if err := w.Admit(); !errors.Is(err, ledger.ErrUnavailable) {
					t.Errorf("admit: %v", err)
				}
				unavailable(t, ticket)
				time.Sleep(3 * time.Minute)
				if err := w.Err(); !errors.Is(err, ledger.ErrUnavailable) || w.Stats().Failing < 3*time.Minute {
					t.Errorf("after three minutes: %v, %+v", err, w.Stats())
				}
				m.onCommit(nil, nil)
				close(release)
				time.Sleep(time.Minute)
				durable(t, ticket)
				if err := w.Err(); err != nil || !m.has(b.Exchange) {
					t.Errorf("the store answers again: %v; the row is there: %v", err, m.has(b.Exchange))
				}
				w.End(ended(b, 1))
				stopped(t, stop)
			})
		})
	}
}

// The end gives up a store that hangs, however deaf it is.
func TestTheEndGivesUpAStoreThatHangs(t *testing.T) {
	for name, listens := range map[string]bool{"listens": true, "deaf": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				release := make(chan struct{})
				m.onCommit(deaf(release), nil)
				if listens {
					m.onCommit(hangs, nil)
				}
				w, stop := run(t, m, ledger.Options{})
				w.Begin(begun(w, "key", 1))
				time.Sleep(time.Second)
				w.Begin(begun(w, "key", 1))
				began := time.Now()
				err := stop()
				if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), " 2 rows ") {
					t.Errorf("run: %v; want one that says that 2 rows are lost", err)
				}
				if took := time.Since(began); took > 25*time.Second {
					t.Errorf("it took %v to give up", took)
				}
				m.onCommit(nil, nil)
				close(release)
				synctest.Wait()
			})
		})
	}
}

// What is queued while the last rows are written is written, too.
func TestTheEndWritesWhatComesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		b := begun(w, "key", 1)
		durable(t, w.Begin(b))
		m.onCommit(slow(time.Second), nil)
		w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1})
		stopping := make(chan error)
		go func() { stopping <- stop() }()
		time.Sleep(500 * time.Millisecond)
		w.End(ended(b, 1))
		if err := <-stopping; err != nil {
			t.Error(err)
		}
		m.balanced()
	})
}

// One attempt has time enough for a batch of any size.
func TestALargeBatchHasTimeEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		m.onCommit(broken, nil)
		w.Begin(begun(w, "key", 1))
		time.Sleep(time.Second)
		for range 40_000 {
			w.Begin(begun(w, "key", 1))
		}
		perRow := func(ctx context.Context, b *ledger.Batch) error {
			return slow(time.Duration(len(b.Begins))*1500*time.Microsecond)(ctx, b)
		}
		m.onCommit(perRow, nil)
		time.Sleep(5 * time.Minute)
		if n := m.commits(); n != 2 || w.Err() != nil {
			t.Errorf("%d commits in five minutes: %v; want 2", n, w.Err())
		}
		stopped(t, stop)
	})
}

// Pruning that hangs holds up commits, so it is told to stop, and the ledger is unavailable meanwhile.
func TestPruningThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &sticky{memory: newMemory(t), hold: make(chan struct{})}
		w, stop := run(t, m, ledger.Options{Keep: time.Hour})
		durable(t, w.Begin(begun(w, "key", 1)))
		time.Sleep(time.Second)
		ticket := w.Begin(begun(w, "key", 1))
		unavailable(t, ticket)
		if w.Err() == nil {
			t.Error("the ledger is said to be available while pruning hangs")
		}
		time.Sleep(time.Minute)
		durable(t, ticket)
		if err := w.Err(); err != nil {
			t.Errorf("after pruning was told to stop: %v", err)
		}
		close(m.hold)
		stopped(t, stop)
	})
}

// sticky hangs when it prunes, until it is told to stop or hold is closed.
type sticky struct {
	*memory
	hold chan struct{}
}

func (s *sticky) Prune(ctx context.Context, _ time.Time, _ int) (int, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.hold:
		return 0, nil
	}
}
