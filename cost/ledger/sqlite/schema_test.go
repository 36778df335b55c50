package sqlite_test

import (
	"database/sql"
	_ "embed"
	"path/filepath"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger/ledgertest"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

//go:embed testdata/schema1.sql
var schema1 string

func TestMigrations(t *testing.T) {
	ledgertest.Migrations(t, ledgertest.Schema{
		New: func(t testing.TB) (ledgertest.Ledger, *sql.DB) {
			path := filepath.Join(t.TempDir(), "usage.db")
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)") // the file is made when there is something to write
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return file(path), db
		},
		Steps: sqlite.Steps(), Migrate: sqlite.Migrate,
		Version: `PRAGMA user_version`,
		Shape:   `SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_master`,
		Frozen:  schema1,
	})
}
