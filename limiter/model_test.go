package limiter_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestAgainstReference plays random histories of every verb over several
// budgets at once, and holds every answer against the reference: admitted or
// not, what is counted, the exact wait, whether only holds are in the way, and
// that a refusal changes no budget.
func TestAgainstReference(t *testing.T) {
	for i := range 30 { // each plays a hundred histories from its own seed
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { rapid.SyncTest(t, playHistory) })
		})
	}
}

// model runs a limiter and the reference side by side.
type model struct {
	*rapid.T
	memory  *limiter.Memory
	start   time.Time
	handles []*limiter.Budget
	refs    []*refBudget
	open    []openCall
}

type openCall struct {
	reservation *limiter.Reservation
	budgets     []int
	charges     []*refCharge
}

func playHistory(t *rapid.T) {
	time.Sleep(time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "wake")))
	m := &model{T: t, memory: limiter.NewMemory(), start: time.Now()}
	for i, rule := range rapid.SliceOfN(rapid.Custom(drawRule), 1, 3).Draw(t, "rules") {
		m.handles = append(m.handles, m.memory.Budget(strconv.Itoa(i), rule))
		m.refs = append(m.refs, &refBudget{rule: rule, first: rule, start: m.start})
	}
	t.Repeat(map[string]func(*rapid.T){
		"wait":    m.wait,
		"reserve": m.reserve,
		"acquire": m.acquire,
		"inc":     m.inc,
		"settle":  m.settle,
		"again":   m.reserve, // refused and late-settled calls are where the risk is
		"end":     m.settle,
		"resize":  m.resize,
		"":        m.check,
	})
	for len(m.open) > 0 {
		m.settle(t)
	}
	if n := m.memory.OpenCount(); n != 0 {
		t.Fatalf("%d reservations open after all were ended", n)
	}
	m.check(t)
	for i, ref := range m.refs {
		if over := ref.overBound(); over > 0 {
			t.Fatalf("budget %d, %+v: %d over its bound", i, ref.rule, over)
		}
	}
}

func drawRule(t *rapid.T) limiter.Rule {
	n := rapid.Int64Range(1, 40).Draw(t, "capacity")
	span := func(name string) time.Duration {
		return time.Duration(rapid.OneOf(rapid.Int64Range(1, 50), rapid.Just(int64(time.Second))).Draw(t, name))
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1, 2:
		return limiter.TokenBucket{Size: n, Refill: rapid.Int64Range(1, 50).Draw(t, "refill"), Every: span("every")}
	case 3, 4:
		w := span("window")
		return limiter.SlidingWindow{Limit: n, Window: w, Grain: time.Duration(rapid.Int64Range(0, int64(w)).Draw(t, "grain"))}
	}
	if rapid.Bool().Draw(t, "calendar") {
		return limiter.CalendarQuota{Limit: n, Period: limiter.Hour}
	}
	return limiter.Total{Limit: 5 * n}
}

func (m *model) now() time.Duration { return time.Since(m.start) }

func (m *model) wait(t *rapid.T) {
	time.Sleep(time.Duration(rapid.OneOf(
		rapid.Int64Range(1, 20),
		rapid.Int64Range(1, 20),
		rapid.Int64Range(1, 100),
		rapid.Int64Range(1, int64(2*time.Second)),
		rapid.Int64Range(1, int64(90*time.Minute)),
	).Draw(t, "ns")))
}

// charges draws charges for a random choice of the budgets, in random order.
func (m *model) charges(t *rapid.T) ([]limiter.Charge, []int) {
	all := make([]int, len(m.refs))
	for i := range all {
		all[i] = i
	}
	which := rapid.Permutation(all).Draw(t, "budgets")
	which = which[:rapid.IntRange(1, len(which)).Draw(t, "count")]
	charges := make([]limiter.Charge, len(which))
	for i, b := range which {
		most := m.refs[b].rule.Capacity() + 1
		charges[i] = limiter.Charge{Budget: m.handles[b], N: rapid.Int64Range(0, most).Draw(t, "n")}
	}
	return charges, which
}

// judge holds a decision against the reference.
func (m *model) judge(t *rapid.T, d limiter.Decision, charges []limiter.Charge, which []int) {
	t.Helper()
	pass := func(at time.Duration, zeroHeld bool) bool {
		for i, b := range which {
			if !m.refs[b].fits(at, charges[i].N, zeroHeld) {
				return false
			}
		}
		return true
	}
	now := m.now()
	if want := pass(now, false); d.OK != want {
		t.Fatalf("decision %+v, reference says %v", d, want)
	}
	if d.OK {
		if d.RetryAfter != 0 || d.Refused != -1 || d.HeldOnly {
			t.Fatalf("passing decision with a refusal's fields: %+v", d)
		}
		return
	}
	if want := pass(now, true); d.HeldOnly != want {
		t.Fatalf("HeldOnly %v, reference says %v: %+v", d.HeldOnly, want, d)
	}
	b := which[d.Refused]
	if m.refs[b].fits(now, charges[d.Refused].N, false) {
		t.Fatalf("charge %d refused, but it fits", d.Refused)
	}
	switch {
	case d.RetryAfter <= 0:
		t.Fatalf("refused without a wait: %+v", d)
	case d.RetryAfter == limiter.Never:
		if pass(now+100*time.Hour, false) {
			t.Fatalf("told never, but passes in 100 hours: %+v", d)
		}
	case !pass(now+d.RetryAfter, false):
		t.Fatalf("refused after the promised %v", d.RetryAfter)
	case pass(now+d.RetryAfter-1, false):
		t.Fatalf("passes before the promised %v", d.RetryAfter)
	default:
		left := m.refs[b].counted(now+d.RetryAfter, false)
		if got := charges[d.Refused].State.LeftAfterWaiting; got != left {
			t.Fatalf("LeftAfterWaiting %d, reference says %d", got, left)
		}
	}
}

func (m *model) reserve(t *rapid.T) {
	charges, which := m.charges(t)
	r, d, err := m.memory.Reserve(context.Background(), charges)
	if err != nil {
		t.Fatal(err)
	}
	m.judge(t, d, charges, which)
	if (r != nil) != d.OK {
		t.Fatalf("reservation %v with decision %+v", r, d)
	}
	if d.OK {
		m.open = append(m.open, openCall{r, which, m.log(charges, which, true, false)})
	}
}

func (m *model) acquire(t *rapid.T) {
	charges, which := m.charges(t)
	d, err := limiter.TryAcquire(context.Background(), m.memory, charges)
	if err != nil {
		t.Fatal(err)
	}
	m.judge(t, d, charges, which)
	if d.OK {
		m.log(charges, which, false, false)
	}
}

func (m *model) inc(t *rapid.T) {
	charges, which := m.charges(t)
	if err := m.memory.Inc(context.Background(), charges); err != nil {
		t.Fatal(err)
	}
	m.log(charges, which, false, true)
}

func (m *model) log(charges []limiter.Charge, which []int, open, inc bool) []*refCharge {
	logged := make([]*refCharge, len(which))
	for i, b := range which {
		logged[i] = m.refs[b].charge(m.now(), charges[i].N, open, inc)
	}
	return logged
}

func (m *model) settle(t *rapid.T) {
	if len(m.open) == 0 {
		return
	}
	at := rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
	call := m.open[at]
	m.open = append(m.open[:at:at], m.open[at+1:]...)
	actual := make([]int64, len(call.charges))
	cancel := rapid.IntRange(0, 4).Draw(t, "cancel") == 0
	for i, c := range call.charges {
		if !cancel {
			actual[i] = rapid.Int64Range(0, c.n+c.n/4+1).Draw(t, "actual")
		}
		m.refs[call.budgets[i]].settle(m.now(), c, actual[i])
	}
	end := func() error { return call.reservation.Settle(context.Background(), actual) }
	if cancel {
		end = func() error { return call.reservation.Cancel(context.Background()) }
	}
	for range rapid.IntRange(1, 2).Draw(t, "times") {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// resize changes a limit or a rate, every other time it is drawn.
func (m *model) resize(t *rapid.T) {
	b := rapid.IntRange(0, 2*len(m.refs)-1).Draw(t, "which")
	if b >= len(m.refs) {
		return
	}
	n := rapid.Int64Range(1, 60).Draw(t, "capacity")
	rule := m.refs[b].rule
	switch r := rule.(type) {
	case limiter.TokenBucket:
		r.Size, r.Refill = n, rapid.Int64Range(1, 50).Draw(t, "refill")
		rule = r
	case limiter.SlidingWindow:
		r.Limit = n
		rule = r
	case limiter.CalendarQuota:
		r.Limit = n
		rule = r
	case limiter.Total:
		rule = limiter.Total{Limit: 5 * n}
	}
	if m.memory.Budget(m.handles[b].Name(), rule) != m.handles[b] {
		t.Fatal("another handle for the same name")
	}
	m.refs[b].resize(m.now(), rule)
}

// check compares what every budget says of itself.
func (m *model) check(t *rapid.T) {
	now := m.now()
	for i, ref := range m.refs {
		charges := []limiter.Charge{{Budget: m.handles[i], N: rapid.Int64Range(0, ref.rule.Capacity()+1).Draw(t, "peek")}}
		d, err := m.memory.Peek(context.Background(), charges)
		if err != nil {
			t.Fatal(err)
		}
		m.judge(t, d, charges, []int{i})
		s, want := charges[0].State, ref.counted(now, false)
		if s.Used < 0 || s.Held < 0 || s.Used+s.Held != want {
			t.Fatalf("budget %d: used %d + held %d, reference counts %d", i, s.Used, s.Held, want)
		}
		if remaining := max(0, ref.rule.Capacity()-want); s.Remaining != remaining || s.Limit != ref.rule.Capacity() {
			t.Fatalf("budget %d: %d of %d remain, reference says %d", i, s.Remaining, s.Limit, remaining)
		}
		open := 0
		for _, c := range ref.log {
			if c.open {
				open++
			}
		}
		if s.Open != open {
			t.Fatalf("budget %d: %d open, reference says %d", i, s.Open, open)
		}
		if _, total := ref.rule.(limiter.Total); !total && want > 0 && now+s.ResetAfter > now {
			if ref.counted(now+s.ResetAfter, false) != 0 || ref.counted(now+s.ResetAfter-1, false) == 0 {
				t.Fatalf("budget %d: not whole exactly after %v", i, s.ResetAfter)
			}
		}
	}
}
