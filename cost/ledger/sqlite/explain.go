package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// explain says what a person can do about an error of SQLite's. SQLite has no word of its own for a full disk where it cannot make
// a file longer, or make one, that is shared by those who have the ledger open.
func explain(path string, err error) error {
	code := codeOf(err)
	switch code {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		if code == sqlite3.SQLITE_FULL || full(filepath.Dir(path)) {
			return fmt.Errorf("the disk of %s is full: %w (%w)", path, syscall.ENOSPC, err)
		}
	}
	switch code {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s is left as it is; restore it from a backup, or move it away to begin a new ledger, with budgets as if nothing had been spent: %w", ledger.ErrCorrupt, path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%s cannot be read or written, for its disk fails, or there is a limit on the size of files: %w", path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program writes to %s, as a shell of SQLite's does in the middle of a transaction; end it: %w", path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%s, its directory and %s-wal must be writable: %w", path, filepath.Base(path), err)
	}
	return err
}

// explainReader is explain for somebody who reads, and need not be permitted to write.
func explainReader(path string, err error) error {
	if !denied(err) || full(filepath.Dir(path)) {
		return explain(path, err)
	}
	name := filepath.Base(path)
	return fmt.Errorf("%s was not closed, as its proxy runs or was killed: to read it, %s-wal and %s-shm must be readable, too, and where one of them is missing, their directory be writable; "+
		"once the proxy has been stopped, it is enough that %s is readable: %w", path, name, name, name, err)
}

// codeOf is the code of an error of SQLite's, 0 of any other.
func codeOf(err error) int {
	if known, ok := errors.AsType[*sqlite.Error](err); ok {
		return known.Code() & 0xff
	}
	return 0
}

// MayPass reports whether what kept a ledger from being opened or read may pass without anybody changing who may write where: a
// full disk, one that fails, a program that writes to the file besides.
func MayPass(err error) bool {
	for _, passing := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, passing) {
			return true
		}
	}
	switch codeOf(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true
	}
	return false
}
