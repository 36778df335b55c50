package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// connectWriter opens the file for the one who writes.
func connectWriter(path string) *sql.DB {
	lastingLocks()
	db := sql.OpenDB(writer{source(path, writeOptions())})
	db.SetMaxOpenConns(1)
	return db
}

// writer makes connections that write.
type writer struct{ source string }

// Driver is SQLite's.
func (writer) Driver() driver.Driver { return arrivals().driver }

// Connect opens the file.
func (w writer) Connect(ctx context.Context) (driver.Conn, error) {
	conn, rows, forget, err := arrivals().open(ctx, w.source)
	if err != nil {
		return nil, err
	}
	return &writeConn{Conn: conn, prepared: map[string]driver.Stmt{}, rows: rows, forget: forget}, nil
}

// writeConn is a connection by which the same few statements are executed again and again. It keeps them prepared, which a group
// commit of a few rows would else spend a third of its time on, and takes the rows of an insert all at once.
type writeConn struct {
	driver.Conn
	prepared map[string]driver.Stmt
	rows     *arriving
	forget   func()
}

// begin, commit and rollback are statements like others, so that they can be prepared. A transaction that begins is about to write.
const (
	begin    = "BEGIN IMMEDIATE"
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// ExecContext executes a statement. One that has arguments will be used again.
func (c *writeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if rows, ok := args[0].Value.(*sqlstore.Rows); ok {
		c.rows.Rows, args = *rows, nil
		defer func() { c.rows.Rows = sqlstore.Rows{} }()
	}
	// Once begun, it takes less time than the goroutine that the driver would start to interrupt it; and a disk that hangs
	// cannot be interrupted.
	return c.exec(context.WithoutCancel(ctx), query, args)
}

func (c *writeConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	statement := c.prepared[query]
	if statement == nil {
		var err error
		if statement, err = c.Prepare(query); err != nil {
			return nil, err
		}
		c.prepared[query] = statement
	}
	return statement.(driver.StmtExecContext).ExecContext(ctx, args)
}

// CheckNamedValue lets through what the driver takes as it is.
func (c *writeConn) CheckNamedValue(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case int64, string, *sqlstore.Rows:
		return nil
	}
	return driver.ErrSkip
}

// QueryContext runs a query.
func (c *writeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// BeginTx begins a transaction, once nobody else writes.
func (c *writeConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if _, err := c.exec(ctx, begin, nil); err != nil {
		_, _ = c.exec(context.WithoutCancel(ctx), rollback, nil) // it may have begun when ctx ended
		return nil, err
	}
	return writeTx{c}, nil
}

// ResetSession reports whether it can be used again.
func (c *writeConn) ResetSession(ctx context.Context) error {
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

// IsValid reports whether it can be used again.
func (c *writeConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

// Close closes it, and the file with it: as long as a statement is prepared, SQLite would keep that open.
func (c *writeConn) Close() error {
	var errs []error
	for _, statement := range c.prepared {
		errs = append(errs, statement.Close())
	}
	clear(c.prepared)
	defer c.forget()
	return errors.Join(append(errs, c.Conn.Close())...)
}

// writeTx is a transaction that writes.
type writeTx struct{ conn *writeConn }

// Commit makes it durable. If that fails, nothing of it is left: SQLite would leave it open in some cases.
func (t writeTx) Commit() error {
	_, err := t.conn.exec(context.Background(), commit, nil)
	if err != nil {
		_ = t.Rollback() // the first error is the one to tell
	}
	return err
}

// Rollback takes it back.
func (t writeTx) Rollback() error {
	_, err := t.conn.exec(context.Background(), rollback, nil)
	return err
}
