package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost/ledger/journal"
)

// Whatever a file holds, it is read without harm; and what was read can be kept, and comes back.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	seed := filepath.Join(dir, "seed")
	j := journal.New(seed, identity)
	for range 2 {
		if err := j.Keep(full(4)); err != nil {
			f.Fatal(err)
		}
	}
	content, err := os.ReadFile(seed + "-tail0")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content[28 : len(content)/2])
	f.Add(content[28:])
	f.Add([]byte{})
	path := filepath.Join(dir, "usage.db")
	f.Fuzz(func(t *testing.T, content []byte) {
		first, err := journal.Decode(content, identity)
		if err != nil || first == nil {
			return
		}
		_ = os.Remove(path + "-tail0")
		_ = os.Remove(path + "-tail1")
		if err := journal.New(path, identity).Keep(first); err != nil {
			t.Fatal(err)
		}
		second, err := journal.Read(path, identity)
		if err != nil || len(second) != 1 || second[0].Damage != "" {
			t.Fatalf("%d batches came back, %v: %+v", len(second), err, second)
		}
		if diff := cmp.Diff(first, second[0].Batch, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("what was kept is not what came back (-kept +came):\n%s", diff)
		}
	})
}
