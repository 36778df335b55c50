package bpe

import (
	"math"
	"runtime/debug"
	"sync"
	"testing"
	"unsafe"
)

// TestTakeIsNobodyElses: what several goroutines take at once is zero, whole lines of a cache apart, and overlaps nothing.
func TestTakeIsNobodyElses(t *testing.T) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var taken [][]uint64
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				part := take[uint64](n + 1)
				if len(part) != n+1 || cap(part) != n+1 {
					t.Errorf("%d words of room for %d, for %d were asked", len(part), cap(part), n+1)
				}
				if uintptr(unsafe.Pointer(&part[0]))%8 != 0 {
					t.Error("a word is not where words are")
				}
				for at := range part {
					if part[at] != 0 {
						t.Error("memory that somebody has used")
						return
					}
					part[at] = uint64(i)<<32 | uint64(n)
				}
				mu.Lock()
				taken = append(taken, part)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, part := range taken {
		for _, word := range part {
			if word != part[0] {
				t.Fatalf("%x and %x share memory", word, part[0])
			}
		}
	}
}

// TestTakeMuchOrNothing: what no mapping holds is there all the same.
func TestTakeMuchOrNothing(t *testing.T) {
	if got := take[uint32](0); len(got) != 0 {
		t.Errorf("%d words, where none were asked for", len(got))
	}
	much := take[uint32](mapping)
	much[mapping-1] = 1
	if got := take[byte](mapping); len(got) != mapping {
		t.Errorf("%d bytes of %d", len(got), mapping)
	}
}

// TestTheLimitHoldsForAll: what is taken is taken off the limit of the collector's memory.
func TestTheLimitHoldsForAll(t *testing.T) {
	const limit = 1 << 40
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	part := take[byte](1000)
	want := int64(limit - 1024)
	if mapMemory(1) == nil { // the collector counts it
		want = limit
	}
	if got := debug.SetMemoryLimit(-1); got != want {
		t.Errorf("a limit of %d behind %d bytes, not %d", got, len(part), want)
	}
	debug.SetMemoryLimit(10)
	take[byte](1000)
	if got := debug.SetMemoryLimit(-1); got < 0 || got > 10 {
		t.Errorf("a limit of %d", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	take[byte](1000)
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("a limit of %d, where there was none", got)
	}
}
