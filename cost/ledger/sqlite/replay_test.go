package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// halting is a store whose commits halt before they have written anything, once it is told to.
type halting struct {
	ledger.Store
	halts  chan struct{} // closed: commits halt from now on
	halted chan struct{} // receives for each commit that does
	freed  chan struct{} // closed: those fail for good
}

func (h *halting) Commit(ctx context.Context, b *ledger.Batch) error {
	select {
	case <-h.halts:
		h.halted <- struct{}{}
		<-h.freed
		return ledger.ErrLocked
	default:
		return h.Store.Commit(ctx, b)
	}
}

// mortal is a ledger with a journal, as a proxy has it that will be killed.
type mortal struct {
	t     testing.TB
	path  string
	store *halting
	w     *ledger.Writer
}

func newMortal(t testing.TB, o ledger.Options) *mortal {
	t.Helper()
	m := &mortal{t: t, path: filepath.Join(t.TempDir(), "usage.db")}
	store, err := sqlite.Open(t.Context(), m.path)
	if err != nil {
		t.Fatal(err)
	}
	if o.Journal, err = sqlite.Journal(t.Context(), store, m.path); err != nil {
		t.Fatal(err)
	}
	m.store = &halting{store, make(chan struct{}), make(chan struct{}, 100), make(chan struct{})}
	if m.w, _, err = ledger.Open(t.Context(), m.store, o); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.w.Run(running) // what it says of rows that are lost is of no interest
	}()
	t.Cleanup(func() {
		stop()
		close(m.store.freed)
		<-ended
		store.Close()
	})
	return m
}

// halt makes commits halt. What was committed before is in the store.
func (m *mortal) halt() {
	close(m.store.halts)
}

// begin queues a begin row.
func (m *mortal) begin() (ledger.ID, ledger.Ticket) {
	id := m.w.IDs().Next()
	return id, m.w.Begin(&ledger.Begin{Exchange: id, Series: ledger.Series{Key: "alice"}, Model: "gpt-5-mini"})
}

func (m *mortal) wait(ticket ledger.Ticket) {
	m.t.Helper()
	if err := ticket.Wait(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// killed is the path of what a process leaves that is killed now.
func (m *mortal) killed() string {
	m.t.Helper()
	to := filepath.Join(m.t.TempDir(), "usage.db")
	for _, part := range []string{"", "-wal", "-tail0", "-tail1"} {
		content, err := os.ReadFile(m.path + part)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+part, content, 0o600)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
	return to
}

// found are the exchanges of the ledger at path, as who reads it finds them. It is whole, or the test fails.
func found(t testing.TB, path string) (began []ledger.ID) {
	t.Helper()
	store, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Began(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), func(x *ledger.Exchange) error {
		began = append(began, x.Begin.Exchange)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Strays(t.Context(), func(stray ledger.Stray) error {
		t.Errorf("a row belongs to nothing: %+v", stray)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return began
}

// A batch is being committed, and nobody has waited for any of its rows. What somebody waited for meanwhile is of the next, and survives.
func TestKilledDuringACommitThatNobodyWaitsFor(t *testing.T) {
	for name, first := range map[string]func(m *mortal){
		"rows": func(m *mortal) { m.begin() },
		"an error": func(m *mortal) {
			id, _ := m.begin()
			m.w.End(&ledger.End{Exchange: id, Status: 500, Basis: ledger.Nothing})
		},
		"refusals": func(m *mortal) { m.w.Refused("alice", "gpt-5-mini", "insufficient_quota") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMortal(t, ledger.Options{Late: time.Millisecond, RollEvery: 20 * time.Millisecond})
			_, before := m.begin()
			if err := before.Stored(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.halt()
			first(m)
			<-m.store.halted
			id, ticket := m.begin()
			m.wait(ticket)
			if all := found(t, m.killed()); !slices.Contains(all, id) {
				t.Errorf("an answer has left whose row is lost: %v is not among %v", id, all)
			}
		})
	}
}

// What is in the journal of an exchange is never without its begin row.
func TestKilledBetweenTheRowsOfAnExchange(t *testing.T) {
	m := newMortal(t, ledger.Options{Late: time.Millisecond})
	m.halt()
	_, ticket := m.begin()
	m.wait(ticket)
	failed, _ := m.begin() // its answer is an error, which waits for nothing
	<-m.store.halted
	m.w.End(&ledger.End{Exchange: failed, Status: 500, Basis: ledger.Nothing})
	id, ticket := m.begin()
	m.wait(ticket)
	if all := found(t, m.killed()); !slices.Contains(all, id) {
		t.Errorf("an answer has left whose row is lost: %v is not among %v", id, all)
	}
}

// A copy of what was killed holds what its journal holds, by whatever name it is called.
func TestABackupOfWhatWasKilled(t *testing.T) {
	m := newMortal(t, ledger.Options{Late: time.Hour, RollEvery: time.Hour})
	id, ticket := m.begin()
	m.wait(ticket)
	path, link, to := m.killed(), filepath.Join(t.TempDir(), "link.db"), filepath.Join(t.TempDir(), "copy.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), link, to); err != nil {
		t.Fatal(err)
	}
	if all := found(t, to); !slices.Contains(all, id) {
		t.Errorf("the copy holds %v, and not %v, which was in the journal", all, id)
	}
}

// A proxy that runs has a journal. Who reads its ledger does not wait for it to end.
func TestReadersDoNotWaitForTheLock(t *testing.T) {
	m := newMortal(t, ledger.Options{Late: time.Hour, RollEvery: time.Hour})
	_, ticket := m.begin()
	m.wait(ticket)
	if _, err := os.Stat(m.path + "-tail1"); err != nil {
		t.Fatal(err)
	}
	defer func(before time.Duration) { *sqlite.LockTime = before }(*sqlite.LockTime)
	*sqlite.LockTime = 24 * time.Hour
	patient, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	store, err := sqlite.OpenReader(patient, m.path)
	if err != nil {
		t.Fatalf("who reads waits for the lock that the writer keeps as long as it runs: %v", err)
	}
	store.Close()
}

// After a power loss, what the journal has of one batch may be older than what it has of the next: rows of an exchange whose begin row is
// gone are gone, too, and all others are not.
func TestReplayedRowsBelongToSomething(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Journal(t.Context(), store, path)
	if err != nil {
		t.Fatal(err)
	}
	ids := ledger.NewIDs(past.Slot, past.Last)
	there, gone := &ledger.Begin{Exchange: ids.Next(), Model: "gpt-5-mini"}, ids.Next()
	for _, b := range []*ledger.Batch{
		{Number: past.Batch + 1, Begins: []*ledger.Begin{there}},
		{
			Number: past.Batch + 2,
			Draws:  []*ledger.Draw{{Exchange: gone, Step: 1}, {Exchange: there.Exchange, Step: 1}},
			Ends:   []*ledger.End{{Exchange: gone, Seq: ids.Next(), Status: 200}, {Exchange: there.Exchange, Seq: ids.Next(), Status: 200}},
		},
	} {
		if err := j.Keep(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if all := found(t, path); !slices.Equal(all, []ledger.ID{there.Exchange}) {
		t.Errorf("the ledger has %v, want %v", all, there.Exchange)
	}
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reads(t, reader, func(s ledger.Snapshot) {
		if x, err := s.Find(t.Context(), there.Exchange); err != nil || x.End == nil || len(x.Draws) != 1 {
			t.Errorf("the exchange is %+v, %v; want it with its draw and its end", x, err)
		}
	})
}

// Whose an object is, what was corrected, who was told and what a price is outlast the process as calls do, and no id is given twice.
func TestKilledWithRowsOfEveryKind(t *testing.T) {
	m := newMortal(t, ledger.Options{Late: time.Hour, RollEvery: time.Hour})
	id, _ := m.begin()
	m.w.Price(ledger.PriceCard{Version: "p1", Card: "{}"})
	m.w.Notify(ledger.Notice{Budget: "budget", At: "80%"})
	m.w.End(&ledger.End{Exchange: id, Status: 200, Basis: ledger.Reported, Ending: "complete"})
	m.w.Correct([]*ledger.Correction{{Exchange: id, Was: ledger.Reported, Basis: ledger.Nothing}})
	m.wait(m.w.Own([]*ledger.Owned{{ID: "resp_1", Kind: ledger.Response, Key: "alice"}}))
	newest := m.w.IDs().Next()

	store, err := sqlite.Open(t.Context(), m.killed())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w, stop := writing(t, store, ledger.Options{})
	if owned, err := w.Owned(t.Context(), "alice", []string{"resp_1"}); err != nil || len(owned) != 1 {
		t.Errorf("alice owns %v, %v", owned, err)
	}
	if next := w.IDs().Next(); next <= newest {
		t.Errorf("the next id is %v, and %v was made before the kill", next, newest)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	reads(t, store, func(s ledger.Snapshot) {
		card, err := s.Price(t.Context(), "p1")
		if err != nil || card != "{}" {
			t.Errorf("the price is %q, %v", card, err)
		}
		if told, err := s.Notices(t.Context()); err != nil || len(told) != 1 {
			t.Errorf("the notices are %v, %v", told, err)
		}
		corrections := 0
		err = s.Corrections(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), func(*ledger.Correction) error { corrections++; return nil })
		if err != nil || corrections != 1 {
			t.Errorf("%d corrections, %v; want one", corrections, err)
		}
		requests := int64(0)
		q := ledger.HourQuery{From: time.Unix(0, 0), To: time.Now().Add(24 * time.Hour).Truncate(time.Hour)}
		err = s.Hours(t.Context(), q, func(_ ledger.Hour, sums ledger.Sums) error { requests += sums.Requests; return nil })
		if err != nil || requests != 1 {
			t.Errorf("the sums are of %d calls, %v; want one", requests, err)
		}
	})
}
