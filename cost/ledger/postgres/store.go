package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

func steps() []sqlstore.Migration { return sqlstore.Migrations(migrations, "migrations") }

// pace is how writers show that they are alive. The grace is longer than Postgres takes to restart, and than a busy machine
// holds up a process.
var pace = sqlstore.Pace{Beat: 3 * time.Second, Grace: 15 * time.Second}

// Open opens the ledger at a URL of the form postgres://user:password@host:5432/database to write. What the URL leaves open
// comes from PGPASSWORD, PGSSLROOTCERT and the like, and from ~/.pgpass. Where there is no ledger yet it makes one, and it
// brings an older one up to date; processes that start together wait for the first. No error shows a password.
func Open(ctx context.Context, url string) (*sqlstore.Store, error) {
	return open(ctx, url, pace)
}

func open(ctx context.Context, url string, pace sqlstore.Pace) (*sqlstore.Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	d := dialect{config: config, pace: pace}
	write := d.connect(toWrite)
	if err := d.ensure(ctx, write); err != nil {
		write.Close()
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return sqlstore.New(d, write, d.connect(toRead)), nil
}

// OpenReader opens the ledger at a URL to read, whether or not others write to it.
func OpenReader(ctx context.Context, url string) (*sqlstore.Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	d := dialect{config: config}
	read := d.connect(toRead)
	if err := d.check(ctx, read); err != nil {
		read.Close()
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return sqlstore.New(d, read, read), nil
}

// parse reads a URL. The driver's own error may show the part of a password that looks like something else to it.
func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "tokenfare"
	}
	return config, nil
}

// use is what connections are for.
type use struct {
	connections int
	settings    string
}

var (
	// One connection commits, one gives signs of life, one looks at other writers. A commit is durable when it returns,
	// whatever the database's own settings say; it sees rows that it has waited for as they are then. A process that stands
	// still in the middle of a transaction must not hold up the others, who add to the same sums, for so long that calls are
	// refused: they wait five seconds. If it goes on after all, it commits anew.
	toWrite = use{3, `SET synchronous_commit = on; SET default_transaction_isolation = 'read committed';
		SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '3s'`}
	// Reports over years take a while, and so may whoever reads them. Where to begin to read hangs on the instants asked for,
	// so that a plan for any will not do.
	toRead = use{4, `SET default_transaction_read_only = on; SET plan_cache_mode = force_custom_plan;
		SET statement_timeout = '120s'; SET idle_in_transaction_session_timeout = '300s'`}
)

// connect makes a pool of connections. None is opened yet.
func (d dialect) connect(for_ use) *sql.DB {
	db := stdlib.OpenDB(*d.config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, for_.settings)
		return err
	}))
	db.SetMaxOpenConns(for_.connections)
	db.SetMaxIdleConns(for_.connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// ensure makes or updates the tables.
func (d dialect) ensure(ctx context.Context, db *sql.DB) error {
	var encoding string
	if err := db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return d.Explain(err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("%s has the encoding %s, which cannot hold every name; make a database WITH ENCODING 'UTF8' TEMPLATE template0", d.name(), encoding)
	}
	if _, err := sqlstore.Migrate(ctx, db, versioned{}, steps()); err != nil {
		return d.Explain(err)
	}
	return nil
}

// check reports what keeps the ledger from being read.
func (d dialect) check(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, d.Reading())
	if err != nil {
		return d.Explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // it has changed nothing
	version, err := version(ctx, tx)
	switch newest := len(steps()); {
	case err != nil:
		return d.Explain(err)
	case version == 0:
		return fmt.Errorf("%s holds none yet; `tokenfare serve` makes it", d.name())
	case version > newest:
		return fmt.Errorf("%w: its schema has version %d, and the newest known here is %d", ledger.ErrNewer, version, newest)
	case version < newest:
		return fmt.Errorf("%s holds one of version %d, and version %d is wanted here; `tokenfare serve` brings it up to date", d.name(), version, newest)
	}
	return nil
}
