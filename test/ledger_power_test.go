package test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/test/harness"
)

// copies is how often a copy is taken of the files or of the disk.
var copies = flag.Int("ledger.copies", 5, "how often the tests of power losses copy what is on the disk")

// TestFilesAtAnyInstant copies a ledger's files while calls are served, as they are when the process is killed. Each copy is a ledger that
// holds everything of which clients had got something when the copying began.
func TestFilesAtAnyInstant(t *testing.T) {
	for _, sync := range []string{"40ms", "1s", "always"} {
		t.Run(sync, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "usage.db")
			said := powerLosses(t, path, sync, func(map[string]got) {}, func() string { return copyFiles(t, path) })
			if strings.Contains(said, "level=ERROR") {
				t.Errorf("who opens what a kill has left says: %s", said)
			}
		})
	}
}

// TestDiskAtAnyInstant cuts the power: the ledger is on a disk of its own, and what is copied is what was written to that disk, not
// what the system means to write later. Where answers wait for the disk, each copy holds all that clients had; else all that readers could
// see before. It needs root, and Linux with a file system to make.
func TestDiskAtAnyInstant(t *testing.T) {
	for _, sync := range []string{"40ms", "always"} {
		t.Run(sync, func(t *testing.T) { diskAtAnyInstant(t, sync) })
	}
}

func diskAtAnyInstant(t *testing.T, sync string) {
	t.Helper()
	dir := t.TempDir()
	disk, mounted := filepath.Join(dir, "disk"), filepath.Join(dir, "mounted")
	if err := makeDisk(disk, 48<<20); err != nil {
		t.Logf("not run: %v", err)
		return
	}
	if !mount(t, disk, mounted) {
		return
	}
	n := 0
	path, onDisk := filepath.Join(mounted, "usage.db"), func(map[string]got) {}
	if sync != "always" {
		onDisk = func(had map[string]got) { awaitReaders(t, path, had) }
	}
	said := powerLosses(t, path, sync, onDisk, func() string {
		n++
		copied, at := fmt.Sprintf("%s.%d", disk, n), fmt.Sprintf("%s.%d", mounted, n)
		if out, err := exec.Command("cp", "--sparse=always", disk, copied).CombinedOutput(); err != nil {
			t.Fatalf("copy the disk: %v %s", err, out)
		}
		if !mount(t, copied, at) {
			t.Fatal("the copy of the disk cannot be mounted")
		}
		return filepath.Join(at, "usage.db")
	})
	t.Logf("who opened them said: %s", said)
}

// awaitReaders returns when a reader of the ledger finds all that clients have had: then it is on the disk.
func awaitReaders(t *testing.T, path string, had map[string]got) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		b, missing := readBook(t, path), 0
		for name := range had {
			if b.byName[name] == nil {
				missing++
			}
		}
		if missing == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("readers still do not find %d of %d calls", missing, len(had))
		}
		pause(t.Context(), 5*time.Millisecond)
	}
}

// powerLosses serves calls with a ledger at path, and looks at the copies that a function makes of it once what clients have had is where it
// has to be. It returns what those who open them say in their log.
func powerLosses(t *testing.T, path, sync string, ready func(had map[string]got), copied func() string) (said string) {
	t.Helper()
	s := openShop(t, path, fmt.Sprintf("{ url: %q, sync: %s }", "sqlite:"+path, sync))
	p := harness.StartYAML(t, s.yaml)
	defer p.Stop(t) // before its disk is taken away
	s.clients.run(3)
	defer s.clients.halt()
	s.clients.awaitCalls(t, 10)
	crashed := 0
	for range *copies {
		pause(t.Context(), time.Duration(rand.IntN(400))*time.Millisecond)
		s.clients.awaitCalls(t, 2)
		attempts := s.clients.list()
		had := tally(t, attempts, s.up) // before the copy begins
		ready(had)
		p.Freeze(t)
		file := copied()
		p.Thaw(t)
		b := readBook(t, file)
		b.coversAll(had, attempts)
		b.knowsNobody(s.clients.list())
		crashed += b.unfinished

		whole, log := recovered(t, file)
		said += log
		whole.addsUp()
		whole.coversAll(had, attempts)
		if len(whole.all) != len(b.all) {
			t.Errorf("%d exchanges were left, and there are %d", len(b.all), len(whole.all))
		}
	}
	t.Logf("%d copies, %d calls ran in them", *copies, crashed)
	return said
}

// recovered opens a ledger as the next process does, lets it write what it has to, and reads it.
func recovered(t *testing.T, path string) (b *book, said string) {
	t.Helper()
	var log bytes.Buffer
	store, err := sqlite.OpenLogging(t.Context(), path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := w.Run(ended); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	return readBook(t, path), log.String()
}

// makeDisk makes a file that holds an empty file system.
func makeDisk(path string, size int64) error {
	if os.Getuid() != 0 {
		return fmt.Errorf("disks are mounted by root")
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		return err
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", path).CombinedOutput(); err != nil {
		return fmt.Errorf("mkfs.ext4: %w %s", err, out)
	}
	return nil
}

// mount mounts a file's file system until the test ends. The system writes by itself as late as it can.
func mount(t *testing.T, disk, at string) bool {
	t.Helper()
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop,commit=300", disk, at).CombinedOutput(); err != nil {
		t.Logf("mount: %v %s", err, out)
		return false
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return true
}
