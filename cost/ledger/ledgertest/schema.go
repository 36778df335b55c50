package ledgertest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Schema is how tests get at the tables in which a store of SQL keeps its ledgers.
type Schema struct {
	// New makes a database with nothing in it: a ledger that is made when it is opened, and the way to its tables beside
	// whoever has it open. What it takes is given back by t.Cleanup.
	New func(t testing.TB) (Ledger, *sql.DB)

	Steps   []string                                                    // that the program makes from one version to the next
	Migrate func(ctx context.Context, db *sql.DB, steps []string) error // makes those that a database has not made yet

	Version string // a query for the version
	Shape   string // a query for a text of each table, column, index and constraint

	Frozen string // what a program of version 1 wrote, as SQL: tables and rows
}

// Migrations tests that ledgers of older schemas open, for good, and that no step is ever half made.
func Migrations(t *testing.T, s Schema) {
	t.Run("a ledger of the first version", s.opens)
	t.Run("a step that was shipped", s.unedited)
	t.Run("a step that fails", s.fails)
	t.Run("a step that is added", s.added)
}

// frozen loads the frozen ledger into a database.
func (s Schema) frozen(t *testing.T) (Ledger, *sql.DB) {
	t.Helper()
	l, db := s.New(t)
	if _, err := db.ExecContext(t.Context(), s.Frozen); err != nil {
		t.Fatalf("load the frozen ledger: %v", err)
	}
	return l, db
}

// shape is that of the tables, and their version.
func (s Schema) shape(t *testing.T, db *sql.DB) []string {
	t.Helper()
	list := texts(t, db, s.Shape)
	slices.Sort(list)
	return append(list, fmt.Sprint("version ", s.version(t, db)))
}

func (s Schema) version(t *testing.T, db *sql.DB) int { return int(number(t, db, s.Version)) }

// number is what a query finds.
func number(t *testing.T, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// texts are the rows of a query, columns with bars between them.
func texts(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range row {
			line = append(line, fmt.Sprint(v))
		}
		list = append(list, strings.Join(line, " | "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// contents are the rows of all tables that version 1 has.
func contents(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range []string{
		"writers", "series", "budgets", "prices", "begins", "draws", "ends", "corrections", "hours", "days", "spent", "refusals", "notices", "facts",
	} {
		list := texts(t, db, "SELECT * FROM "+table)
		slices.Sort(list)
		all[table] = list
	}
	return all
}

// A step that was shipped is never edited: ledgers have made it as it was.
func (s Schema) unedited(t *testing.T) {
	_, frozen := s.frozen(t)
	_, now := s.New(t)
	if err := s.Migrate(t.Context(), now, s.Steps[:1]); err != nil {
		t.Fatal(err)
	}
	same(t, "what migration 1 makes is not what it made when it was shipped; leave it as it was, and add a migration that changes what should be changed",
		s.shape(t, now), s.shape(t, frozen))
	same(t, "rows that migration 1 makes", texts(t, now, "SELECT name, value FROM facts"), []string{"kept | 0"})
	for table, rows := range contents(t, frozen) {
		if len(rows) == 0 {
			t.Errorf("the frozen ledger has no row in %s", table)
		}
	}
}

// A step that fails leaves the ledger as it was, whatever was made before it, and the program takes it as before.
func (s Schema) fails(t *testing.T) {
	const (
		good  = `ALTER TABLE ends ADD COLUMN shade TEXT NOT NULL DEFAULT ''; UPDATE ends SET cost = cost + 1; CREATE TABLE shades (name TEXT)`
		worse = `DELETE FROM hours; DROP TABLE spent; ALTER TABLE begins RENAME COLUMN model TO brand; ALTER TABEL draws ADD COLUMN shade TEXT`
	)
	for name, c := range map[string]struct {
		steps []string
		says  string
	}{
		"in its middle":         {[]string{good + "; " + worse}, "version 2"},
		"after another":         {[]string{good, worse}, "version 3"},
		"as a column is there":  {[]string{good + "; ALTER TABLE ends ADD COLUMN shade TEXT"}, "version 2"},
		"as its rows are wrong": {[]string{good + "; INSERT INTO facts (name, value) VALUES ('kept', 1)"}, "version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			l, db := s.frozen(t)
			shape, rows := s.shape(t, db), contents(t, db)
			err := s.Migrate(t.Context(), db, append([]string{s.Steps[0]}, c.steps...))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one that names %s", err, c.says)
			}
			same(t, "schema", s.shape(t, db), shape)
			same(t, "rows", contents(t, db), rows)
			store := l.Open(t)
			defer store.Close()
			want := frozenBooks()
			same(t, "opened by the program as it is", glance(t, store, want.read), want)
		})
	}
}

// A step that is added keeps all rows, and is made once.
func (s Schema) added(t *testing.T) {
	_, db := s.frozen(t)
	want := contents(t, db)
	for i := range want["ends"] {
		want["ends"][i] += " | grey"
	}
	steps := []string{s.Steps[0], `ALTER TABLE ends ADD COLUMN shade TEXT NOT NULL DEFAULT 'grey'; CREATE INDEX ends_of_shade ON ends (shade)`}
	for range 2 {
		if err := s.Migrate(t.Context(), db, steps); err != nil {
			t.Fatal(err)
		}
		if got := s.version(t, db); got != 2 {
			t.Errorf("the schema has version %d, want 2", got)
		}
		same(t, "rows", contents(t, db), want)
	}
}
