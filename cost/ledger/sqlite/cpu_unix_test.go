//go:build unix

package sqlite_test

import (
	"syscall"
	"testing"
	"time"
)

// cpu is what this process has taken of processors so far.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
