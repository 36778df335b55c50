package sqlite_test

import (
	"cmp"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// exchange is a begin row and the end row to it.
func exchange(id ledger.ID, n int64) (*ledger.Begin, *ledger.End) {
	charges := []ledger.Charge{{Budget: ledger.Budget{Name: "budget", Unit: "tokens"}, N: n}}
	return &ledger.Begin{Exchange: id, Series: ledger.Series{Key: "key"}, Model: "model", Most: cost.Usage{Input: n}, Charges: charges},
		&ledger.End{Exchange: id, Status: 200, Ending: "complete", Basis: ledger.Reported, Usage: cost.Usage{Input: n}, Charges: append([]ledger.Charge(nil), charges...)}
}

// writing runs a writer over a store. What it returns ends the writer.
func writing(t testing.TB, s ledger.Store, o ledger.Options) (w *ledger.Writer, stop func() error) {
	t.Helper()
	o.Patience = cmp.Or(o.Patience, time.Minute) // a disk that others use, too, may take long
	w, _, err := ledger.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return w, func() error {
		cancel()
		return <-ended
	}
}

// aLedger makes one with so many exchanges, rolled up, and closes it.
func aLedger(t testing.TB, exchanges int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "usage.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, s, ledger.Options{})
	for range exchanges {
		b, e := exchange(w.IDs().Next(), 7)
		w.Begin(b)
		w.End(e)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// reads calls f with a snapshot of a store.
func reads(t testing.TB, s ledger.Store, f func(ledger.Snapshot)) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	f(snapshot)
}

// everyID are the exchanges that are there, and whether they have ended.
func everyID(t testing.TB, s ledger.Store) map[ledger.ID]bool {
	t.Helper()
	all := map[ledger.ID]bool{}
	reads(t, s, func(r ledger.Snapshot) {
		err := r.Began(t.Context(), time.Time{}, time.Now().Add(time.Hour), func(x *ledger.Exchange) error {
			all[x.Begin.Exchange] = x.End != nil
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return all
}

// sound checks the file as SQLite does.
func sound(t testing.TB, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Errorf("integrity check: %s, %v", result, err)
	}
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
