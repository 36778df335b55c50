package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
)

// still is a file that nobody has open, so that all that was ever committed is in it.
//
// Whoever reads it without sharing it holds no lock, and a writer may start meanwhile. That one writes to its log first, which leaves
// what is read here whole; only when it carries its log over into the file do pages change that were not read yet. That is seen by
// the file's time, and what was read is then given up rather than passed off as right.
type still struct {
	path string
	file os.FileInfo
}

// look looks at a file before it is read, and reports whether it is still. What is in a log, of either kind, is not in the file.
func look(path string) (is still, ok bool) {
	file, err := os.Stat(path) // first: what is carried over from a log that is gone thereafter is in the file by now
	if err != nil {
		return is, false
	}
	for _, log := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + log); !os.IsNotExist(err) && (err != nil || info.Size() > 0) {
			return is, false
		}
	}
	return still{path, file}, true
}

// same returns an error if the file was written since it was looked at.
func (s still) same() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) && now.Size() == s.file.Size() && now.ModTime().Equal(s.file.ModTime()) {
		return nil
	}
	return fmt.Errorf("%s was written while it was read, as a proxy was started: read it again", s.path)
}

// stillConn reads a still file. Whatever is read is passed on only as long as the file is the same.
type stillConn struct {
	driver.Conn
	is still
}

// QueryContext runs a query.
func (c *stillConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return nil, c.is.blame(err)
	}
	return &stillRows{rows, c.is}, nil
}

// ResetSession gives the connection up once somebody has opened the file to write: what is written then is in a log.
func (c *stillConn) ResetSession(ctx context.Context) error {
	if _, ok := look(c.is.path); !ok || c.is.same() != nil {
		return driver.ErrBadConn
	}
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

// IsValid reports whether it can be used again.
func (c *stillConn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

// stillRows are rows of a still file.
type stillRows struct {
	driver.Rows
	is still
}

// Next reads a row; there is no end to the rows of a file that was written.
func (r *stillRows) Next(to []driver.Value) error {
	if err := r.Rows.Next(to); err != nil {
		return r.is.blame(err)
	}
	return nil
}

// Close is the end for whoever wants one row alone.
func (r *stillRows) Close() error {
	if err := r.Rows.Close(); err != nil {
		return r.is.blame(err)
	}
	return r.is.same()
}

// blame returns the error that a file was written, if it was: it is the cause of any other.
func (s still) blame(err error) error {
	if written := s.same(); written != nil {
		return written
	}
	return err
}
