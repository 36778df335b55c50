package main

import "testing"

// TestGarbagePercent: what little is kept, 16 MiB of garbage may gather; where more is kept than that, as much again.
func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		kept uint64
		want int
	}{
		{0, 400},
		{1, 400},
		{2 << 20, 400},
		{4 << 20, 400},
		{5 << 20, 300},
		{8 << 20, 200},
		{10 << 20, 150},
		{16 << 20, 100},
		{1 << 30, 100},
		{1 << 62, 100},
	} {
		if got := garbagePercent(c.kept); got != c.want {
			t.Errorf("%d bytes kept: %d %%, not %d", c.kept, got, c.want)
		}
	}
}
