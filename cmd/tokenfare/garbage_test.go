package main

import "testing"

// TestGarbagePercent: what little is kept, 10 MiB of garbage may gather; where more is kept than that, as much again.
func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		kept uint64
		want int
	}{
		{0, 250},
		{1, 250},
		{2 << 20, 250},
		{4 << 20, 250},
		{5 << 20, 200},
		{8 << 20, 125},
		{10 << 20, 100},
		{16 << 20, 100},
		{1 << 30, 100},
		{1 << 62, 100},
	} {
		if got := garbagePercent(c.kept); got != c.want {
			t.Errorf("%d bytes kept: %d %%, not %d", c.kept, got, c.want)
		}
	}
}
