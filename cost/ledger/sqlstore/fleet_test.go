package sqlstore_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"
	"time"

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
			f := fleet(filepath.Join(t.TempDir(), "usage.db"))
			s, err := sqlite.Open(t.Context(), string(f)) // makes the tables
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			return f
		},
	})
}

// fleet is the path of a ledger that several stores of this process write to.
type fleet string

func (f fleet) connect(t testing.TB, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: string(f)}).EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)&"+options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (f fleet) Open(t testing.TB) ledger.Store {
	t.Helper()
	write := f.connect(t, "_txlock=immediate")
	write.SetMaxOpenConns(1)
	return sqlstore.New(member{}, write, f.connect(t, "_pragma=query_only(1)"))
}

func (f fleet) Reader(t testing.TB) ledger.Store {
	t.Helper()
	db := f.connect(t, "_pragma=query_only(1)")
	return sqlstore.New(member{}, db, db)
}

// Crash closes the store, which says that its writer ends, and no more.
func (f fleet) Crash(t testing.TB, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// member is the dialect of one store: SQLite's, but for its pace. At this one the dead are looked for when a store starts, and
// never again, so that the suite knows when they are adopted.
type member struct{}

func (member) Numbered() bool                            { return false }
func (member) RowsAtOnce() int                           { return 8 }
func (member) Correcting(context.Context, *sql.Tx) error { return nil }
func (member) Present() error                            { return nil }
func (member) Pace() sqlstore.Pace                       { return sqlstore.Pace{Beat: time.Hour, Grace: 24 * time.Hour} }
func (member) Reading() *sql.TxOptions                   { return nil }
func (member) Explain(err error) error                   { return err }
func (member) Close() error                              { return nil }
