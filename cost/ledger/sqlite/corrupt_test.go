package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// refused wants a file to be refused, to write and to read, and to be left alone.
func refused(t *testing.T, path string, want error) {
	t.Helper()
	before := content(t, path)
	for name, open := range map[string]func() (ledger.Store, error){
		"open":      func() (ledger.Store, error) { return sqlite.Open(t.Context(), path) },
		"to read":   func() (ledger.Store, error) { return sqlite.OpenReader(t.Context(), path) },
		"once more": func() (ledger.Store, error) { return sqlite.Open(t.Context(), path) },
	} {
		s, err := open()
		if err == nil {
			s.Close()
			t.Errorf("%s: it is taken for a ledger", name)
		} else if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want an error that names the file, and matches %q", name, err, want)
		}
	}
	if !bytes.Equal(content(t, path), before) {
		t.Error("the file was changed")
	}
	for _, left := range []string{"-wal", "-shm", "-journal", ".new"} {
		if _, err := os.Stat(path + left); err == nil {
			t.Errorf("%s is left beside it", filepath.Base(path)+left)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoLedgerIsLeftAlone(t *testing.T) {
	sound := content(t, aLedger(t, 200))
	cut := func(n int) []byte { return sound[:n] }
	for name, content := range map[string][]byte{
		"empty":                  {},
		"a byte":                 {0},
		"text":                   []byte(strings.Repeat("this is no database\n", 1000)),
		"zeros":                  make([]byte, len(sound)),
		"half a header":          cut(50),
		"a header alone":         cut(100),
		"half a page":            cut(2048),
		"one page":               cut(4096),
		"half of it":             cut(len(sound) / 2 / 4096 * 4096),
		"without its last page":  cut(len(sound) - 4096),
		"without its last byte":  cut(len(sound) - 1),
		"the beginning is gone":  sound[4096:],
		"a part is gone":         append(append([]byte{}, sound[:4096]...), sound[3*4096:]...),
		"the header alone is it": append(append([]byte{}, sound[:100]...), make([]byte, 4000)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "usage.db")
			write(t, path, content)
			refused(t, path, ledger.ErrCorrupt)
		})
	}
}

func TestADirectoryIsNoLedger(t *testing.T) {
	path := t.TempDir()
	if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("open: %v", err)
	}
	if _, err := sqlite.OpenReader(t.Context(), path); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("open to read: %v", err)
	}
	if _, err := sqlite.OpenReader(t.Context(), filepath.Join(path, "usage.db")); err == nil || !strings.Contains(err.Error(), "there is none yet") {
		t.Errorf("open to read what is not there: %v", err)
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(path, "no", "such", "usage.db")); err == nil || !strings.Contains(err.Error(), "must exist") {
		t.Errorf("open in a directory that is not there: %v", err)
	}
}

// Another program's database stays that program's, whatever it is in the middle of.
func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "theirs.db")
			db, err := sql.Open("sqlite", path+"?_pragma=journal_mode("+mode+")")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1), (2)"); err != nil {
				t.Fatal(err)
			}
			// As it is while they have it open, or after they have crashed.
			files := map[string][]byte{}
			for _, end := range []string{"", "-wal", "-shm"} {
				if b, err := os.ReadFile(path + end); err == nil {
					files[end] = b
				}
			}
			db.Close()
			crashed := filepath.Join(dir, "crashed.db")
			for end, b := range files {
				write(t, crashed+end, b)
			}
			if _, err := sqlite.Open(t.Context(), crashed); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "another program") {
				t.Errorf("open: %v", err)
			}
			if _, err := sqlite.OpenReader(t.Context(), crashed); !errors.Is(err, ledger.ErrCorrupt) {
				t.Errorf("open to read: %v", err)
			}
			for end, b := range files {
				if now, err := os.ReadFile(crashed + end); err != nil || !bytes.Equal(now, b) {
					t.Errorf("theirs.db%s was changed: %v", end, err)
				}
			}
			refused(t, path, ledger.ErrCorrupt)
		})
	}
}

func TestANewerLedgerIsLeftAlone(t *testing.T) {
	path := aLedger(t, 5)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99; CREATE TABLE new_things (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	refused(t, path, ledger.ErrNewer)
}

// The file is gone, and the log of its latest writes is there.
func TestALogWithoutItsLedgerIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	write(t, path+"-wal", []byte("the only record of the last hour"))
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "usage.db-wal") {
		t.Errorf("open: %v", err)
	}
	if got := content(t, path+"-wal"); string(got) != "the only record of the last hour" {
		t.Errorf("usage.db-wal was changed: %q", got)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a new ledger was made")
	}
}

// A header with one byte of it changed is refused and left alone, or what is changed matters to nobody and all is there.
func TestHeadersWithOneByteChanged(t *testing.T) {
	sound := content(t, aLedger(t, 200))
	random := rand.New(rand.NewPCG(1, 2))
	var taken []int
	for at := range 100 {
		for range 3 {
			flip := byte(1 + random.IntN(255))
			path := filepath.Join(t.TempDir(), "usage.db")
			b := bytes.Clone(sound)
			b[at] ^= flip
			write(t, path, b)
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				if !errors.Is(err, ledger.ErrCorrupt) && !errors.Is(err, ledger.ErrNewer) {
					t.Errorf("byte %d xor %#x: %v; want an error that matches ErrCorrupt or ErrNewer", at, flip, err)
				}
				if !bytes.Equal(content(t, path), b) {
					t.Errorf("byte %d xor %#x: refused, and changed", at, flip)
				}
				continue
			}
			if n := len(everyID(t, s)); n != 200 {
				t.Errorf("byte %d xor %#x: taken for a ledger, with %d of 200 exchanges", at, flip, n)
			}
			if len(taken) == 0 || taken[len(taken)-1] != at {
				taken = append(taken, at)
			}
			s.Close()
		}
	}
	t.Log(fmt.Sprint("these bytes matter to nobody: ", taken))
}

// A reader does not guess what an older schema means: the program that writes brings it up to date.
func TestVersionsThatFit(t *testing.T) {
	for _, c := range []struct {
		version int
		reading bool
		says    string
	}{{2, false, ""}, {2, true, ""}, {1, false, ""}, {1, true, "`tokenfare serve` brings it up to date"}, {3, false, "newer"}, {3, true, "newer"}} {
		err := sqlite.Fits("usage.db", c.version, 2, c.reading)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("version %d of 2, to read: %v: %v, want %q", c.version, c.reading, err, c.says)
		}
	}
}
