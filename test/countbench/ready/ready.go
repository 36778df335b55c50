// Package ready is what the programs beside it do: each makes the counters of
// one contender in a fresh process and prints what that took. Their sizes tell
// what a contender adds to a program; nothing has none.
package ready

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Main makes a counter for each encoding named on the command line, counts a
// few words with it, and prints wall time, CPU time, and live heap: nanoseconds,
// nanoseconds and bytes.
func Main(counter func(encoding string) (func(text string) int, error)) {
	before := live()
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
	heap := live()
	runtime.KeepAlive(counters)
	fmt.Fprintln(os.Stdout, wall.Nanoseconds(), used.Nanoseconds(), int64(heap)-int64(before))
}

// Nothing is a counter that counts words.
func Nothing(string) (func(text string) int, error) {
	return func(text string) int { return len(strings.Fields(text)) }, nil
}

func live() uint64 {
	runtime.GC()
	runtime.GC() // what pools held on to in the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
