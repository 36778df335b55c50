package countbench

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

// TestMain has every benchmark run once, on one core: it makes its own rounds,
// and reports each contender as a sub-benchmark that has nothing left to do.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var roundsFlag = flag.Int("rounds", 31, "how often each contender of a benchmark gets its turn; -short does with a fifth")

func rounds() int {
	if testing.Short() {
		return max(3, *roundsFlag/5)
	}
	return *roundsFlag
}

// slice is how long a turn is at least: long against the microsecond in which
// CPU is counted, short against the time in which a busy machine changes its
// mood. A turn is no less than all of the texts once, so it may be longer.
const slice = 2 * time.Millisecond

// subject is something that counts texts and is timed.
type subject struct {
	name  string
	count func(text string) int
	texts func(round int) []string // of the same length each round
	fresh bool                     // counts texts once, and has not seen them before
	times int                      // how often it counts them in a turn

	cpu, wall []float64 // nanoseconds for the texts once, one figure a turn
	allocs    float64   // a text
}

// takeTurns gives each subject a turn a round, in an order shuffled each time.
func takeTurns(subjects []*subject, rounds int) {
	defer quiet()()
	for _, s := range subjects {
		s.prepare()
	}
	for round := range rounds {
		for _, i := range rand.Perm(len(subjects)) {
			tidy()
			subjects[i].turn(round)
		}
	}
}

// quiet leaves one core to this process and stops the collector, until the
// function it returns is called.
func quiet() (loud func()) {
	runtime.GC()
	percent, cores := debug.SetGCPercent(-1), runtime.GOMAXPROCS(1)
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(cores)
	}
}

// tidy collects between turns what contenders have left lying about, once it is
// much.
func tidy() {
	const much = 512 << 20
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > much {
		runtime.GC()
	}
}

// prepare finds out how often the texts fill a slice, and what a count
// allocates: the least of some, as the runtime allocates things of its own, and
// a busy machine may leave a run lying about in the middle.
func (s *subject) prepare() {
	texts := s.texts(0)
	s.run(texts) // what is made at first use is no part of it
	var allocs, took []float64
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		s.run(texts)
		took = append(took, float64(time.Since(began)))
		runtime.ReadMemStats(&after)
		allocs = append(allocs, float64(after.Mallocs-before.Mallocs)/float64(len(texts)))
	}
	s.allocs = slices.Min(allocs)
	if s.times = 1; !s.fresh {
		s.times += int(float64(slice) / max(slices.Min(took), 1))
	}
}

func (s *subject) run(texts []string) {
	for _, text := range texts {
		s.count(text)
	}
}

// turn is one slice. Those who are that fast count the texts once before, as
// the processor may have forgotten them and their tables at the others' turns.
func (s *subject) turn(round int) {
	texts := s.texts(round)
	if s.times > 1 {
		s.run(texts)
	}
	cpu, began := cpuTime(), time.Now()
	for range s.times {
		s.run(texts)
	}
	wall, used := time.Since(began), cpuTime()-cpu
	s.cpu = append(s.cpu, float64(used)/float64(s.times))
	s.wall = append(s.wall, float64(wall)/float64(s.times))
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
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
