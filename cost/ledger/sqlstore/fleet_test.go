package sqlstore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/ledgertest"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// TestConformanceOfAFleet runs the suite with several writers, which the statements allow, though for SQLite one is the rule.
func TestConformanceOfAFleet(t *testing.T) {
	ledgertest.Run(t, ledgertest.Harness{
		Writers: 4,
		New: func(t testing.TB) ledgertest.Ledger {
			f := &fleet{path: filepath.Join(t.TempDir(), "usage.db"), owners: map[int]*member{}}
			s, err := sqlite.Open(t.Context(), f.path) // makes the tables
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			return f
		},
	})
}

// fleet is a ledger in a file that several stores of this process write to.
type fleet struct {
	path string

	mu     sync.Mutex
	owners map[int]*member // of each slot that was ever used; nil: its writer is dead. Guarded by mu
}

func (f *fleet) connect(t testing.TB, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+f.path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)&"+options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (f *fleet) Open(t testing.TB) ledger.Store {
	t.Helper()
	write := f.connect(t, "_txlock=immediate")
	write.SetMaxOpenConns(1)
	m := &member{fleet: f, slot: -1}
	return sqlstore.New(m, write, f.connect(t, "_pragma=query_only(1)"))
}

func (f *fleet) Reader(t testing.TB) ledger.Store {
	t.Helper()
	db := f.connect(t, "_pragma=query_only(1)")
	return sqlstore.New(&member{fleet: f, reads: true}, db, db)
}

func (f *fleet) Crash(t testing.TB, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// member is the dialect of one store: SQLite's, but for the slots.
type member struct {
	fleet *fleet
	reads bool
	slot  int // -1: none yet
}

func (*member) Numbered() bool          { return false }
func (*member) Reading() *sql.TxOptions { return nil }
func (*member) Explain(err error) error { return err }

// Claim takes a slot that nobody has ever had if there is one among the first few, so that the dead are adopted, and every
// second time one of the dead, so that they are resumed, too.
func (m *member) Claim(context.Context, *sql.DB) (slot int, dead []int, err error) {
	if m.reads {
		return 0, nil, ledger.ErrLocked
	}
	f := m.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	for s, owner := range f.owners {
		if owner == nil || owner == m && s != m.slot {
			dead = append(dead, s)
		}
	}
	if m.slot < 0 {
		m.slot = len(f.owners)
		if len(dead) > 0 && (m.slot > 20 || len(dead)%2 == 0) {
			m.slot = dead[0]
		}
	}
	for _, s := range append(dead, m.slot) {
		f.owners[s] = m
	}
	return m.slot, dead, nil
}

func (m *member) Close() error {
	m.fleet.mu.Lock()
	defer m.fleet.mu.Unlock()
	for slot, owner := range m.fleet.owners {
		if owner == m {
			m.fleet.owners[slot] = nil
		}
	}
	return nil
}
