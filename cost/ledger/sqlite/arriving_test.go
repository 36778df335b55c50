package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// What another program does to the schema makes SQLite ask for the table of arriving rows anew: the next batch is written as the one
// before was.
func TestTheSchemaChangesWhileRowsArrive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids, written := ledger.NewIDs(past.Slot, past.Last), 0
	for i, change := range []string{"", "CREATE INDEX by_model ON begins (model)", "ANALYZE", "DROP INDEX by_model", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := other.Exec(change); err != nil {
			t.Fatal(change, err)
		}
		b := &ledger.Batch{Slot: past.Slot, Number: past.Batch + int64(i) + 1}
		for range 3 + i {
			begin, end := served(ids.Next())
			end.Seq = ids.Next()
			b.Begins, b.Ends = append(b.Begins, begin), append(b.Ends, end)
		}
		if err := store.Commit(t.Context(), b); err != nil {
			t.Fatalf("after %q: %v", change, err)
		}
		written += 3 + i
		if is := everyID(t, store); len(is) != written {
			t.Errorf("after %q there are %d exchanges, want %d", change, len(is), written)
		}
	}
	sound(t, path)
}

// A process that cannot open its ledger tries again every second: nothing may be left of a try.
func TestNothingIsLeftOfAConnection(t *testing.T) {
	before := sqlite.Arriving()
	for range 5 {
		aLedger(t, 1)
	}
	if now := sqlite.Arriving(); now != before {
		t.Errorf("%d tables of arriving rows are left of closed ledgers", now-before)
	}
	path := filepath.Join(t.TempDir(), "usage.db")
	write(t, path, []byte("this is no database"))
	if _, err := sqlite.Open(t.Context(), path); err == nil {
		t.Error("a text is opened as a ledger")
	}
	if now := sqlite.Arriving(); now != before {
		t.Errorf("%d tables of arriving rows are left of what is no ledger", now-before)
	}
}
