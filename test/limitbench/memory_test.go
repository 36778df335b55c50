package limitbench

import (
	"runtime"
	"testing"
)

// BenchmarkMemory is what a name costs that was used once: its heap, key and
// map included, with a million of them.
func BenchmarkMemory(b *testing.B) {
	const many = 1_000_000
	type figure struct{ bytes, objects float64 }
	var figures []figure
	for _, l := range libraries {
		c := fresh(b, l, much, slow)
		before := heap()
		for i := range many {
			c.named([]string{nameOf(i)}) // the contender keeps the name, or it goes
		}
		after := heap()
		figures = append(figures, figure{
			float64(after.HeapAlloc-before.HeapAlloc) / many,
			float64(after.HeapObjects-before.HeapObjects) / many,
		})
		runtime.KeepAlive(c)
	}
	for i, l := range libraries {
		b.Run(l.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(figures[i].bytes, "B/name")
			b.ReportMetric(figures[i].objects, "objects/name")
			b.ReportMetric(figures[i].bytes/figures[0].bytes, "x-of-ours")
		})
	}
}

func heap() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC() // what finalizers and pools held on to in the first
	runtime.ReadMemStats(&m)
	return m
}
