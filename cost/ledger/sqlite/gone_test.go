package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A file that is removed or replaced while it is open takes rows all the same. They must not be called durable.
func TestALedgerThatIsGoneTakesNoRows(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("another"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "usage.db")
			store, err := sqlite.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			past, err := store.Resume(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			batch := &ledger.Batch{Slot: past.Slot, Number: past.Batch + 1}
			if err := store.Commit(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			batch = &ledger.Batch{Slot: past.Slot, Number: past.Batch + 2}
			if err := store.Commit(t.Context(), batch); err == nil || !strings.Contains(err.Error(), "there no longer") {
				t.Errorf("a row was taken: %v", err)
			}
		})
	}
}
