package ledger_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// fails so many times.
func fails(n int) func(context.Context, *ledger.Batch) error {
	return func(context.Context, *ledger.Batch) error {
		if n--; n >= 0 {
			return errBroken
		}
		return nil
	}
}

// The memory sees to it that the batch is the same, and that nothing is written twice.
func TestAFailedCommitIsTriedAgain(t *testing.T) {
	for name, where := range map[string]func(m *memory, f func(context.Context, *ledger.Batch) error){
		"nothing was written": func(m *memory, f func(context.Context, *ledger.Batch) error) { m.onCommit(f, nil) },
		"it was written":      func(m *memory, f func(context.Context, *ledger.Batch) error) { m.onCommit(nil, f) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				w, stop := run(t, m, ledger.Options{})
				for i := range 40 {
					where(m, fails(i%6))
					b := begun(w, "key", 3)
					durable(t, w.Begin(b))
					w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: 1})
					w.Refused("key", "model", "code")
					w.End(ended(b, 2))
					durable(t, w.Correct([]*ledger.Correction{corrected(b, 1)}))
				}
				where(m, nil)
				stopped(t, stop)
				m.balanced()
				m.look(func() {
					if len(m.rows) != 40 || len(m.corrected) != 40 || m.refused[ledger.Refusal{Hour: ledger.HourOf(time.Now()), Key: "key", Model: "model", Code: "code"}] != 40 {
						t.Errorf("%d exchanges, %d corrections, refusals %v; want 40 of each", len(m.rows), len(m.corrected), m.refused)
					}
				})
				if s := w.Stats(); s.Lost != 0 || s.Failures == 0 || s.Failing != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// Retries come soon at first, and every second later.
func TestRetriesTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		var tries []time.Time
		m.onCommit(func(context.Context, *ledger.Batch) error {
			m.look(func() { tries = append(tries, time.Now()) })
			return errBroken
		}, nil)
		w, stop := run(t, m, ledger.Options{})
		w.Begin(begun(w, "key", 1))
		time.Sleep(30 * time.Second)
		m.look(func() {
			if first := tries[1].Sub(tries[0]); first > 50*time.Millisecond {
				t.Errorf("the first retry comes after %v", first)
			}
			if last := tries[len(tries)-1].Sub(tries[len(tries)-2]); last != time.Second || len(tries) < 30 || len(tries) > 40 {
				t.Errorf("%d tries in 30 s, the last after %v", len(tries), last)
			}
		})
		m.onCommit(nil, nil)
		stopped(t, stop)
	})
}

// records are what was logged.
type records struct {
	mu   sync.Mutex
	list []slog.Record
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }
func (r *records) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, record)
	return nil
}

func (r *records) messages() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.list {
		all = append(all, record.Message)
	}
	return all
}

// As long as the ledger cannot be written nothing new is to be spent, and as soon as it can, all goes on.
func TestALedgerThatRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		log := new(records)
		w, stop := run(t, m, ledger.Options{Log: slog.New(log)})
		if err := w.Err(); err != nil || w.Admit() != nil {
			t.Errorf("at first: %v", err)
		}
		m.onCommit(broken, nil)
		b := begun(w, "key", 3)
		ticket := w.Begin(b)
		time.Sleep(50 * time.Millisecond)
		if err := w.Err(); !errors.Is(err, ledger.ErrUnavailable) || !errors.Is(err, errBroken) {
			t.Errorf("after a failure: %v", err)
		}
		if err := w.Admit(); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("admit: %v", err)
		}
		unavailable(t, ticket)
		w.End(ended(b, 2)) // ends of what began before are taken
		time.Sleep(time.Hour)
		if s := w.Stats(); s.Failing < time.Hour || s.Queued != 2 || s.Failures < 3600 {
			t.Errorf("after an hour: %+v", s)
		}
		m.onCommit(nil, nil)
		time.Sleep(2 * time.Second)
		if err := w.Err(); err != nil || w.Admit() != nil || w.Stats().Failing != 0 {
			t.Errorf("after it has recovered: %v, %+v", err, w.Stats())
		}
		durable(t, ticket)
		durable(t, w.Begin(begun(w, "key", 1)))
		if got := strings.Join(log.messages(), ", "); got != "ledger unavailable, ledger available again" {
			t.Errorf("logged: %s", got)
		}
		stopped(t, stop)
	})
}

// Rows whose commit fails wait, like those that come after them.
func TestRowsThatAreTriedAgainAreQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.onCommit(fails(1<<30), nil)
		w, stop := run(t, m, ledger.Options{})
		w.Begin(begun(w, "key", 1))
		time.Sleep(10 * time.Second)
		if s := w.Stats(); s.Queued != 1 || s.Rows != 0 {
			t.Errorf("a row is tried again, and %d are queued and %d written", s.Queued, s.Rows)
		}
		w.Begin(begun(w, "key", 1))
		if s := w.Stats(); s.Queued != 2 {
			t.Errorf("a row is tried again, one has come since, and %d are queued", s.Queued)
		}
		m.onCommit(nil, nil)
		time.Sleep(10 * time.Second)
		if s := w.Stats(); s.Queued != 0 || s.Rows != 2 {
			t.Errorf("all are written, and %d are queued and %d written", s.Queued, s.Rows)
		}
		stopped(t, stop)
	})
}
