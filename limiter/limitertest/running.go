package limitertest

import (
	"context"
	"slices"

	"github.com/tokenfare/tokenfare/limiter"
)

// some picks one of several running calls, none if there are none.
func (m *history) some(calls []running) (running, bool) {
	if len(calls) == 0 {
		return running{}, false
	}
	return calls[m.between("call", 0, int64(len(calls)-1))], true
}

// draw asks for more for a running call that does not wait yet, if there is
// one.
func (m *history) draw() { m.drawForSome(false) }

// drawAgain asks for more for a running call that waits, if there is one.
func (m *history) drawAgain() { m.drawForSome(true) }

func (m *history) drawForSome(waits bool) {
	var some []running
	for _, c := range m.open {
		if waits == slices.ContainsFunc(m.turns, func(t *turn) bool { return t.by == c.call }) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		some = m.open
	}
	if c, ok := m.some(some); ok {
		m.drawFor(c)
	}
}

// drawFor draws; now and then for nothing, which gives a turn up.
func (m *history) drawFor(c running) {
	var of []*account
	for _, a := range c.call.asks {
		of = append(of, a.of)
	}
	charges, asks := m.charges(of)
	if m.crowded && m.between("too much", 0, 1) == 1 {
		n := asks[0].of.rule.Capacity() - asks[0].of.counted(m.book.now, false) - m.waiting(asks[0].of, m.book.now, c.call)
		asks[0].n = max(0, n) + 1
		charges[0].N = asks[0].n
	}
	if m.one("give up") {
		for i := range asks {
			charges[i].N, asks[i].n = 0, 0
		}
	}
	v := m.decide(asks, c.call)
	d, err := c.reservation.Draw(context.Background(), charges)
	m.Logf("%v: draw %v for the call of %v: %+v", m.book.now, asks, c.call.asks, d)
	m.judge(d, err, v)
	waited := slices.ContainsFunc(m.turns, func(t *turn) bool { return t.by == c.call })
	m.book.draw(c.call, asks, v)
	if m.happened(traffic); waited {
		m.happened(anything) // less may have a turn than before
	}
	if v.ok {
		m.within(charges)
	} else { // B5, M1, save for the turn
		m.unchangedBut("a refused draw", func(was, is *limiter.State) { was.Remaining, is.Remaining = 0, 0 })
	}
	m.judgeStates(charges, asks, v)
}

// end settles or cancels a call; now and then twice.
func (m *history) end() {
	if c, ok := m.some(m.open); ok && !(m.crowded && m.between("stay", 0, 1) == 1) {
		m.endCall(c)
	}
}

func (m *history) endCall(c running) {
	m.open = slices.DeleteFunc(m.open, func(o running) bool { return o == c })
	actual, over := make([]int64, len(c.call.asks)), false
	cancel := m.one("cancel")
	for i := range actual {
		taken := int64(0)
		for _, e := range c.call.parts[i] {
			taken += e.n
		}
		if !cancel {
			actual[i] = m.between("actual", 0, taken+taken/4+1)
		}
		over = over || actual[i] > taken
	}
	settle := func() error { return c.reservation.Settle(context.Background(), actual) }
	if cancel {
		settle = func() error { return c.reservation.Cancel(context.Background()) }
	}
	m.Logf("%v: settle the call of %v at %v", m.book.now, c.call.asks, actual)
	if err := settle(); err != nil {
		m.Fatalf("settle: %v", err)
	}
	m.book.end(c.call, actual)
	m.ended = append(m.ended, c)
	if m.happened(settlement); over {
		m.happened(anything)
	} else {
		for i, now := range m.peekAll() { // S2
			if now.Remaining < m.states[i].Remaining {
				m.Fatalf("budget %d: %d remain after settling, %d before", i, now.Remaining, m.states[i].Remaining)
			}
		}
	}
	if m.one("again") { // S1: the reference knows nothing of it
		if err := settle(); err != nil {
			m.Fatalf("settle again: %v", err)
		}
	}
}
