package sqlite_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// holdThis names the ledger that a child of this test process is to write to until it is killed.
const holdThis = "LEDGER_HOLD_THIS"

// holdJournal says that it keeps a journal.
const holdJournal = "LEDGER_HOLD_JOURNAL"

// TestHolder is what the children run: it writes, and says which exchanges are durable.
func TestHolder(t *testing.T) {
	path := os.Getenv(holdThis)
	if path == "" {
		return // this is no child
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	o := ledger.Options{RollEvery: 3 * time.Millisecond}
	if os.Getenv(holdJournal) != "" {
		if o.Journal, err = sqlite.Journal(t.Context(), store, path); err != nil {
			t.Fatal(err)
		}
		o.Late = 5 * time.Millisecond
	}
	w, _ := writing(t, store, o)
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() { hold(t, w) })
	}
	callers.Wait()
}

// hold makes calls until the process is killed.
func hold(t *testing.T, w *ledger.Writer) {
	for i := 0; ; i++ {
		b, e := exchange(w.IDs().Next(), 7)
		begun := w.Begin(b)
		if i%5 == 0 {
			w.End(e) // an answer that nobody waits for
			continue
		}
		if err := begun.Wait(t.Context()); err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintln(os.Stdout, "begun", int64(b.Exchange))
		if i%3 == 0 {
			continue // it never ends
		}
		if err := w.End(e).Wait(t.Context()); err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintln(os.Stdout, "ended", int64(b.Exchange))
	}
}

// holder starts a child that writes to a ledger, and returns once it does. What the child says is durable is kept in said.
func holder(t *testing.T, path string, said map[ledger.ID]bool, env ...string) (kill func()) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestHolder$", "-test.timeout", "60s")
	child.Env = append(append(os.Environ(), holdThis+"="+path), env...)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	hear := func() bool {
		for lines.Scan() {
			what, id, is := strings.Cut(lines.Text(), " ")
			n, err := strconv.ParseInt(id, 10, 64)
			if !is || err != nil || what != "begun" && what != "ended" {
				t.Logf("the child says: %s", lines.Text())
				continue
			}
			said[ledger.ID(n)] = what == "ended"
			return true
		}
		return false
	}
	if !hear() {
		child.Wait()
		t.Fatal("the child writes nothing")
	}
	return func() {
		for range 60 {
			hear()
		}
		child.Process.Kill()
		for hear() { // what it said before it died
		}
		io.Copy(io.Discard, out)
		child.Wait()
	}
}

func TestASecondWriterIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	said := map[ledger.ID]bool{}
	kill := holder(t, path, said)
	_, err := sqlite.Open(t.Context(), path)
	if !errors.Is(err, ledger.ErrLocked) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("open beside another: %v; want an error that names the process, and matches ErrLocked", err)
	}
	if strings.Contains(fmt.Sprint(err), "process "+strconv.Itoa(os.Getpid())+" ") {
		t.Errorf("open beside another: %v; that is this one's number", err)
	}
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for id := range said {
		if _, there := everyID(t, reader)[id]; !there {
			t.Errorf("a reader beside the writer does not find %v, which is durable", id)
		}
	}
	if _, err := reader.Resume(t.Context()); err == nil {
		t.Error("a reader could write")
	}
	if err := reader.Commit(t.Context(), &ledger.Batch{Number: 1}); err == nil {
		t.Error("a reader could commit")
	}
	kill()
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatalf("after the writer was killed: %v", err)
	}
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, ledger.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("open beside this process: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if store, err = sqlite.Open(t.Context(), path); err != nil {
		t.Fatalf("after it was closed: %v", err)
	}
	store.Close()
}

// Names that lead to the same file are the same ledger.
func TestASecondWriterByAnotherName(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "usage.db"), filepath.Join(dir, "link.db")
	if err := os.Symlink("usage.db", other); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][2]string{{other, path}, {path, other}} { // at first it leads nowhere
		store, err := sqlite.Open(t.Context(), names[0])
		if err != nil {
			t.Fatal(err)
		}
		if second, err := sqlite.Open(t.Context(), names[1]); !errors.Is(err, ledger.ErrLocked) {
			t.Errorf("open %s beside %s: %v; want an error that matches ErrLocked", names[1], names[0], err)
			if err == nil {
				second.Close()
			}
		}
		store.Close()
	}
	if info, err := os.Lstat(other); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
}

// What a process that is killed had said to be durable is there, and what it left unfinished is charged, life after life.
func TestKilledWhileWriting(t *testing.T) {
	t.Run("without a journal", func(t *testing.T) { killedWhileWriting(t) })
	t.Run("with a journal", func(t *testing.T) { killedWhileWriting(t, holdJournal+"=1") })
}

func killedWhileWriting(t *testing.T, env ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "usage.db")
	said := map[ledger.ID]bool{}
	for range 6 {
		holder(t, path, said, env...)()
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, stop := writing(t, store, ledger.Options{})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	spent, rows := int64(0), map[ledger.ID]*ledger.Exchange{}
	reads(t, store, func(s ledger.Snapshot) {
		err := s.Ended(t.Context(), time.Time{}, time.Now().Add(time.Hour), func(x *ledger.Exchange) error {
			rows[x.Begin.Exchange] = x
			return nil
		})
		if err == nil {
			err = s.Spends(t.Context(), []ledger.Want{{Budget: "budget"}}, func(_ int, _ time.Time, n int64) error { spent += n; return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		if left, err := s.Unfinished(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("%d exchanges are unfinished, %v", len(left), err)
		}
	})
	crashed := 0
	for id, ended := range said {
		x := rows[id]
		switch {
		case x == nil:
			t.Errorf("%v was durable, its end too: %v; it is not there", id, ended)
		case ended && x.End.Ending != "complete":
			t.Errorf("%v was durable with its end, and is said to have %s", id, x.End.Ending)
		case x.End.Ending == ledger.Crashed:
			crashed++
		}
	}
	if spent != int64(7*len(rows)) || crashed < 6 {
		t.Errorf("%d spent by %d exchanges of 7, of which %d crashed", spent, len(rows), crashed)
	}
	sound(t, path)
}
