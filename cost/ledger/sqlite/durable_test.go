package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// TestCommitsWaitForTheDisk: what was committed outlasts a power loss. A test cannot cut the power everywhere, so this asks SQLite.
func TestCommitsWaitForTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db := sqlite.ConnectWriter(path)
	defer db.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "wal",
		"synchronous":  "2", // FULL: with a log, what is less loses the last commits
	} {
		var is string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&is); err != nil || is != want {
			t.Errorf("%s is %q (%v), want %q", pragma, is, err, want)
		}
	}
}
