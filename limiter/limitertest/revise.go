package limitertest

import (
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// revise gives a budget another rule.
func (m *history) revise() {
	i := m.between("budget", 0, int64(len(m.accounts)-1))
	a, n := m.accounts[i], m.between("capacity", 1, 60)
	rule := a.rule
	if m.one("another kind") {
		rule = m.rule()
		if r, ok := rule.(limiter.TokenBucket); ok && kind(a.rule) == kind(rule) {
			r.Every = a.rule.(limiter.TokenBucket).Every // what finer parts there are would be rounded
			rule = r
		}
		if r, ok := rule.(limiter.SlidingWindow); ok && kind(a.rule) == kind(rule) {
			if r.Grain = a.rule.(limiter.SlidingWindow).Grain; r.Grain > 0 { // other grains, or longer ones than the window
				r.Window = a.rule.(limiter.SlidingWindow).Window
			}
			rule = r
		}
	} else {
		switch r := rule.(type) {
		case limiter.TokenBucket:
			r.Size, r.Refill = n, m.between("refill", 1, 50)
			if r.Every < time.Minute {
				r.Every *= time.Duration(m.between("times", 1, 3))
			}
			rule = r
		case limiter.SlidingWindow:
			r.Limit = n
			rule = r
		case limiter.CalendarQuota:
			r.Limit = n
			rule = r
		case limiter.Total:
			rule = limiter.Total{Limit: 5 * n}
		case limiter.AtOnce:
			rule = limiter.AtOnce{Limit: n}
		}
	}
	if m.one("revision") {
		rule = limiter.Revision{Rule: rule, Generation: max(1, a.generation+m.between("generation", -2, 2))}
	}
	m.Logf("%v: budget %s under %+v", m.book.now, a.name, rule)
	b := m.limiter.Budget(a.name, rule)
	m.book.revise(a, rule)
	if b != m.handles[i] || b.Name() != a.name || b.Rule() != a.rule || b.Generation() != a.generation {
		m.Fatalf("after %+v: budget %q, %+v, generation %d; the reference has %+v, %d", rule, b.Name(), b.Rule(), b.Generation(), a.rule, a.generation)
	}
	m.happened(anything)
}
