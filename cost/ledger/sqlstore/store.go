// Package sqlstore keeps a ledger in a database that speaks SQL. The statements are those that SQLite and Postgres have in
// common; what differs, a [Dialect] says.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Dialect is what a database does its own way.
type Dialect interface {
	// Numbered says that placeholders are $1, $2 … rather than question marks.
	Numbered() bool
	// RowsAtOnce is how many rows one statement inserts at most, a power of two. Zero says that it inserts all that its only
	// argument has, a [*Rows], which it finds in a table of the connection's, temp.arriving, with columns c0, c1 and so on.
	RowsAtOnce() int
	// Pace is that of the signs of life by which writers know of each other. Without a beat there can be only one writer, and
	// whoever had the slot before is dead.
	Pace() Pace
	// Present returns an error if what was opened is there no longer, or is another. It is asked before each commit.
	Present() error
	// Reading are the options of a transaction that reads everything as of one instant.
	Reading() *sql.TxOptions
	// Correcting waits until no other process holds the lock of those who correct, and holds it until the transaction ends.
	// It is not asked where there is no beat.
	Correcting(ctx context.Context, tx *sql.Tx) error
	// Explain puts a database's error into words of a person who can do something about it. The original stays in its chain.
	Explain(err error) error
	// Close releases what the dialect holds, after the database was closed.
	Close() error
}

// Store is a [ledger.Store].
type Store struct {
	dialect     Dialect
	write, read *sql.DB

	inserts sync.Map // the texts of statements, by insert

	turn      chan struct{} // holds one while somebody writes, who alone uses all below
	known     interned
	compacted int64 // the last budget whose old slots were summed up

	life life
}

// New keeps a ledger in a database whose schema is there. Through write one transaction is made at a time; and, where a
// dialect has a beat, one more beside it. The drivers prepare statements that are used again and again.
func New(d Dialect, write, read *sql.DB) *Store {
	return &Store{dialect: d, write: write, read: read, turn: make(chan struct{}, 1), known: newInterned()}
}

// closeTime is how long Close waits for a write that somebody has not ended.
const closeTime = 3 * time.Second

// Close tells other writers that this one ends, and closes the database. A write that hangs, for its disk does, is given up: a
// process must be able to end.
func (s *Store) Close() error {
	s.leave()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	hangs := s.enter(ctx)
	if hangs == nil {
		defer s.exit()
	} else {
		hangs = fmt.Errorf("close ledger: a write has hung for more than %s", closeTime)
	}
	return errors.Join(hangs, s.write.Close(), s.read.Close(), s.dialect.Close())
}

// enter waits until nobody else writes, at most until ctx ends.
func (s *Store) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) exit() { <-s.turn }

// place puts the database's own placeholders into a statement.
func (s *Store) place(statement string) string {
	if !s.dialect.Numbered() {
		return statement
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

// transact runs f in a transaction that writes, the only one of this writer's.
func (s *Store) transact(ctx context.Context, what string, f func(*tx) error) error {
	if err := s.enter(ctx); err != nil {
		return fmt.Errorf("%s: another write hangs: %w", what, err)
	}
	defer s.exit()
	t := &tx{store: s, known: s.known, fresh: newInterned()}
	if err := t.run(ctx, what, f); err != nil {
		return err
	}
	s.known.take(t.fresh)
	return nil
}

// transactBeside runs f in a transaction that may run beside others.
func (s *Store) transactBeside(ctx context.Context, what string, f func(*tx) error) error {
	t := &tx{store: s, fresh: newInterned()}
	return t.run(ctx, what, f)
}

// tx is a transaction that writes, with what it has looked up so far.
type tx struct {
	*sql.Tx
	store *Store
	known interned
	fresh interned // known once the transaction is committed
}

func (t *tx) run(ctx context.Context, what string, f func(*tx) error) error {
	var err error
	if t.Tx, err = t.store.write.BeginTx(ctx, nil); err != nil {
		return fmt.Errorf("%s: %w", what, t.store.dialect.Explain(err))
	}
	if err = f(t); err == nil {
		err = t.Commit()
	}
	if err != nil {
		_ = t.Rollback() // the first error is the one to tell
		return fmt.Errorf("%s: %w", what, t.store.dialect.Explain(err))
	}
	return nil
}

func (t *tx) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return t.ExecContext(ctx, t.store.place(statement), args...)
}

func (t *tx) queryRow(ctx context.Context, statement string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.store.place(statement), args...)
}

var _ ledger.Store = (*Store)(nil)
