//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// finds wants a reader to find so many exchanges.
func finds(t *testing.T, path string, want int) {
	t.Helper()
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Error(err)
		return
	}
	defer reader.Close()
	if n := len(everyID(t, reader)); n != want {
		t.Errorf("a reader finds %d exchanges, want %d", n, want)
	}
}

// modes sets permissions of what is there of a ledger.
func modes(t *testing.T, of map[string]fs.FileMode) {
	t.Helper()
	for path, mode := range of {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// elsewhere runs f as whoever runs the test, though this goroutine is unprivileged.
func elsewhere(t *testing.T, f func() error) {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		failed <- f()
	}()
	if err := <-failed; err != nil || t.Failed() {
		t.Fatal(err)
	}
}

// one records an exchange.
func one(ctx context.Context, w *ledger.Writer) error {
	b, e := exchange(w.IDs().Next(), 7)
	if err := w.Begin(b).Wait(ctx); err != nil {
		return err
	}
	return w.End(e).Wait(ctx)
}

// Who may only read the file reads it beside a writer and when that one has stopped, and is told what is missing otherwise.
func TestAReaderNeedsNoPermissionToWrite(t *testing.T) {
	path := aLedger(t, 10)
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{})
	if err := one(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	modes(t, map[string]fs.FileMode{path: 0o444, path + "-wal": 0o444, path + "-shm": 0o444, filepath.Dir(path): 0o555, filepath.Dir(filepath.Dir(path)): 0o755})
	t.Cleanup(func() { os.Chmod(filepath.Dir(path), 0o700) })
	unprivileged(t)
	finds(t, path, 11)
	elsewhere(t, func() error { return os.Chmod(path+"-wal", 0) })
	_, err = sqlite.OpenReader(t.Context(), path)
	permissions(t, err, path, "usage.db-wal and usage.db-shm must be readable, too", "once the proxy has been stopped")
	elsewhere(t, func() error {
		modes(t, map[string]fs.FileMode{path: 0o644, path + "-wal": 0o644, path + "-shm": 0o644, filepath.Dir(path): 0o755})
		return errors.Join(stop(), store.Close())
	})
	elsewhere(t, func() error {
		modes(t, map[string]fs.FileMode{path: 0o444, filepath.Dir(path): 0o555})
		return nil
	})
	if logs, err := filepath.Glob(path + "-*"); err != nil || len(logs) > 0 {
		t.Fatalf("it was not closed: %v, %v", logs, err)
	}
	finds(t, path, 11)
}

// A file that is read as one that does not change is no more read so once a proxy has started, and what was read of it while it was
// written is not passed off as right.
func TestAWriterStartsWhileALedgerIsRead(t *testing.T) {
	path := aLedger(t, 10)
	modes(t, map[string]fs.FileMode{path: 0o444, filepath.Dir(path): 0o755, filepath.Dir(filepath.Dir(path)): 0o755})
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil { // clocks of files are coarse
		t.Fatal(err)
	}
	unprivileged(t)
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	held, err := reader.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := func() (n int, err error) {
		err = held.Began(t.Context(), time.Time{}, time.Now().Add(time.Hour), func(*ledger.Exchange) error { n++; return nil })
		return n, err
	}
	var end func() error
	begin := func() error {
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
		store, err := sqlite.Open(t.Context(), path)
		if err != nil {
			return err
		}
		w, stop := writing(t, store, ledger.Options{})
		end = func() error { return errors.Join(stop(), store.Close()) }
		return one(t.Context(), w)
	}
	elsewhere(t, begin)
	if n, err := count(); n != 10 || err != nil {
		t.Errorf("a snapshot of 10 exchanges has %d while another is in the log: %v", n, err)
	}
	elsewhere(t, end) // which carries the log over into the file
	if _, err := count(); err == nil || !strings.Contains(err.Error(), path+" was written while it was read") {
		t.Errorf("%v; want an error that says that the file was written", err)
	}
	if _, err := held.Kept(t.Context()); err == nil || !strings.Contains(err.Error(), "read it again") {
		t.Errorf("one row: %v; want an error that says so, too", err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if n := len(everyID(t, reader)); n != 11 {
		t.Errorf("a new snapshot has %d exchanges, want 11", n)
	}
	elsewhere(t, begin)
	if n := len(everyID(t, reader)); n != 12 {
		t.Errorf("a new snapshot beside a writer has %d exchanges, want 12", n)
	}
	elsewhere(t, end)
}
