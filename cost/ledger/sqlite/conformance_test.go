package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/ledgertest"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

func TestConformance(t *testing.T) {
	ledgertest.Run(t, ledgertest.Harness{New: func(t testing.TB) ledgertest.Ledger { return file(filepath.Join(t.TempDir(), "usage.db")) }})
}

// file is the path of a ledger.
type file string

func (f file) Open(t testing.TB) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), string(f))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f file) Reader(t testing.TB) ledger.Store {
	t.Helper()
	s, err := sqlite.OpenReader(t.Context(), string(f))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Crash closes the store, which writes nothing; the lock would outlast it otherwise, as this process goes on. What is left of
// one that is killed, the tests of faults see to.
func (file) Crash(t testing.TB, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
