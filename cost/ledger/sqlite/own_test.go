//go:build unix

package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// closed makes a ledger with one exchange in it, which nobody has open.
func closed(t *testing.T, path string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{})
	b, e := exchange(w.IDs().Next(), 7)
	w.Begin(b)
	w.End(e)
	if err := errors.Join(stop(), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// A second name of the file has a log of its own, so whoever writes by both in turns destroys it: it must have one name.
func TestAFileOfTwoNamesIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "usage.db"), filepath.Join(dir, "other.db")
	closed(t, path)
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		store, err := sqlite.Open(t.Context(), name)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "2 names") || !strings.Contains(err.Error(), "remove") {
			t.Errorf("open %s to write: %v; want an error that names the file, how many names it has, and what to do", name, err)
		}
		reader, err := sqlite.OpenReader(t.Context(), name)
		if err != nil {
			t.Fatalf("open %s to read: %v", name, err)
		}
		if n := len(everyID(t, reader)); n != 1 {
			t.Errorf("by the name of %s there are %d exchanges, want 1", name, n)
		}
		reader.Close()
		if err := sqlite.Backup(t.Context(), name, name+".copy"); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("it has one name again: %v", err)
	}
	store.Close()
}

// A link that is made while the file is written makes nobody a second writer, and nothing is lost.
func TestASecondWriterByAHardLink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "usage.db"), filepath.Join(dir, "other.db")
	said := map[ledger.ID]bool{}
	kill := holder(t, path, said)
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), other); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("open %s: %v; want an error that names it", other, err)
	}
	kill()
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	all := everyID(t, reader)
	for id := range said {
		if _, there := all[id]; !there {
			t.Errorf("%v was durable and is not there", id)
		}
	}
	sound(t, path)
}

// The file itself is locked from before SQLite opens it until after it has closed it, and SQLite's own locks are none of that
// kind: others read and write as ever, and neither lock goes with the other.
func TestTheFileItselfIsLocked(t *testing.T) {
	if !locksFiles {
		t.Log("on this system both kinds of locks are one, so the file itself is not locked")
		return
	}
	path := filepath.Join(t.TempDir(), "usage.db")
	closed(t, path)
	release := take(t, path)
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, ledger.ErrLocked) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "another name") {
		t.Errorf("open what another program has by another name: %v; want an error that says so, and matches ErrLocked", err)
	}
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(everyID(t, reader)); n != 1 {
		t.Errorf("a reader finds %d exchanges, want 1", n)
	}
	reader.Close()
	release()
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{})
	shell, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)") // another descriptor of the file, opened and closed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shell.ExecContext(t.Context(), "CREATE TABLE by_hand (n)"); err != nil {
		t.Errorf("a shell beside the writer: %v", err)
	}
	shell.Close()
	b, _ := exchange(w.IDs().Next(), 7)
	if err := w.Begin(b).Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if taken(t, path) {
		t.Error("the file is not locked while it is open")
	}
	if err := errors.Join(stop(), store.Close()); err != nil {
		t.Error(err)
	}
	if !taken(t, path) {
		t.Error("the file is locked although it is closed")
	}
}
