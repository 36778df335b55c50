package limitbench

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestMain has every benchmark run once: it makes its own rounds, and reports
// each contender as a sub-benchmark that has nothing left to do.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var roundsFlag = flag.Int("rounds", 101, "how often each contender of a benchmark gets its turn; -short does with a tenth")

// slice is how long a turn is: long against the microsecond in which CPU is
// counted, short against the time in which a busy machine changes its mood.
const slice = 2 * time.Millisecond

// subject is something whose calls are counted and timed.
type subject struct {
	name string
	run  func(n int) (passed int) // makes n calls
	n    int                      // calls a slice

	cpu, wall []float64 // nanoseconds a call, one figure a round
	allocs    float64   // a call
}

// compare lets the subjects take turns and reports a line for each, as a
// sub-benchmark of its name. The first one is ours. Every call must answer pass.
func compare(b *testing.B, pass bool, subjects []*subject) {
	b.Helper()
	takeTurns(b, pass, subjects, rounds())
	report(b, subjects)
}

func takeTurns(b *testing.B, pass bool, subjects []*subject, rounds int) {
	b.Helper()
	defer quiet()()
	for _, s := range subjects {
		s.prepare()
	}
	for range rounds {
		for _, i := range rand.Perm(len(subjects)) {
			subjects[i].turn(b, pass)
		}
	}
}

func rounds() int {
	if testing.Short() {
		return max(3, *roundsFlag/10)
	}
	return *roundsFlag
}

// quiet tidies up, stops the collector until the function it returns is called.
func quiet() (loud func()) {
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(percent) }
}

// prepare finds out how many calls fill a slice and what they allocate.
func (s *subject) prepare() {
	for s.n = 64; ; s.n *= 2 {
		began := time.Now()
		s.run(s.n)
		if took := time.Since(began); took >= slice/2 {
			s.n = max(1, int(float64(s.n)*float64(slice)/float64(took)))
			break
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.run(s.n)
	runtime.ReadMemStats(&after)
	// A run may allocate its own few things; they are not the calls'.
	s.allocs = float64((after.Mallocs - before.Mallocs) / uint64(s.n))
}

// turn is one slice, after a short one that is not measured.
func (s *subject) turn(b *testing.B, pass bool) {
	b.Helper()
	s.run(s.n/8 + 1)
	cpu, began := cpuTime(), time.Now()
	passed := s.run(s.n)
	wall, used := time.Since(began), cpuTime()-cpu
	if pass && passed != s.n || !pass && passed != 0 {
		b.Fatalf("%s: %d of %d calls passed", s.name, passed, s.n)
	}
	s.cpu = append(s.cpu, float64(used)/float64(s.n))
	s.wall = append(s.wall, float64(wall)/float64(s.n))
}

// forget drops the last turn.
func (s *subject) forget() {
	s.cpu, s.wall = s.cpu[:len(s.cpu)-1], s.wall[:len(s.wall)-1]
}

func report(b *testing.B, subjects []*subject) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op") // nothing is timed here
			b.ReportMetric(median(s.cpu), "cpu-ns/op")
			b.ReportMetric(median(s.wall), "wall-ns/op")
			b.ReportMetric(s.allocs, "allocs/call")
			b.ReportMetric(ratio(s.cpu, subjects[0].cpu), "x-of-ours")
			for _, other := range subjects {
				if other.name == "cas" {
					b.ReportMetric(ratio(s.cpu, other.cpu), "x-of-cas")
				}
			}
		})
	}
}

// ratio is the median of the ratios within each round.
func ratio(a, b []float64) float64 {
	r := make([]float64, len(a))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	return median(r)
}

func median[N cmp.Ordered](of []N) N {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// cpuTime is what this process has used so far, in user and kernel mode.
func cpuTime() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// preemptions is how often the kernel has given a core of ours to others.
func preemptions() int64 { return usage().Nivcsw }

func usage() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err))
	}
	return u
}
