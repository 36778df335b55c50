package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// OpenReader opens the ledger at path to read, whether or not another process writes to it. To read one that nobody has open,
// permission to read the file is enough; else the log and its index beside it must be readable, too. What a process that died has left
// in its journal is written first, if this one may do so.
func OpenReader(ctx context.Context, path string) (*sqlstore.Store, error) {
	path = follow(path)
	settle(ctx, path)
	if err := check(ctx, path, true); err != nil {
		return nil, err
	}
	read, err := connectReader(path)
	if err != nil {
		return nil, err
	}
	return sqlstore.New(dialect{path: path}, read, read), nil
}

// connectReader opens the file for somebody who may only read it, perhaps.
func connectReader(path string) (*sql.DB, error) {
	lastingLocks()
	shared, err := sqlite.NewConnector(source(path, readOptions()))
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	options := readOptions()
	options.Set("mode", "ro")
	options.Set("immutable", "1")
	alone, err := sqlite.NewConnector(source(path, options))
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		file.Close()
	}
	return sql.OpenDB(&reader{path: path, writable: err == nil, shared: shared, alone: alone}), nil
}

// reader makes connections that read. SQLite shares a file by means of a log and an index of it, which it makes beside the file where
// there are none: whoever may not do that could not read a ledger that nobody has open. There all is in the file, and it is read as
// one that does not change.
type reader struct {
	path          string
	writable      bool
	shared, alone driver.Connector
}

// Driver is SQLite's.
func (r *reader) Driver() driver.Driver { return r.shared.Driver() }

// Connect opens the file as it is now: shared, or alone if nobody has it open and this one may not share it.
func (r *reader) Connect(ctx context.Context) (driver.Conn, error) {
	is, still := look(r.path) // before SQLite does, which leaves a log of its own if it may
	if r.writable || !still {
		conn, err := r.share(ctx)
		if err == nil || !still || !denied(err) {
			return conn, err
		}
	}
	conn, err := r.alone.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stillConn{conn, is}, nil
}

// share opens the file for sharing, and makes sure that it can be read so: SQLite finds out with the first statement.
func (r *reader) share(ctx context.Context) (driver.Conn, error) {
	conn, err := r.shared.Connect(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "PRAGMA user_version", nil)
	if err == nil {
		err = rows.Close()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// denied reports that SQLite may not open, or make, what it needs to share a file.
func denied(err error) bool {
	switch codeOf(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}
