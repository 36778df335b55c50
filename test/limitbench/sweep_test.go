package limitbench

import (
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
// makes some call slow, too; so calls that were slow because the kernel took a
// core from us do not count, there are several sweeps, and the best of them says what
// the sweep itself is to blame for. The line "alone" is the same beside a
// goroutine that merely computes.
func BenchmarkSweep(b *testing.B) {
	names := shuffledNames(1_000_000)
	var lines []*sweepLine
	for _, s := range []struct {
		name   string
		sweeps int
		make   func() sweeper
	}{
		{"tokenfare", 5, func() sweeper { return sweepOurs(bucket(much, idle), idle) }},
		{"tokenfare-none-idle", 5, func() sweeper { return sweepOurs(bucket(much, slow), 0) }},
		{"sethvargo", 2, sweepSethvargo},
		{"ulule", 2, sweepUlule},
		{"alone", 5, func() sweeper {
			s := sweepOurs(bucket(much, slow), 0)
			s.sweep = func() { compute(200 * time.Millisecond) }
			return s
		}},
	} {
		l := &sweepLine{name: s.name}
		for range min(s.sweeps, rounds()) {
			l.measure(s.make(), names)
			if l.missed {
				break
			}
		}
		lines = append(lines, l)
	}
	for _, l := range lines {
		b.Run(l.name, func(b *testing.B) {
			if l.missed {
				b.Skip("filling took longer than the pause before the sweep: the machine is too busy")
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(slices.Min(l.slowest), "least-worst-µs")
			b.ReportMetric(median(l.slowest), "worst-µs")
			b.ReportMetric(median(l.took), "sweep-ms")
		})
	}
}

// longTurn is longer than the kernel lets others have a core of ours in one go.
const longTurn = 20 * time.Millisecond

// sweeper is a store that can be filled and swept.
type sweeper struct {
	call  func(names []string) int // what others do meanwhile
	sweep func()                   // returns when it is done
	close func()
	pause time.Duration // between filling and the sweep
	due   time.Time     // or when it sweeps, if it has a clock of its own
}

type sweepLine struct {
	name          string
	slowest, took []float64
	missed        bool
}

// measure fills a store and has it swept beside a caller.
func (l *sweepLine) measure(s sweeper, names []string) {
	defer s.close()
	s.call(names)
	defer quiet()()
	if !s.due.IsZero() {
		s.pause = time.Until(s.due)
		if l.missed = s.pause < 0; l.missed {
			return
		}
	}
	time.Sleep(s.pause)
	var took time.Duration
	var done atomic.Bool
	go func() {
		began := time.Now()
		s.sweep()
		took = time.Since(began)
		done.Store(true)
	}()
	random := rand.New(rand.NewPCG(1, 2))
	slowest, calls, switches := time.Duration(0), 0, preemptions()
	for !done.Load() {
		name := random.IntN(len(names))
		began := time.Now()
		s.call(names[name : name+1])
		took := time.Since(began)
		switch calls++; {
		case calls%16 == 0:
			switches = preemptions()
		case took > slowest:
			now := preemptions()
			if now == switches || took > longTurn {
				slowest = took
			}
			switches = now
		}
	}
	l.slowest = append(l.slowest, float64(slowest)/float64(time.Microsecond))
	l.took = append(l.took, float64(took)/float64(time.Millisecond))
}

// idle is after what time the names of a bucket(much, idle) are as good as new.
// Those of a bucket(much, slow) are not for minutes.
const idle = 4 * time.Second

func sweepOurs(rule limiter.Rule, pause time.Duration) sweeper {
	o := ours{f: limiter.NewMemory().Family(limiter.FamilyOptions{Rule: rule})}
	return sweeper{call: o.named, sweep: func() { o.f.Sweep() }, close: func() {}, pause: pause}
}

// The other two sweep by a timer of their own, of which they do not tell.
const (
	sweepAfter = 6 * time.Second // time enough to be filled, on most days
	sweepTime  = 2 * time.Second // time enough for the sweep, and a little before
)

func sweepSethvargo() sweeper {
	s := sethvargo{sethvargoStore(plenty, sweepAfter, 1)}
	return sweeper{call: s.named, sweep: pass, close: s.close, due: soon()}
}

func sweepUlule() sweeper {
	u := ulule{ululeLimiter(plenty, time.Millisecond, sweepAfter)}
	return sweeper{call: u.named, sweep: pass, close: func() {}, due: soon()}
}

func soon() time.Time { return time.Now().Add(sweepAfter - sweepTime/4) }

// pass returns when a sweep must have come and gone.
func pass() { time.Sleep(sweepTime) }

func compute(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}
