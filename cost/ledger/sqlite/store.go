// Package sqlite keeps a ledger in one file, for a single process that writes and any number that read.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// application is what the file says it is: "tkfa" in ASCII, see the pragma application_id of SQLite.
const application = 0x746b6661

// Open opens the ledger at path to write, makes it if there is nothing yet, and brings an older one up to date. Until the
// store is closed, no other process can open it so: the error matches [ledger.ErrLocked]. A file that is there and is no
// ledger is left alone: the error matches [ledger.ErrCorrupt].
func Open(ctx context.Context, path string) (*sqlstore.Store, error) {
	return OpenLogging(ctx, path, slog.New(slog.DiscardHandler))
}

// OpenLogging is Open, and says in a log what was found in the journal of a process that has died.
func OpenLogging(ctx context.Context, path string, log *slog.Logger) (*sqlstore.Store, error) {
	path = follow(path)
	held, err := lock(ctx, path, lockTime)
	if err != nil {
		return nil, err
	}
	return openHeld(ctx, path, held, log)
}

// openHeld opens a ledger of which this process has the lock, and gives that back if it cannot. Without a log it does not where the journal
// is damaged.
func openHeld(ctx context.Context, path string, held *fileLock, log *slog.Logger) (*sqlstore.Store, error) {
	store, err := open(ctx, path, held, log)
	if err != nil {
		return nil, errors.Join(err, held.release())
	}
	return store, nil
}

func open(ctx context.Context, path string, held *fileLock, log *slog.Logger) (*sqlstore.Store, error) {
	if err := ensure(ctx, path); err != nil {
		return nil, err
	}
	if err := held.take(path); err != nil { // before SQLite looks at it, and at what log there is under this name
		return nil, err
	}
	if err := check(ctx, path, false); err != nil {
		return nil, err
	}
	write := connectWriter(path)
	if _, err := sqlstore.Migrate(ctx, write, versioned{}, sqlstore.Migrations(migrations, "migrations")); err != nil {
		write.Close()
		return nil, fmt.Errorf("open ledger %s: %w", path, explain(path, err))
	}
	read, err := connect(path, true)
	if err != nil {
		write.Close()
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger: %w", err), write.Close(), read.Close())
	}
	store := sqlstore.New(dialect{path, held, file}, write, read)
	if err := replay(ctx, store, path, log); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", path, err), write.Close(), read.Close())
	}
	return store, nil
}

// follow returns the file that a name leads to, there or not: its lock and its log are beside the file, whatever it is called.
func follow(path string) string {
	for range 40 { // as many as systems follow themselves
		target, err := os.Readlink(path)
		if err != nil {
			break // it is no link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// connect opens the file.
func connect(path string, reading bool) (*sql.DB, error) {
	lastingLocks()
	options := writeOptions()
	if reading {
		options = readOptions()
	}
	db, err := sql.Open("sqlite", source(path, options))
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	if !reading {
		db.SetMaxOpenConns(1)
	}
	return db, nil
}

// lastingLocks makes locks outlast that somebody in this process reads the file otherwise, as checkHeader does. Where there are none of
// that kind, the usual ones serve.
func lastingLocks() { _, _ = sqlite.OFDLocking(true) }

// writeOptions are those of connections that may write. Every commit is on the disk when it returns: synchronous=FULL waits for the
// write-ahead log.
func writeOptions() url.Values {
	return url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)", "journal_size_limit(8388608)", "temp_store(memory)", "cache_size(-16000)"},
		"_txlock": {"immediate"},
		"mode":    {"rw"}, // it is there, or nothing is
	}
}

func readOptions() url.Values {
	return url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)", "temp_store(memory)", "cache_size(-16000)"}, "mode": {"rw"}}
}

// source names a file as the driver wants it.
func source(path string, options url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options.Encode()
}

// ensure makes the file if there is none. It is made whole under another name: should this process die meanwhile, or the disk
// be full, there is no ledger rather than half of one.
func ensure(ctx context.Context, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // there is one, or what should be one
	}
	for _, left := range []string{"-wal", "-shm", "-journal", "-tail0", "-tail1"} {
		if _, err := os.Stat(path + left); err == nil {
			return fmt.Errorf("open ledger %s: %w: the file is gone, but %s is there; restore both from a backup, or move that away to begin anew",
				path, ledger.ErrCorrupt, filepath.Base(path)+left)
		}
	}
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make ledger: %w", err)
	}
	file, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // who spent what is nobody else's business
	if err != nil {
		return fmt.Errorf("make ledger: %w; the directory must exist and be writable", err)
	}
	file.Close()
	if err := fill(ctx, fresh); err != nil {
		os.Remove(fresh)
		return fmt.Errorf("make ledger %s: %w", path, explain(path, err))
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("make ledger: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// fill makes a ledger of an empty file.
func fill(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=synchronous(extra)")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", application)); err != nil {
		return err
	}
	_, err = sqlstore.Migrate(ctx, db, versioned{}, sqlstore.Migrations(migrations, "migrations"))
	return err
}

// syncDir makes a new name in a directory outlast a power loss.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("make ledger: %w", err)
	}
	defer dir.Close()
	_ = dir.Sync() // not every file system can
	return nil
}

// check reports what is wrong with a file that should be a ledger. It changes nothing.
func check(ctx context.Context, path string, reading bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open ledger %s: there is none yet; `tokenfare serve` makes it", path)
	case err != nil:
		return fmt.Errorf("open ledger: %w", err)
	case info.IsDir():
		return fmt.Errorf("open ledger %s: this is a directory; name a file in it", path)
	case info.Size() == 0:
		return fmt.Errorf("open ledger %s: %w: the file is empty. If there never was a ledger, remove it; else restore it from a backup", path, ledger.ErrCorrupt)
	}
	if err := checkHeader(path, info.Size(), reading); err != nil {
		return err
	}
	connect, explain := func(path string) (*sql.DB, error) { return connect(path, true) }, explain
	if reading {
		connect, explain = connectReader, explainReader
	}
	db, err := connect(path)
	if err != nil {
		return err
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("open ledger %s: %w", path, explain(path, err))
	}
	return fits(path, version, newest(), reading)
}

// fits reports what keeps this program from using a ledger of some version, where newest is the one it knows best.
func fits(path string, version, newest int, reading bool) error {
	switch {
	case version > newest:
		return newer(path, version)
	case reading && version < newest:
		return fmt.Errorf("open ledger %s: an older version of this program made it; `tokenfare serve` brings it up to date", path)
	}
	return nil
}

// newest is the version of the schema as of this program.
func newest() int { return len(sqlstore.Migrations(migrations, "migrations")) }
