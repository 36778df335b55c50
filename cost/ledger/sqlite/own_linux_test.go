package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

const locksFiles = true

// take locks a file as a writer does that knows it by another name.
func take(t *testing.T, path string) (release func()) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// taken locks a file for a moment, and reports whether it could.
func taken(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err == nil
}

// A file that is mounted alone has its log beside the place where it is mounted: another container has none of it, and it goes
// with this one.
func TestAFileThatIsMountedAlone(t *testing.T) {
	dir := t.TempDir()
	path, alone := filepath.Join(dir, "usage.db"), filepath.Join(t.TempDir(), "mounted.db")
	closed(t, path)
	if err := os.WriteFile(alone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount(path, alone, "", syscall.MS_BIND, ""); err != nil {
		t.Logf("not run, as this process may not mount: %v", err)
		return
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(alone, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	store, err := sqlite.Open(t.Context(), alone)
	if err == nil {
		store.Close()
	}
	if err == nil || !strings.Contains(err.Error(), alone) || !strings.Contains(err.Error(), "mount the directory") {
		t.Errorf("open to write: %v; want an error that names the file and says what to mount", err)
	}
	if store, err = sqlite.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := sqlite.Open(t.Context(), alone); err == nil || errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("open beside a writer: %v", err)
	}
	reader, err := sqlite.OpenReader(t.Context(), alone)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
}
