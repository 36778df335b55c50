package limitbench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// BenchmarkOneBudget is the bare decision: one caller, one budget, one unit.
func BenchmarkOneBudget(b *testing.B) {
	subjects := everyOne(b, plenty, steady)
	charges := &subject{name: "tokenfare-states", run: newOurs(plenty, steady).(ours).charged}
	compare(b, true, append(subjects, charges))
}

// BenchmarkRefused is the same where nothing is left.
func BenchmarkRefused(b *testing.B) {
	subjects := everyOne(b, 1, period)
	o := newOurs(1, period).(ours)
	for _, s := range append(subjects, &subject{run: o.one}) {
		s.run(1)
	}
	compare(b, false, append(subjects, &subject{name: "tokenfare-states", run: o.charged}))
}

func everyOne(b *testing.B, limit int64, each time.Duration) (subjects []*subject) {
	b.Helper()
	for _, l := range libraries {
		subjects = append(subjects, &subject{name: l.name, run: fresh(b, l, limit, each).one})
	}
	return subjects
}

// charged decides by the general call, which also tells the state of the
// budget and when a refused call could pass.
func (o ours) charged(n int) (passed int) {
	charges := []limiter.Charge{{Budget: o.b, N: 1}}
	for range n {
		if d, err := limiter.TryAcquire(ctx, o.m, charges); err == nil && d.OK {
			passed++
		}
	}
	return passed
}

// BenchmarkNamed looks one of many budgets up by name, in random order. All are
// made several times over, as it is a matter of luck where in memory they lie.
func BenchmarkNamed(b *testing.B) {
	for _, many := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			names := shuffledNames(many)
			var subjects []*subject
			for _, l := range libraries {
				subjects = append(subjects, &subject{name: l.name})
			}
			const times = 3
			for range times {
				var made []contender
				for _, i := range rand.Perm(len(libraries)) {
					c := libraries[i].make(much, slow)
					made = append(made, c)
					for _, name := range names {
						c.named([]string{strings.Clone(name)}) // as no two requests share a string
					}
					subjects[i].run = walk(c, names)
				}
				takeTurns(b, true, subjects, max(1, rounds()/times))
				discard(made...)
			}
			for _, s := range subjects {
				s.run = nil
			}
			report(b, subjects)
		})
	}
}

// walk makes calls on name after name, round and round.
func walk(c contender, names []string) func(n int) (passed int) {
	at := 0
	return func(n int) (passed int) {
		for n > 0 {
			if at == len(names) {
				at = 0
			}
			part := names[at:min(at+n, len(names))]
			passed += c.named(part)
			at += len(part)
			n -= len(part)
		}
		return passed
	}
}

func shuffledNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = nameOf(i)
	}
	rand.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

func nameOf(i int) string { return fmt.Sprintf("user-%07d", i) }

// BenchmarkHot has many goroutines at one budget. of-one is what is left of
// the throughput of one goroutine. Turns during which the machine had no two
// cores for us are not counted: goroutines that take turns on one core do not
// get into each other's way.
func BenchmarkHot(b *testing.B) {
	subjects := append(
		everyOne(b, plenty, steady),
		&subject{name: "tokenfare-states", run: newOurs(plenty, steady).(ours).charged},
		&subject{name: "tokenfare-reserve-settle", run: newOurs(plenty, steady).(ours).reserveSettle},
		&subject{name: "x-time-rate-reserve-cancel", run: newXRate(plenty, steady).(*xRate).reserveCancel},
	)
	defer quiet()()
	counts := []int{1, 2, 8, 100}
	var all [][]*subject // of each subject, one for each number of goroutines
	for _, s := range subjects {
		s.prepare()
		var each []*subject
		for _, g := range counts {
			each = append(each, &subject{name: s.name, n: 2 * s.n / g * g, run: spread(s.run, g)})
		}
		all = append(all, each)
	}
	few := max(3, rounds()/3)
	for range 5 * few {
		for _, i := range rand.Perm(len(all)) {
			if len(all[i][0].cpu) == few {
				continue
			}
			free := twoCores()
			for _, j := range rand.Perm(len(counts)) {
				all[i][j].turn(b, true)
			}
			if !free || !twoCores() {
				for _, s := range all[i] {
					s.forget()
				}
			}
		}
	}
	for j, g := range counts {
		b.Run(fmt.Sprint(g), func(b *testing.B) {
			for i := range all {
				s := all[i][j]
				b.Run(s.name, func(b *testing.B) {
					if len(s.cpu) == 0 {
						b.Skip("the machine never had two cores to spare")
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(1e3/median(s.wall), "M/s")
					b.ReportMetric(ratio(all[i][0].wall, s.wall), "of-one")
					b.ReportMetric(median(s.cpu), "cpu-ns/op")
				})
			}
		})
	}
}

// twoCores reports whether two goroutines get almost two cores just now.
func twoCores() bool {
	cpu, began := cpuTime(), time.Now()
	spread(func(int) int { compute(500 * time.Microsecond); return 0 }, 2)(2)
	return float64(cpuTime()-cpu) > 1.6*float64(time.Since(began))
}

// spread divides the calls among goroutines.
func spread(run func(n int) int, goroutines int) func(n int) (passed int) {
	return func(n int) int {
		var (
			wg     sync.WaitGroup
			mu     sync.Mutex
			passed int
		)
		for g := range goroutines {
			wg.Go(func() {
				p := run(n*(g+1)/goroutines - n*g/goroutines)
				mu.Lock()
				passed += p
				mu.Unlock()
			})
		}
		wg.Wait()
		return passed
	}
}
