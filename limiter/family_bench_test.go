package limiter_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// clientNames returns n different names as a server would see them.
func clientNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "client-" + strconv.Itoa(1_000_000+i)
	}
	rand.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// BenchmarkHandle takes from one budget by its handle, alone and with more
// callers than cores.
func BenchmarkHandle(b *testing.B) {
	for _, callers := range []int{1, 8, 100} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			handle := limiter.NewMemory().Budget("b", bucket(1e12, 1e9, time.Second))
			take := func() {
				if ok, err := handle.TryAcquire(context.Background(), 1); !ok || err != nil {
					b.Error(ok, err)
				}
			}
			b.ReportAllocs()
			if callers == 1 {
				for b.Loop() {
					take()
				}
				return
			}
			b.SetParallelism(callers / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					take()
				}
			})
		})
	}
}

// BenchmarkReserveShared has more callers than cores reserve and settle on one
// budget.
func BenchmarkReserveShared(b *testing.B) {
	for _, callers := range []int{1, 8, 100} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			m := limiter.NewMemory()
			handle := m.Budget("b", bucket(1e12, 1e9, time.Second))
			ctx := context.Background()
			work := func(charges []limiter.Charge, actual []int64) {
				r, _, err := m.Reserve(ctx, charges)
				if err == nil {
					err = r.Settle(ctx, actual)
				}
				if err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			if callers == 1 {
				charges := []limiter.Charge{{Budget: handle, N: 2}}
				for b.Loop() {
					work(charges, []int64{1})
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				charges := []limiter.Charge{{Budget: handle, N: 2}}
				for pb.Next() {
					work(charges, []int64{1})
				}
			})
		})
	}
}

// BenchmarkFamily looks a name up among many and takes from it.
func BenchmarkFamily(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			f := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: bucket(1e6, 1, time.Hour), Most: n})
			names := clientNames(n)
			take := func(i int) {
				if ok, err := f.Budget(names[i]).TryAcquire(context.Background(), 1); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			for i := range names {
				take(i)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				take(i)
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

// BenchmarkNames measures what a million idle names cost in memory, and how
// long the slices of a sweep are.
func BenchmarkNames(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		b.StopTimer()
		names := clientNames(n)
		m := limiter.NewMemory()
		before := liveHeap()
		f := m.Family(limiter.FamilyOptions{Rule: bucket(1000, 1, time.Hour), Most: n})
		for _, name := range names {
			if ok, err := f.Budget(name).TryAcquire(context.Background(), 1); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
		b.ReportMetric(float64(liveHeap()-before)/n, "B/name")
		m.Skip(2 * time.Hour)
		b.StartTimer()
		if dropped := f.Sweep(); dropped != n {
			b.Fatalf("%d dropped, want all", dropped)
		}
		b.StopTimer()
		runtime.KeepAlive(names)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/n, "ns/name")
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
