package postgres

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/ledgertest"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
	"github.com/tokenfare/tokenfare/test/harness"
)

func TestConformance(t *testing.T) {
	pg, ok := harness.Postgres(t)
	if !ok {
		return
	}
	ledgertest.Run(t, ledgertest.Harness{
		Writers: 4, Schedules: 500, New: func(t testing.TB) ledgertest.Ledger { return database(pg.NewDatabase(t)) },
	})
}

// database is the URL of a ledger.
type database string

// calm is a pace at which the dead are looked for at the start alone, so that the suite knows when they are adopted.
var calm = sqlstore.Pace{Beat: time.Hour, Grace: 24 * time.Hour}

func (d database) Open(t testing.TB) ledger.Store {
	t.Helper()
	s, err := open(t.Context(), string(d), calm)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (d database) Reader(t testing.TB) ledger.Store {
	t.Helper()
	s, err := OpenReader(t.Context(), string(d))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Crash closes the store, which says that its writer ends, and no more.
func (database) Crash(t testing.TB, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
