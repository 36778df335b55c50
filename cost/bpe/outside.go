package bpe

import (
	"math"
	"runtime/debug"
	"sync"
	"unsafe"
)

// outside is memory besides the garbage collector's, for tables that hold no pointers and live as long as the process. The collector lets
// garbage grow to as much as it keeps, so that tables of 13 MB in its memory take 26; and it gets its memory in small pages, which
// a processor must look up again whenever it comes back to one after doing something else.
var outside struct {
	sync.Mutex
	free []byte // what is left of the last mapping
}

const (
	mapping   = 16 << 20 // bytes that are asked for at a time; what is not used of them is never made
	cacheLine = 64
)

// take returns n zero values of T, which must hold no pointers. They are never given back. It is safe for concurrent use.
func take[T any](n int) []T {
	part := takeBytes(n * int(unsafe.Sizeof(*new(T))))
	if part == nil {
		return make([]T, n)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(part))), n) // aligned as a cache's lines are
}

// takeBytes returns some memory, of which nobody has had any; nil: the system has none.
func takeBytes(size int) []byte {
	size = (size + cacheLine - 1) &^ (cacheLine - 1)
	if size == 0 || size > mapping {
		return nil
	}
	outside.Lock()
	defer outside.Unlock()
	if len(outside.free) < size {
		mapped := mapMemory(mapping)
		if mapped == nil {
			return nil
		}
		outside.free = mapped
	}
	part := outside.free[:size:size]
	outside.free = outside.free[size:]
	leaveRoom(int64(size))
	return part
}

// leaveRoom takes something off the limit of the collector's memory, where there is one (GOMEMLIMIT): it is meant for all there is.
func leaveRoom(size int64) {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		debug.SetMemoryLimit(max(limit-size, 0))
	}
}
