//go:build unix && !linux

package sqlite_test

import "testing"

// smallDisk is for Linux alone.
func smallDisk(*testing.T, int) (dir string, mounted bool) { return "", false }
