package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// shared is a store that ends what others leave.
type shared struct {
	*memory
	mu      sync.Mutex
	ended   int64
	trouble error
}

func (s *shared) Adopted() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended, s.trouble
}

func (s *shared) set(ended int64, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.trouble = ended, trouble
}

func TestWhatOthersLeftIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		s := &shared{memory: newMemory(t)}
		w, _, err := ledger.Open(t.Context(), s, ledger.Options{Log: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		for _, now := range []struct {
			ended   int64
			trouble error
		}{{0, nil}, {3, nil}, {3, errors.New("no room")}, {5, nil}} {
			s.set(now.ended, now.trouble)
			time.Sleep(5 * time.Second)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for line, times := range map[string]int{"unfinished_calls_of_others=3": 1, "unfinished_calls_of_others=2": 1, "no room": 1, "\n": 3} {
			if got := strings.Count(text.String(), line); got != times {
				t.Errorf("the log has %q %d times, want %d:\n%s", line, got, times, text.String())
			}
		}
	})
}

// A writer that was taken for dead, or whose ledger was replaced, does not go on trying: it never can.
func TestFencedWriterEnds(t *testing.T) {
	for _, why := range []error{ledger.ErrFenced, ledger.ErrLocked} {
		t.Run(why.Error(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { endsBecause(t, why) }) })
	}
}

func endsBecause(t *testing.T, why error) {
	m := newMemory(t)
	m.onCommit(func(context.Context, *ledger.Batch) error { return fmt.Errorf("write: %w", why) }, nil)
	w, _, err := ledger.Open(t.Context(), m, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ticket := w.Begin(begun(w, "key", 5))
	began := time.Now()
	if err := w.Run(t.Context()); !errors.Is(err, why) || !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("Run returns %v, want errors that match it and ErrUnavailable", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Run returns after %v", took)
	}
	if err := ticket.Wait(t.Context()); !errors.Is(err, why) {
		t.Errorf("a row of its is said to be durable: %v", err)
	}
	if m.commits() != 0 || w.Stats().Failures != 1 {
		t.Errorf("%d commits, %+v; want none, and one attempt", m.commits(), w.Stats())
	}
}

// A writer without work says how far its rows are in the sums, now and then, so that readers need not look for others.
func TestIdleWriterKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		_, stop := run(t, m, ledger.Options{RollIdle: 15 * time.Second})
		time.Sleep(time.Minute + time.Second)
		stopped(t, stop)
		if n := m.commits(); n < 3 || n > 5 {
			t.Errorf("%d commits in a minute, want about 4", n)
		}
		if late := time.Since(m.rolled.Time()); late > 20*time.Second {
			t.Errorf("rows are said to be in the sums up to %v ago", late)
		}
	})
}

// silent is a store whose writer others may have taken for dead.
type silent struct{ *memory }

func (silent) Living() bool { return false }

// Who may have been taken for dead begins nothing, unless serving goes before recording.
func TestSilentWriterAdmitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, serve := range []bool{false, true} {
			w, _, err := ledger.Open(t.Context(), silent{newMemory(t)}, ledger.Options{Serve: serve})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Admit(); errors.Is(err, ledger.ErrUnavailable) == serve || w.Err() != nil {
				t.Errorf("serve %t: %v; the ledger itself: %v", serve, err, w.Err())
			}
		}
	})
}
