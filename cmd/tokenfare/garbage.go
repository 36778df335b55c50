package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	leastGarbage = 10 << 20 // bytes of garbage before it is collected, however little is kept
	usualPercent = 100      // of what is kept: Go's own measure
	mostPercent  = 250      // so that the least that Go collects for, 4 MiB for each hundred, is no more than leastGarbage
)

// letGarbageGather has garbage collected less often while little is kept. A collection takes a while even if there is next to nothing to
// keep, as here: the tables are elsewhere, and a call keeps nothing. What GOGC says goes before it.
func letGarbageGather() {
	if os.Getenv("GOGC") == "" {
		new(collected).watch(usualPercent)
	}
}

// collected is kept by nobody, so that each collection finds one.
type collected struct{ _ *collected }

// watch has the percentage set anew after the next collection.
func (c *collected) watch(percent int) {
	runtime.AddCleanup(c, func(before int) {
		kept := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(kept)
		percent := garbagePercent(kept[0].Value.Uint64())
		if percent != before {
			debug.SetGCPercent(percent)
		}
		new(collected).watch(percent)
	}, percent)
}

// garbagePercent is how much garbage there may be for what is kept, in percent of it, in steps: who sets it stops everybody.
func garbagePercent(kept uint64) int {
	const step = 25
	percent := leastGarbage / max(kept/100, 1)
	return int(min(max(percent, usualPercent), mostPercent)) / step * step
}
