package limitbench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// BenchmarkSweep is how long a caller may be kept waiting while a million
// names are swept. It is seen from outside: a goroutine makes calls on random
// names without a pause and notes its slowest. Whatever else the machine runs
// makes some call slow, so there are several sweeps, and the best of them says
// what the sweep itself is to blame for. The line "alone" is the same beside a
// goroutine that merely computes.
func BenchmarkSweep(b *testing.B) {
	names := shuffledNames(1_000_000)
	var lines []*sweepLine
	for _, s := range []struct {
		name   string
		sweeps int
		make   func() sweeper
	}{
		{"tokenfare", 5, func() sweeper { return sweepOurs(limiter.TokenBucket{Size: 1 << 20, Refill: 1 << 20, Every: 1}) }},
		{"tokenfare-none-idle", 5, func() sweeper { return sweepOurs(bucket(much, slow)) }},
		{"sethvargo", 2, sweepSethvargo},
		{"ulule", 2, sweepUlule},
		{"alone", 5, func() sweeper {
			s := sweepOurs(bucket(much, slow))
			s.sweep = func() { compute(200 * time.Millisecond) }
			return s
		}},
	} {
		l := &sweepLine{name: s.name}
		for range min(s.sweeps, rounds()) {
			l.measure(s.make(), names)
		}
		lines = append(lines, l)
	}
	for _, l := range lines {
		b.Run(l.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(slices.Min(l.slowest), "least-worst-µs")
			b.ReportMetric(median(l.slowest), "worst-µs")
			b.ReportMetric(median(l.took), "sweep-ms")
		})
	}
}

// sweeper is a store that can be filled and swept.
type sweeper struct {
	call  func(names []string) int // what others do meanwhile
	sweep func()                   // returns when it is done
	close func()
}

type sweepLine struct {
	name          string
	slowest, took []float64
}

// measure fills a store and has it swept beside a caller.
func (l *sweepLine) measure(s sweeper, names []string) {
	defer s.close()
	s.call(names)
	defer quiet()()
	var took time.Duration
	var done atomic.Bool
	go func() {
		began := time.Now()
		s.sweep()
		took = time.Since(began)
		done.Store(true)
	}()
	random := rand.New(rand.NewPCG(1, 2))
	slowest := time.Duration(0)
	for !done.Load() {
		name := random.IntN(len(names))
		began := time.Now()
		s.call(names[name : name+1])
		slowest = max(slowest, time.Since(began))
	}
	l.slowest = append(l.slowest, float64(slowest)/float64(time.Microsecond))
	l.took = append(l.took, float64(took)/float64(time.Millisecond))
}

func sweepOurs(rule limiter.Rule) sweeper {
	o := ours{f: limiter.NewMemory().Family(limiter.FamilyOptions{Rule: rule})}
	return sweeper{call: o.named, sweep: func() { o.f.Sweep() }, close: func() {}}
}

// The other two sweep by a timer of their own, of which they do not tell.
const (
	sweepAfter = 4 * time.Second // time enough to be filled
	sweepTime  = 2 * time.Second // time enough for the sweep
)

func sweepSethvargo() sweeper {
	began := time.Now()
	s := sethvargo{sethvargoStore(plenty, sweepAfter, 1)}
	return sweeper{call: s.named, sweep: func() { pass(began) }, close: s.close}
}

func sweepUlule() sweeper {
	began := time.Now()
	u := ulule{ululeLimiter(plenty, time.Millisecond, sweepAfter)}
	return sweeper{call: u.named, sweep: func() { pass(began) }, close: func() {}}
}

// pass returns when a sweep must have come and gone.
func pass(began time.Time) {
	if late := time.Since(began) - sweepAfter; late > 0 {
		panic(fmt.Sprintf("BUG: filling took %v longer than the pause before the sweep", late))
	}
	time.Sleep(sweepAfter + sweepTime - time.Since(began))
}

func compute(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}
