package sqlite_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A ledger on a disk that is mounted to be read alone is read: one that was closed, and one that a crash has left with its log. Where
// the log's index is missing, that is said.
func TestADiskThatIsReadOnly(t *testing.T) {
	dir, mounted := smallDisk(t, 12<<20)
	if !mounted {
		t.Log("not run, as this process may not mount a small disk")
		return
	}
	path := filepath.Join(dir, "usage.db")
	closed(t, path)
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{})
	if err := one(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	crashed, bare := filepath.Join(dir, "crashed.db"), filepath.Join(dir, "bare.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		for _, to := range []string{crashed, bare} {
			if err := os.WriteFile(to+end, content(t, path+end), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(bare + "-shm"); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	finds(t, path, 2)
	finds(t, crashed, 2)
	_, err = sqlite.OpenReader(t.Context(), bare)
	permissions(t, err, bare, "where one of them is missing, their directory be writable")
}
