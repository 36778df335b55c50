package limitertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/limiter"
)

// history runs a limiter and the reference side by side.
type history struct {
	failer
	chooser
	book
	h        Harness
	t        testing.TB // to do with the harness; fails the whole run, not the history
	limiter  limiter.Limiter
	handles  []*limiter.Budget
	accounts []*account
	open     []running
	ended    []running       // to be drawn on and settled again, in vain
	promised []time.Duration // instants that somebody was told
	states   []limiter.State // as the last action left them
	watch    watch
	zone     *time.Location
	crowded  bool // calls begin and stay, and little time passes: draws have to wait for each other
}

// running is one call on both sides.
type running struct {
	reservation *limiter.Reservation
	call        *call
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// actions are the things that can happen in a history. Choices are more often
// low than high, and some are there several times.
var actions = []func(m *history){
	(*history).reserve,
	(*history).draw,
	(*history).wait,
	(*history).drawAgain,
	(*history).end,
	(*history).acquire,
	(*history).rush,
	(*history).inc,
	(*history).revise,
	(*history).disturb,
	(*history).callOff,
	(*history).misuse,
	(*history).wait,
	(*history).reserve,
	(*history).drawAgain,
	(*history).draw,
	(*history).end,
}

func (m *history) step() {
	actions[m.between("action", 0, int64(len(actions)-1))](m)
}

// perSeed is how many histories go by one seed and are one test.
const perSeed = 100

// histories plays random histories, each in surroundings of its own.
func (h Harness) histories(t *testing.T, n int) {
	for i := range (n + perSeed - 1) / perSeed {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { h.history(t, rt) })
		})
	}
}

// history plays one. rapid learns by a panic that it failed, or that it ran
// out of choices, and tells panics apart by the lines they come from. They
// must not end the goroutine of a bubble.
func (h Harness) history(t *testing.T, rt *rapid.T) {
	var failure any
	h.within(t, func(t *testing.T) {
		defer func() { failure = recover() }()
		m := newHistory(h, t, rt, drawn{rt})
		rt.Repeat(map[string]func(*rapid.T){"step": func(*rapid.T) { m.step() }, "": func(*rapid.T) { m.check() }})
		m.finish()
	})
	switch {
	case failure == nil:
	case strings.HasPrefix(fmt.Sprintf("%T", failure), "rapid.stop"):
		panic(failure)
	default:
		panic(failure)
	}
}

// Fuzz adds seeds to a fuzzer and has it play the histories it makes up.
func Fuzz(f *testing.F, h Harness) {
	for i := range uint64(40) {
		seed := make([]byte, 20*(i+1))
		rand.NewChaCha8([32]byte{byte(i)}).Read(seed) //nolint:errcheck // never fails
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h.within(t, func(t *testing.T) {
			choices := &decoded{data}
			m := newHistory(h, t, t, choices)
			for steps := 0; choices.more() && steps < 200; steps++ {
				m.step()
				m.check()
			}
			m.finish()
		})
	})
}

func newHistory(h Harness, t testing.TB, f failer, c chooser) *history {
	m := &history{failer: f, chooser: c, book: book{tick: h.Tick}, h: h, t: t, limiter: h.New(t), zone: berlin(t)}
	wall := h.now(t)
	m.pass(m.ticksUpTo("wake", 2*time.Hour))
	for i := range m.between("budgets", 1, 4) {
		name, rule := strconv.Itoa(int(i)), m.rule()
		if m.one("revision") {
			rule = limiter.Revision{Rule: rule, Generation: m.between("generation", 1, 3)}
		}
		m.handles = append(m.handles, m.limiter.Budget(name, rule))
		m.Logf("%v: budget %s under %+v", m.book.now, name, rule)
		m.accounts = append(m.accounts, newAccount(name, rule, m.now, wall))
	}
	m.check()
	if m.crowded = m.between("crowded", 0, 1) == 1; m.crowded {
		for range 4 {
			m.reserve()
			m.check()
		}
	}
	return m
}

// one is true one time in five.
func (m *history) one(label string) bool { return m.between(label, 0, 4) == 1 }

func (m *history) ticksUpTo(label string, d time.Duration) time.Duration {
	return m.tick * time.Duration(m.between(label, 1, int64(d/m.tick)))
}

func (m *history) pass(d time.Duration) {
	m.h.Advance(m.t, d)
	m.book.pass(d)
}

func (m *history) rule() limiter.Rule {
	n := m.between("capacity", 1, 40)
	span := func(label string) time.Duration {
		if m.one(label + " of a second") {
			return time.Second
		}
		return m.ticksUpTo(label, 50*m.tick)
	}
	switch m.between("kind", 0, 7) {
	case 0, 1, 2:
		return limiter.TokenBucket{Size: n, Refill: m.between("refill", 1, 50), Every: span("every"), StartEmpty: m.one("start empty")}
	case 3, 4:
		w := span("window")
		return limiter.SlidingWindow{Limit: n, Window: w, Grain: m.tick * time.Duration(m.between("grain", 0, int64(w/m.tick)))}
	case 5:
		q := limiter.CalendarQuota{Limit: n, Period: limiter.Period(m.between("period", int64(limiter.Hour), int64(limiter.Quarter)))}
		if m.one("zone") {
			q.Zone = m.zone
		}
		return q
	case 6:
		return limiter.AtOnce{Limit: n}
	}
	return limiter.Total{Limit: 5 * n}
}

// wait lets time pass: any, or exactly until somebody may come back, or a tick
// less.
func (m *history) wait() {
	m.promised = slices.DeleteFunc(m.promised, func(at time.Duration) bool { return at-m.tick <= m.book.now })
	kind := m.between("how long", 0, 6)
	if kind < 3 && len(m.promised) > 0 {
		at := m.promised[m.between("promise", 0, int64(len(m.promised)-1))]
		m.pass(at - m.tick*time.Duration(m.between("too early", 0, 1)) - m.book.now)
		return
	}
	switch {
	case kind == 3:
		m.pass(m.ticksUpTo("ticks", 100*m.tick))
	case m.crowded:
		m.pass(m.ticksUpTo("ticks", 10*m.tick))
	case kind == 4:
		m.pass(m.ticksUpTo("seconds", 3*time.Second))
	case kind == 5:
		m.pass(m.ticksUpTo("minutes", 90*time.Minute))
	default:
		m.pass(m.ticksUpTo("ticks", 20*m.tick))
	}
}

// charges makes up charges of a random choice of accounts, in any order.
func (m *history) charges(of []*account) ([]limiter.Charge, []ask) {
	of = slices.Clone(of)
	for i := range of {
		j := m.between("which", int64(i), int64(len(of)-1))
		of[i], of[j] = of[j], of[i]
	}
	of = of[:m.between("how many", 1, int64(len(of)))]
	charges, asks := make([]limiter.Charge, len(of)), make([]ask, len(of))
	for i, a := range of {
		asks[i] = ask{a, m.amount(a)}
		charges[i] = limiter.Charge{Budget: m.handles[slices.Index(m.accounts, a)], N: asks[i].n}
	}
	return charges, asks
}

// amount is small, or all there is, or one more, or anything.
func (m *history) amount(a *account) int64 {
	most := a.rule.Capacity()
	switch m.between("size", 0, 3) {
	case 0:
		return m.between("n", 0, max(2, most/5))
	case 1:
		return max(0, most-a.counted(m.book.now, false)-m.waiting(a, m.book.now, nil))
	case 2:
		return max(0, most-a.counted(m.book.now, false)-m.waiting(a, m.book.now, nil)) + 1
	}
	return m.between("n", 0, most+1)
}

// finish ends all calls and lets the budgets become as new.
func (m *history) finish() {
	for len(m.open) > 0 {
		c, _ := m.some(m.open)
		m.endCall(c)
		m.check()
	}
	for i, s := range m.peekAll() {
		if s.Open != 0 || s.Held != 0 { // S4
			m.Fatalf("budget %d: %+v after all calls were ended", i, s)
		}
		if over := m.accounts[i].overBound(); over > 0 { // B3, B4, B6, W2
			m.Fatalf("budget %d, %+v: %d over its bound", i, m.accounts[i].rule, over)
		}
	}
	m.pass(24 * time.Hour)
	for i, s := range m.peekAll() { // W4, and the like for buckets
		switch m.accounts[i].rule.(type) {
		case limiter.TokenBucket, limiter.SlidingWindow:
			if n := m.accounts[i].rule.Capacity(); s != (limiter.State{Limit: n, Remaining: n}) {
				m.Fatalf("budget %d: not as new after a day: %+v", i, s)
			}
		}
	}
}
