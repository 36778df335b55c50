package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

func TestABackupIsALedgerOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "usage.db"), filepath.Join(dir, "copy.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(running) }()
	id := w.IDs().Next()
	ticket := w.Begin(&ledger.Begin{Exchange: id, Series: ledger.Series{Key: "alice"}, Model: "gpt-5-mini"})
	if err := ticket.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(t.Context(), path, to); err != nil { // while the writer runs
		t.Fatal(err)
	}
	later := w.Begin(&ledger.Begin{Exchange: w.IDs().Next(), Series: ledger.Series{Key: "alice"}, Model: "gpt-5-mini"})
	if err := later.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	copied, err := sqlite.Open(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	s, err := copied.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var began []ledger.ID
	err = s.Began(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), func(x *ledger.Exchange) error {
		began = append(began, x.Begin.Exchange)
		return nil
	})
	if err != nil || len(began) != 1 || began[0] != id {
		t.Errorf("the copy holds %v (%v), want %v alone", began, err, id)
	}
	if err := sqlite.Backup(t.Context(), path, to); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second backup over the first: %v", err)
	}
	if err := sqlite.Backup(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "x.db")); err == nil {
		t.Error("a ledger that is not there was backed up")
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy can be read by others: %v %v", info.Mode(), err)
	}
}
