package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// network are file systems on which flock is made of the locks that SQLite uses, see flock(2): it would lock SQLite out. They are
// NFS and three of SMB's, by their numbers of statfs(2).
var network = []uint32{0x6969, 0x517b, 0xff534d42, 0xfe534d42}

// taken locks a file as long as it is open, and reports that somebody else has. Where there is no such lock nobody has.
func taken(file *os.File) bool {
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &disk); err != nil || slices.Contains(network, uint32(disk.Type)) {
		return false
	}
	return errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// apart reports that a file is mounted where it is by itself, and its directory is of another mount. Without /proc that is not known.
func apart(file *os.File, in string) bool {
	dir, err := os.Open(in)
	if err != nil {
		return false
	}
	defer dir.Close()
	a, b := mount(file), mount(dir)
	return a != "" && b != "" && a != b
}

// mount is the number of the mount that a file was opened by, see proc_pid_fdinfo(5).
func mount(file *os.File) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", file.Fd()))
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(text, []byte("mnt_id:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// full reports that a disk has no room for more of a file, or for more files.
func full(dir string) bool {
	var disk syscall.Statfs_t
	return syscall.Statfs(dir, &disk) == nil && (disk.Bavail == 0 || disk.Files > 0 && disk.Ffree == 0)
}
