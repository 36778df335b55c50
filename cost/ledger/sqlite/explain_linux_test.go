package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A ledger that cannot be opened for want of room is said to be so, whatever SQLite calls it, and can be opened when there is some.
func TestOpenOnAFullDisk(t *testing.T) {
	dir, mounted := smallDisk(t, 2<<20)
	if !mounted {
		t.Log("not run, as this process may not mount a small disk")
		return
	}
	path, filler := filepath.Join(dir, "usage.db"), filepath.Join(dir, "filler")
	for _, there := range []bool{false, true} {
		if there {
			closed(t, path)
		}
		if err := fillUp(filler); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fill the disk: %v", err)
		}
		store, err := sqlite.Open(t.Context(), path)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "the disk of "+path) || !strings.Contains(err.Error(), "is full") || !sqlite.MayPass(err) {
			t.Errorf("open on a full disk, %v that it is there: %v; want an error that says so, and may pass", there, err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
}

// What no time mends is told apart.
func TestWhatNeverPasses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, name := range []string{text, path, dir, filepath.Join(dir, "none", "usage.db")} {
		if _, err := sqlite.Open(t.Context(), name); err == nil || sqlite.MayPass(err) {
			t.Errorf("open %s: %v; want an error that no time mends", name, err)
		}
	}
}
