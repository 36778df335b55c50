//go:build unix

package sqlite_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// permit sets the permissions of a ledger and of its directory, for as long as the test runs.
func permit(t *testing.T, path string, file, dir fs.FileMode) {
	t.Helper()
	was := content(t, path)
	if err := os.Chmod(path, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755); err != nil { // TempDir lets nobody else in
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Chmod(filepath.Dir(path), 0o700)
		os.Chmod(path, 0o600)
		if !bytes.Equal(content(t, path), was) {
			t.Error("the file was changed")
		}
	})
}

// permissions wants an error that says what must be permitted.
func permissions(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was opened")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v; want an error that says %q", err, word)
		}
	}
}

func TestADirectoryThatMayNotBeWrittenTo(t *testing.T) {
	path := aLedger(t, 10)
	os.Remove(path + ".lock")
	permit(t, path, 0o644, 0o555)
	unprivileged(t)
	_, err := sqlite.Open(t.Context(), path)
	permissions(t, err, path, "directory must exist and be writable")
	finds(t, path, 10)
	_, err = sqlite.Open(t.Context(), filepath.Join(filepath.Dir(path), "another.db"))
	permissions(t, err, "another.db", "directory must exist and be writable")
}

func TestAFileThatMayNotBeWrittenTo(t *testing.T) {
	path := aLedger(t, 10)
	os.Chmod(path+".lock", 0o666)
	permit(t, path, 0o444, 0o777)
	unprivileged(t)
	_, err := sqlite.Open(t.Context(), path)
	permissions(t, err, path, "must be writable")
	finds(t, path, 10)
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
		t.Errorf("a reader has left %v, which whoever serves may not be able to write to (%v)", left, err)
	}
}

func TestAFileThatMayNotBeRead(t *testing.T) {
	path := aLedger(t, 10)
	os.Chmod(path+".lock", 0o666)
	permit(t, path, 0o000, 0o777)
	unprivileged(t)
	_, err := sqlite.Open(t.Context(), path)
	permissions(t, err, path, "permission denied")
	_, err = sqlite.OpenReader(t.Context(), path)
	permissions(t, err, path, "permission denied")
}

// Others of the same machine are not to read who spent what.
func TestALedgerIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	w, stop := writing(t, store, ledger.Options{})
	b, e := exchange(w.IDs().Next(), 7)
	w.Begin(b)
	w.End(e)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + end)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("usage.db%s may be used by others: %v", end, info.Mode())
		}
	}
}
