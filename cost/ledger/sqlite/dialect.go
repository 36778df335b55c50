package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// dialect is SQLite's way, for one file.
type dialect struct {
	path string
	held *fileLock // nil: to read only
	file os.FileInfo
}

// Numbered reports false: SQLite takes question marks.
func (dialect) Numbered() bool { return false }

// RowsAtOnce is zero: connections that write have a table of arriving rows.
func (dialect) RowsAtOnce() int { return 0 }

// Correcting has nobody to wait for.
func (dialect) Correcting(context.Context, *sql.Tx) error { return nil }

// Present looks whether the file at path is still the one that was opened. One that was removed or replaced takes rows all the
// same, and they are gone with the process.
func (d dialect) Present() error {
	now, err := os.Stat(d.path)
	if err == nil && !os.SameFile(now, d.file) {
		err = errors.New("it was replaced by another file")
	}
	if err != nil {
		return fmt.Errorf("the ledger that was opened at %s is there no longer (%w): put it back if you can, and start this program again", d.path, err)
	}
	return nil
}

// Pace is none: whoever has the lock is the only one.
func (dialect) Pace() sqlstore.Pace { return sqlstore.Pace{} }

// Reading is a transaction that reads, which SQLite isolates as it is.
func (dialect) Reading() *sql.TxOptions { return nil }

// Explain says what a person can do about an error.
func (d dialect) Explain(err error) error {
	if d.held == nil {
		return explainReader(d.path, err)
	}
	return explain(d.path, err)
}

// versioned keeps the version of the schema where SQLite has a place for it.
type versioned struct{}

// SchemaVersion reads it.
func (versioned) SchemaVersion(ctx context.Context, tx *sql.Tx) (version int, err error) {
	err = tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// SetSchemaVersion writes it.
func (versioned) SetSchemaVersion(ctx context.Context, tx *sql.Tx, version int) error {
	_, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(version))
	return err
}

// fileLock keeps a second writer away: a lock on a file beside the ledger, which is there before the ledger is, and one on the
// ledger itself. The system takes them off when the process ends, however it ends. The file beside it holds the number of the
// process, for messages alone, and stays.
type fileLock struct {
	beside *flock.Flock
	file   *os.File // the ledger itself; nil: it is not open yet
}

// lockTime is how long who means to write waits for the lock: a reader that replays a journal has it for a moment.
var lockTime = time.Second

// lock takes the lock beside the ledger at path, for which it waits no longer than patience lasts.
func lock(ctx context.Context, path string, patience time.Duration) (*fileLock, error) {
	l := flock.New(path+".lock", flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if !got && err == nil && patience > 0 {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		got, err = l.TryLockContext(ctx, patience/50)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return nil, fmt.Errorf("lock ledger: the disk of %s is full: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("lock ledger: %w; its directory must exist and be writable", err)
	case !got:
		who := "another process"
		if text, err := os.ReadFile(path + ".lock"); err == nil && strings.TrimSpace(string(text)) != "" {
			who = "process " + strings.TrimSpace(string(text))
		}
		return nil, fmt.Errorf("open ledger %s: %w: %s has it open. Stop that one, or give this one a ledger of its own; several can share one in Postgres", path, ledger.ErrLocked, who)
	}
	_ = os.WriteFile(path+".lock", []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600) // who has it is only good to know
	return &fileLock{beside: l}, nil
}

// take locks the ledger itself, too.
func (l *fileLock) take(path string) (err error) {
	l.file, err = own(path)
	return err
}

// release lets the next writer in. SQLite must have closed the file.
func (l *fileLock) release() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.beside.Unlock())
}

// Close lets the next writer in.
func (d dialect) Close() error {
	if d.held == nil {
		return nil
	}
	return d.held.release()
}
