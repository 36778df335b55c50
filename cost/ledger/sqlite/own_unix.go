//go:build unix

package sqlite

import (
	"os"
	"strconv"
	"syscall"
)

// links is how many names a file has.
func links(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) // of another size on every system
	}
	return 1
}

// inode is by what all names of a file are found.
func inode(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(stat.Ino, 10)
	}
	return ""
}
