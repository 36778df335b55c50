package sqlite

import (
	"context"
	"database/sql"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// Steps are the migrations that the program makes.
func Steps() (list []string) {
	for _, step := range sqlstore.Migrations(migrations, "migrations") {
		list = append(list, step.SQL)
	}
	return list
}

// Migrate makes those of a list of migrations that a database has not made yet.
func Migrate(ctx context.Context, db *sql.DB, steps []string) error {
	var list []sqlstore.Migration
	for i, step := range steps {
		list = append(list, sqlstore.Migration{Version: i + 1, SQL: step})
	}
	_, err := sqlstore.Migrate(ctx, db, versioned{}, list)
	return err
}

// Fits is fits.
var Fits = fits

// Arriving is how many connections have a table of arriving rows.
func Arriving() (n int) {
	arrivals().tables.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}

// ConnectWriter is connectWriter.
var ConnectWriter = connectWriter

// LockTime is lockTime, for tests to change.
var LockTime = &lockTime
