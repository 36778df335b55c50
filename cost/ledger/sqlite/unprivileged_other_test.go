//go:build unix && !linux

package sqlite_test

import (
	"os"
	"testing"
)

// unprivileged is for tests that permissions must hold for. Nobody tests as the superuser but in containers, on Linux.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Fatal("run this as somebody for whom permissions hold")
	}
}
