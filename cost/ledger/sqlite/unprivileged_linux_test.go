package sqlite_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// unprivileged makes permissions hold for what this test's goroutine does with files, though the superuser runs it: files are
// opened as nobody from then on. It is this thread's alone.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	set := func(uid int) { syscall.Syscall(syscall.SYS_SETFSUID, uintptr(uid), 0, 0) }
	set(nobody)
	t.Cleanup(func() {
		set(0)
		runtime.UnlockOSThread()
	})
	if file, err := os.Open("/proc/1/environ"); err == nil {
		file.Close()
		t.Fatal("BUG: the test can still read what is root's alone")
	}
}
