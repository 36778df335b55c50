package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger/journal"
)

// What is set aside keeps its content, under a name of its own; and there are never more than a few.
func TestDamagedFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "usage.db")
	for _, neighbour := range []string{"usage.db", "usage.db-wal", "usage.db2-tail0.bad-x", "other.db-tail0.bad-x"} {
		if err := os.WriteFile(filepath.Join(dir, neighbour), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2026, 12, 1, 8, 30, 0, 0, time.UTC)
	var all []string
	for i := range 12 {
		if i%2 == 0 {
			now = now.Add(time.Second)
		}
		name := journal.Names(path)[i/2%2]
		if err := os.WriteFile(name, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := journal.SetAside(path, name, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); err == nil || !strings.HasPrefix(kept, name+".bad-20261201T08300") {
			t.Errorf("%s is called %s now, %v", name, kept, err)
		}
		all = append(all, kept)
		there, err := journal.Aside(path)
		if err != nil || len(there) != min(i+1, 8) {
			t.Fatalf("after %d, there are %d: %v", i+1, len(there), err)
		}
		if content, err := os.ReadFile(kept); err != nil || content[0] != byte(i) {
			t.Errorf("%s holds %v, %v", kept, content, err)
		}
	}
	for i, name := range all {
		if _, err := os.Stat(name); (err == nil) != (i >= 4) {
			t.Errorf("%d of %d, %s: %v", i, len(all), name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 12 {
		t.Errorf("there are %d files, %v", len(left), err)
	}
	if _, err := journal.SetAside(path, path+"-tail0", now); err == nil {
		t.Error("a file that is not there was set aside")
	}
}
