package postgres

import (
	"context"
	"database/sql"
	_ "embed"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/ledgertest"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
	"github.com/tokenfare/tokenfare/test/harness"
)

//go:embed testdata/schema1.sql
var schema1 string

// shape is a text of each column, constraint and index, and of what tables are stored like.
const shape = `SELECT 'column', table_name, column_name, ordinal_position, data_type, is_nullable, column_default, identity_generation
		FROM information_schema.columns WHERE table_schema = current_schema()
	UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, 0, pg_get_constraintdef(oid), '', '', ''
		FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
	UNION ALL SELECT 'index', tablename, indexname, 0, indexdef, '', '', '' FROM pg_indexes WHERE schemaname = current_schema()
	UNION ALL SELECT 'relation', relname, relkind::text, 0, array_to_string(reloptions, ','), relpersistence::text, '', ''
		FROM pg_class WHERE relnamespace = current_schema()::regnamespace`

func TestMigrations(t *testing.T) {
	pg, ok := harness.Postgres(t)
	if !ok {
		return
	}
	var steps []string
	for _, step := range sqlstore.Migrations(migrations, "migrations") {
		steps = append(steps, step.SQL)
	}
	ledgertest.Migrations(t, ledgertest.Schema{
		New: func(t testing.TB) (ledgertest.Ledger, *sql.DB) {
			at := pg.NewDatabase(t)
			return busy{database(at)}, administrator(t, at+"&default_query_exec_mode=exec") // a plan that is kept does not outlive a change of its table
		},
		Steps: steps, Migrate: migrate,
		Version: `SELECT version FROM ledger_schema`,
		Shape:   shape,
		Frozen:  schema1,
	})
}

func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	var list []sqlstore.Migration
	for i, step := range steps {
		list = append(list, sqlstore.Migration{Version: i + 1, SQL: step})
	}
	_, err := sqlstore.Migrate(ctx, db, versioned{}, list)
	return err
}

// busy is a ledger whose writers look for those who are dead all the time, as the one that wrote the frozen ledger is.
type busy struct{ database }

func (b busy) Open(t testing.TB) ledger.Store {
	t.Helper()
	s, err := open(t.Context(), string(b.database), sqlstore.Pace{Beat: 50 * time.Millisecond, Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
