package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup copies the ledger at path into a new file, as it is at one instant, while another process may write to it. The copy is a
// ledger of its own, whole or not there. A file of that name that is there already is left alone. What a process that died has left in its
// journal is written first.
func Backup(ctx context.Context, path, to string) error {
	path = follow(path)
	settle(ctx, path)
	if err := check(ctx, path, true); err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up ledger: %s is there already; name a new file", to)
	}
	db, err := connect(path, false)
	if err != nil {
		return err
	}
	defer db.Close()
	part := to + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up ledger: %w", err)
	}
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("back up ledger: %w; the directory must exist and be writable", err)
	}
	defer os.Remove(part) // nothing is there any more once it is whole
	file.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return fmt.Errorf("back up ledger to %s: %w", to, explain(to, err))
	}
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("back up ledger: %w", err)
	}
	return syncDir(filepath.Dir(to))
}

// syncFile makes what is in a file outlast a power loss.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("back up ledger: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("back up ledger: %w", err)
	}
	return nil
}
