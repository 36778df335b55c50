package sqlite_test

import (
	"strconv"
	"syscall"
	"testing"
)

// smallDisk mounts one of so many bytes, if the process may.
func smallDisk(t *testing.T, bytes int) (dir string, mounted bool) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(bytes)); err != nil {
		t.Logf("mount: %v", err)
		return "", false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}
