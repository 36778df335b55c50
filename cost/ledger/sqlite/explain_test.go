package sqlite

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A shell of SQLite's that has the ledger open in the middle of a transaction is what keeps it from being written, and is named.
func TestAnotherProgramInTheWayIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(0)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	_, busy := db.Begin()
	if err := explain(path, busy); err == nil || !errors.Is(err, busy) || !strings.Contains(err.Error(), "another program writes to "+path) {
		t.Errorf("%v", err)
	}
	if other := errors.New("else"); !errors.Is(explain(path, other), other) {
		t.Error("errors of others are to stay as they are")
	}
}
