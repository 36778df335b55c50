package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// headerSize and what follows is of https://www.sqlite.org/fileformat2.html, section 1.3: where a file says what it is.
const headerSize = 100

// checkHeader reads what a file says of itself, before SQLite opens it: SQLite would tidy up after another program that has
// crashed, which is not ours to do. What it finds is at most too old, as newer pages may be in the log.
//
// A file that may not be written to is refused here as well, where it is to be: SQLite would open it to read.
func checkHeader(path string, size int64, reading bool) error {
	access := os.O_RDWR
	if reading {
		access = os.O_RDONLY
	}
	file, err := os.OpenFile(path, access, 0)
	if err != nil {
		return fmt.Errorf("open ledger: %w; the file must be readable, and must be writable for whoever serves", err)
	}
	defer file.Close()
	header := make([]byte, headerSize)
	_, err = io.ReadFull(file, header)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("open ledger: %w", err)
	}
	at := func(offset int) int64 { return int64(binary.BigEndian.Uint32(header[offset:])) }
	const restore = "restore it from a backup, or move it away to begin a new ledger, with budgets as if nothing had been spent"
	format := []int64{1, 2, 3, 4}
	switch {
	case string(header[:16]) != "SQLite format 3\x00":
		return fmt.Errorf("open ledger %s: %w: it is no database; name another file", path, ledger.ErrCorrupt)
	case err != nil:
		return fmt.Errorf("open ledger %s: %w: it is cut off; %s", path, ledger.ErrCorrupt, restore)
	case at(68) != application:
		return fmt.Errorf("open ledger %s: %w: it is another program's database; name another file", path, ledger.ErrCorrupt)
	case at(60) == 0 || at(60) > 1<<31-1 || !slices.Contains(format, at(44)) || at(56) != 1:
		return fmt.Errorf("open ledger %s: %w: its header makes no sense; %s", path, ledger.ErrCorrupt, restore)
	case at(60) > int64(newest()):
		return newer(path, int(at(60)))
	case size < pages(header)*int64(pageSize(header)) && !hasLog(path):
		return fmt.Errorf("open ledger %s: %w: it is cut off; %s", path, ledger.ErrCorrupt, restore)
	}
	return nil
}

func newer(path string, version int) error {
	return fmt.Errorf("open ledger %s: %w: its schema has version %d, and the newest known here is %d; use the newer program", path, ledger.ErrNewer, version, newest())
}

func pageSize(header []byte) int {
	if n := int(binary.BigEndian.Uint16(header[16:])); n != 1 {
		return n
	}
	return 65536
}

// pages is how many pages the file should have, 0 if that is not said.
func pages(header []byte) int64 {
	if string(header[24:28]) != string(header[92:96]) {
		return 0 // written by a version that did not count
	}
	return int64(binary.BigEndian.Uint32(header[28:]))
}

// hasLog reports whether there are writes that are not in the file yet: it may be longer once they are.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}
