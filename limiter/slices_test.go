//go:build !race

package limiter

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestSweepGoesInSlices sweeps a million names, all of them idle, and keeps
// the sweep waiting at every lock it takes: by then it must have let go of all
// others, and what it has looked at since the last must be few. How long that
// takes is for the benchmark to tell. A million names are too many for the
// race detector, which has nothing to find here.
func TestSweepGoesInSlices(t *testing.T) {
	const names = 1_000_000
	f := manyNames(t, names)
	f.memory.Skip(24 * time.Hour)
	await := func(i int, what string, done func() bool) {
		for range 10_000_000 {
			if done() {
				return
			}
			runtime.Gosched()
		}
		t.Fatalf("part %d: the sweep %s", i, what)
	}
	parts := partsOf(f)
	lock := func(i int) { await(i, "does not let go of the lock", parts[i].mu.TryLock) }
	lock(0)
	swept := make(chan int, 1)
	go func() { swept <- f.Sweep() }()
	before := int64(0)
	for i, p := range parts {
		if i+1 < len(parts) {
			lock(i + 1)
		}
		if f.Dropped() != before {
			t.Fatalf("part %d is swept without its lock", i)
		}
		p.mu.Unlock()
		await(i, "waits for more than its lock", func() bool { return p.n == 0 || f.Dropped() > before })
		if n := int(f.Dropped() - before); n != p.n || n > mostPerPart {
			t.Fatalf("part %d: %d names dropped under one lock; %d were there, and %d are allowed", i, n, p.n, mostPerPart)
		}
		lock(i)
		p.mu.Unlock()
		before = f.Dropped()
	}
	if n := <-swept; n != names || f.Len() != 0 {
		t.Fatalf("%d dropped, %d left", n, f.Len())
	}
}

// TestGrowthSweepsInSlices makes names that are idle at once: whoever makes one
// may have to drop others first, but only few.
func TestGrowthSweepsInSlices(t *testing.T) {
	const names = 200_000
	f := NewMemory().Family(FamilyOptions{Rule: Total{Limit: 1}, Most: names})
	for i := range names {
		before := f.Dropped()
		f.Budget(strconv.Itoa(i))
		if n := f.Dropped() - before; n > mostPerPart {
			t.Fatalf("%d names dropped for one", n)
		}
	}
	if f.Dropped() < names/2 {
		t.Fatalf("only %d dropped, of names that are all idle", f.Dropped())
	}
}

// manyNames returns a family of that many names, all in use until its clock
// has gone on by a day.
func manyNames(t testing.TB, names int) *Family {
	t.Helper()
	rule := TokenBucket{Size: 10, Refill: 1, Every: time.Hour}
	f := NewMemory().Family(FamilyOptions{Rule: rule, Most: names})
	for i := range names {
		if ok, err := f.Budget(strconv.Itoa(i)).TryAcquire(context.Background(), 10); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if f.Len() != names {
		t.Fatalf("%d names", f.Len())
	}
	return f
}

// partsOf returns the parts of a family in the order a sweep takes them.
func partsOf(f *Family) (all []*part) {
	f.directory.each(func(p *part, _ uint64) { all = append(all, p) })
	return all
}

// BenchmarkSweepHold is how long a sweep of a million names keeps each lock, if
// it drops all of them or none. Whatever else the machine runs makes the longest
// longer.
func BenchmarkSweepHold(b *testing.B) {
	const names = 1_000_000
	for _, c := range []struct {
		name    string
		dropped int
	}{{"used", 0}, {"idle", names}} {
		b.Run(c.name, func(b *testing.B) {
			var all []time.Duration
			for b.Loop() {
				b.StopTimer()
				f := manyNames(b, names)
				if c.dropped > 0 {
					f.memory.Skip(24 * time.Hour)
				}
				runtime.GC()
				b.StartTimer()
				dropped := 0
				f.directory.each(func(p *part, hash uint64) {
					start := time.Now()
					dropped += f.sweep(p, hash)
					all = append(all, time.Since(start))
				})
				if dropped != c.dropped {
					b.Fatalf("%d dropped, want %d", dropped, c.dropped)
				}
			}
			report := func(d time.Duration, unit string) { b.ReportMetric(float64(d)/1000, unit) }
			slices.Sort(all)
			report(all[len(all)/2], "median-µs")
			report(all[len(all)-1-len(all)/1000], "p99.9-µs")
			report(all[len(all)-1], "longest-µs")
		})
	}
}
