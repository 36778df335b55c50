package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// own takes the file at path for one writer, whatever it is called: the lock beside it is found by those alone who know it by the
// same name. What it returns is to be closed after SQLite has closed the file, for where SQLite's locks are those of the process,
// they go with any descriptor of it.
//
// A log belongs to a name, too. SQLite reads the one that a crash has left under one name, and writes over what came since under
// another. So a file is refused that has two, or whose name leads into another directory than its log is in.
func own(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w; the file must be readable, and must be writable for whoever serves", err)
	}
	if err := alone(path, file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func alone(path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open ledger: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil // it is no ledger, and check says what it is
	}
	if taken(file) {
		return fmt.Errorf("open ledger %s: %w: it has the file open by another name, or by another mount of it. Stop that one, or give this one a ledger of its own; several can share one in Postgres",
			path, ledger.ErrLocked)
	}
	if n := links(info); n > 1 {
		return fmt.Errorf("open ledger %s: the file has %d names (hard links), and its log, %s-wal, goes by only one: written by two in turns it would be destroyed. "+
			"Find them with `find / -xdev -inum %s`, stop whoever writes by any of them, remove all but the one whose -wal file is there, and start again; to keep a copy use `tokenfare ledger backup`",
			path, n, filepath.Base(path), inode(info))
	}
	if apart(file, filepath.Dir(path)) {
		return fmt.Errorf("open ledger %s: %w", path, errApart)
	}
	return nil
}

var errApart = errors.New("this file alone is mounted, without its log, which would be lost with the container, or be missed by another one that mounts the file. " +
	"Stop whoever writes to it, and mount the directory that it is in")
