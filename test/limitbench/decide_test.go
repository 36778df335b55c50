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
// the throughput of one goroutine, measured just before or after. Only turns
// at which the machine had two cores for us count: goroutines that take turns
// on one core do not get into each other's way.
func BenchmarkHot(b *testing.B) {
	subjects := append(
		everyOne(b, plenty, steady),
		&subject{name: "tokenfare-states", run: newOurs(plenty, steady).(ours).charged},
		&subject{name: "tokenfare-reserve-settle", run: newOurs(plenty, steady).(ours).reserveSettle},
		&subject{name: "x-time-rate-reserve-cancel", run: newXRate(plenty, steady).(*xRate).reserveCancel},
	)
	defer quiet()()
	var all []hot
	for _, s := range subjects {
		s.prepare()
		for _, g := range []int{2, 8, 100} {
			n := 2 * s.n / g * g
			all = append(all, hot{g, &subject{name: s.name, n: n, run: spread(s.run, 1)}, &subject{name: s.name, n: n, run: spread(s.run, g)}})
		}
	}
	few := max(3, rounds()/3)
	for range 5 * few {
		for _, i := range rand.Perm(len(all)) {
			if len(all[i].many.cpu) < few {
				all[i].turn(b)
			}
		}
	}
	for _, h := range all {
		b.Run(fmt.Sprintf("%d/%s", h.goroutines, h.many.name), func(b *testing.B) {
			if len(h.many.cpu) < few/4 {
				b.Skip("the machine hardly ever had two cores to spare")
			}
			b.ReportMetric(0, "ns/op") // nothing is timed here
			b.ReportMetric(1e3/median(h.many.wall), "M/s")
			b.ReportMetric(1e3/median(h.one.wall), "M/s-of-one")
			b.ReportMetric(ratio(h.one.wall, h.many.wall), "of-one")
			b.ReportMetric(median(h.many.cpu), "cpu-ns/op")
		})
	}
}

// hot is one subject as called by one goroutine and by many.
type hot struct {
	goroutines int
	one, many  *subject
}

func (h *hot) turn(b *testing.B) {
	for range 20 {
		if twoCores() {
			break
		}
	}
	first, second := h.one, h.many
	if rand.IntN(2) == 0 {
		first, second = second, first
	}
	before := preemptions()
	first.turn(b, true)
	second.turn(b, true)
	if preemptions()-before > 2 || !twoCores() {
		first.forget()
		second.forget()
	}
}

// twoCores reports whether two goroutines get almost two cores just now.
func twoCores() bool {
	cpu, began := cpuTime(), time.Now()
	spread(func(int) int { compute(300 * time.Microsecond); return 0 }, 2)(2)
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
