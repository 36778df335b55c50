package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Migration is one step from a version of the schema to the next. The first is version 1.
type Migration struct {
	Version int
	SQL     string
}

// Migrations reads the steps from files named 0001_what.sql, 0002_what.sql …, in a folder of files. It panics if a number is
// missing: they are part of the program.
func Migrations(files fs.FS, folder string) []Migration {
	names, err := fs.Glob(files, path.Join(folder, "*.sql"))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	slices.Sort(names)
	var steps []Migration
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		text, err := fs.ReadFile(files, name)
		if version, bad := strconv.Atoi(number); err != nil || bad != nil || version != i+1 {
			panic("BUG: migration " + name + " should be number " + strconv.Itoa(i+1))
		}
		steps = append(steps, Migration{i + 1, string(text)})
	}
	return steps
}

// Versioned reads and writes the version of a schema, 0 where there is none yet, inside of a transaction.
type Versioned interface {
	SchemaVersion(ctx context.Context, tx *sql.Tx) (int, error)
	SetSchemaVersion(ctx context.Context, tx *sql.Tx, version int) error
}

// Migrate brings a schema up to the newest version, in one transaction, so that no step is ever half made. It returns the
// version there was, and an error that matches [ledger.ErrNewer] if that is beyond the newest this program knows.
func Migrate(ctx context.Context, db *sql.DB, v Versioned, steps []Migration) (was int, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if was, err = v.SchemaVersion(ctx, tx); err != nil {
		return 0, err
	}
	if was < 0 {
		return was, fmt.Errorf("%w: its schema has version %d", ledger.ErrCorrupt, was)
	}
	if was > len(steps) {
		return was, fmt.Errorf("%w: its schema has version %d, and the newest known here is %d; use the newer program", ledger.ErrNewer, was, len(steps))
	}
	for _, step := range steps[was:] {
		if _, err := tx.ExecContext(ctx, step.SQL); err != nil {
			return was, fmt.Errorf("migrate the ledger's schema to version %d: %w", step.Version, err)
		}
		if err := v.SetSchemaVersion(ctx, tx, step.Version); err != nil {
			return was, fmt.Errorf("migrate the ledger's schema to version %d: %w", step.Version, err)
		}
	}
	return was, tx.Commit()
}
