// Package ready is what the programs beside it do: each makes the counters of
// one contender in a fresh process and prints what that took. Their sizes tell
// what a contender adds to a program; nothing has none.
package ready

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Main makes a counter for each encoding named on the command line, counts a
// few words with it, and prints wall time, CPU time, and the memory it keeps:
// nanoseconds, nanoseconds and bytes.
func Main(counter func(encoding string) (func(text string) int, error)) {
	before := kept()
	cpu, began := cpuTime(), time.Now()
	var counters []func(string) int
	for _, encoding := range os.Args[1:] {
		count, err := counter(encoding)
		if err != nil {
			fmt.Fprintln(os.Stderr, "ready:", err)
			os.Exit(1)
		}
		count("hello world")
		counters = append(counters, count)
	}
	wall, used := time.Since(began), cpuTime()-cpu
	memory := kept()
	runtime.KeepAlive(counters)
	fmt.Fprintln(os.Stdout, wall.Nanoseconds(), used.Nanoseconds(), memory-before)
}

// Nothing is a counter that counts words.
func Nothing(string) (func(text string) int, error) {
	return func(text string) int { return len(strings.Fields(text)) }, nil
}

// kept is what is resident of this process but the pages of its file, once all
// that is not used has gone back; where the system does not say, the live heap.
func kept() int64 {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what pools held on to in the first
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := strings.Cut(string(status), "RssAnon:"); ok {
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			return kib << 10
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // a heap is smaller than that
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
