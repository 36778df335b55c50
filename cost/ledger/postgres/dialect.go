package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// dialect is Postgres' way, for one database.
type dialect struct {
	config *pgx.ConnConfig
	pace   sqlstore.Pace
}

// Numbered reports true: Postgres takes $1, $2 and so on.
func (dialect) Numbered() bool { return true }

// RowsAtOnce is large, for each statement is a round trip, and still far below the 65,535 placeholders that Postgres takes.
func (dialect) RowsAtOnce() int { return 32 }

// Present returns nil: a database that is gone says so itself.
func (dialect) Present() error { return nil }

// Pace is that of this ledger's writers.
func (d dialect) Pace() sqlstore.Pace { return d.pace }

// Reading is a transaction all of whose statements read the same instant.
func (dialect) Reading() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// Close has nothing to release.
func (dialect) Close() error { return nil }

// name says where the ledger is.
func (d dialect) name() string {
	return fmt.Sprintf("the database %q at %s:%d", d.config.Database, d.config.Host, d.config.Port)
}

// migrating is the advisory lock of those who make or update the tables: "tkfa" in ASCII.
const migrating = 0x746b6661

// correcting is the advisory lock of those who correct: "tkfc" in ASCII.
const correcting = 0x746b6663

// Correcting waits for the lock.
func (dialect) Correcting(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", correcting)
	return err
}

// versioned keeps the version of the schema in a table of its own.
type versioned struct{}

// SchemaVersion reads it, when nobody else is changing it.
func (versioned) SchemaVersion(ctx context.Context, tx *sql.Tx) (int, error) {
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", migrating); err != nil {
		return 0, err
	}
	return version(ctx, tx)
}

// version reads it, 0 where there is none yet.
func version(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var there bool
	if err := tx.QueryRowContext(ctx, "SELECT to_regclass('ledger_schema') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT version FROM ledger_schema").Scan(&version)
	return version, err
}

// SetSchemaVersion writes it.
func (versioned) SetSchemaVersion(ctx context.Context, tx *sql.Tx, version int) error {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS ledger_schema (version bigint NOT NULL)",
		"DELETE FROM ledger_schema",
		fmt.Sprintf("INSERT INTO ledger_schema (version) VALUES (%d)", version),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
