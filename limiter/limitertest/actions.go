package limitertest

import (
	"context"
	"errors"

	"github.com/tokenfare/tokenfare/limiter"
)

func (m *history) reserve() {
	charges, asks := m.charges(m.accounts)
	v := m.decide(asks, nil)
	r, d, err := m.limiter.Reserve(context.Background(), charges)
	m.Logf("%v: reserve %v: %+v", m.book.now, asks, d)
	m.judge(d, err, v)
	if (r != nil) != d.OK {
		m.Fatalf("reservation %v with decision %+v", r, d)
	}
	if v.ok {
		m.open = append(m.open, running{r, m.begin(asks)})
		m.admitted(charges)
	} else {
		m.unchanged("a refusal") // B5, M1
	}
	m.judgeStates(charges, asks, v)
}

func (m *history) admitted(charges []limiter.Charge) {
	m.happened(traffic)
	m.within(charges)
}

// acquire takes for good.
func (m *history) acquire() {
	charges, asks := m.charges(m.accounts)
	if !m.take(charges, asks) {
		m.unchanged("a refusal") // B5, M1
	}
}

// rush takes from one budget several times for good, and nobody looks at it in
// between.
func (m *history) rush() {
	i := m.between("budget", 0, int64(len(m.accounts)-1))
	for range m.between("times", 2, 6) {
		if m.between("wait", 0, 2) == 2 {
			m.pass(m.ticksUpTo("ticks", 20*m.tick))
		}
		n := m.amount(m.accounts[i])
		m.take([]limiter.Charge{{Budget: m.handles[i], N: n}}, []ask{{m.accounts[i], n}})
	}
}

// take takes in one of the ways there are, and reports whether it passed.
func (m *history) take(charges []limiter.Charge, asks []ask) bool {
	v := m.decide(asks, nil)
	if len(asks) == 1 && m.between("fast", 0, 1) == 1 {
		ok, err := charges[0].Budget.TryAcquire(context.Background(), asks[0].n)
		m.Logf("%v: take %v fast: %v", m.book.now, asks, ok)
		if err != nil || ok != v.ok {
			m.Fatalf("TryAcquire of %d: %v, %v; the reference has %+v", asks[0].n, ok, err, v)
		}
		charges = nil // tells no state
	} else {
		d, err := limiter.TryAcquire(context.Background(), m.limiter, charges)
		m.Logf("%v: take %v: %+v", m.book.now, asks, d)
		m.judge(d, err, v)
		if v.ok && !takesItself(m.limiter) {
			charges = nil
		}
	}
	if v.ok {
		m.count(asks, true)
		m.admitted(charges)
	}
	m.judgeStates(charges, asks, v)
	return v.ok
}

func (m *history) inc() {
	charges, asks := m.charges(m.accounts)
	m.Logf("%v: inc %v", m.book.now, asks)
	if err := m.limiter.Inc(context.Background(), charges); err != nil {
		m.Fatalf("inc: %v", err)
	}
	m.count(asks, false)
	m.happened(traffic)
	m.judgeStates(charges, asks, verdict{ok: true})
}

// callOff reserves and cancels at the same instant. (S3)
func (m *history) callOff() {
	charges, _ := m.charges(m.accounts)
	r, _, err := m.limiter.Reserve(context.Background(), charges)
	if err != nil {
		m.Fatalf("reserve: %v", err)
	}
	if err := r.Cancel(context.Background()); err != nil {
		m.Fatalf("cancel: %v", err)
	}
	m.unchanged("a call that was called off")
}

// disturb does what must not be seen. (P5)
func (m *history) disturb() {
	if m.h.Disturb != nil {
		m.h.Disturb(m.limiter)
		m.unchanged("disturbance")
	}
}

// misuse is refused as an error and changes nothing.
func (m *history) misuse() {
	charges, asks := m.charges(m.accounts)
	if m.one("an end twice") {
		if c, ok := m.some(m.ended); ok {
			if _, err := c.reservation.Draw(context.Background(), []limiter.Charge{{Budget: m.handles[0]}}); !errors.Is(err, limiter.ErrMisuse) {
				m.Fatalf("draw on a reservation that has ended: %v", err)
			}
			m.again(c)
			m.unchanged("a call that has ended")
			return
		}
	}
	if m.between("negative", 0, 1) == 1 {
		charges[0].N = -1 - asks[0].n
	} else {
		charges = append(charges, charges[0])
	}
	r, _, errReserve := m.limiter.Reserve(context.Background(), charges)
	_, errPeek := m.limiter.Peek(context.Background(), charges)
	_, errTry := limiter.TryAcquire(context.Background(), m.limiter, charges)
	for _, err := range []error{errReserve, errPeek, errTry, m.limiter.Inc(context.Background(), charges)} {
		if !errors.Is(err, limiter.ErrMisuse) || r != nil {
			m.Fatalf("misuse: %v, %v", err, r)
		}
	}
	m.unchanged("misuse")
}

// again ends a call that has ended, at other amounts. (S1)
func (m *history) again(c running) {
	if m.between("cancel", 0, 1) == 1 {
		if err := c.reservation.Cancel(context.Background()); err != nil {
			m.Fatalf("cancel after the end: %v", err)
		}
		return
	}
	actual := make([]int64, len(c.call.asks))
	for i := range actual {
		actual[i] = m.between("actual", 0, 10)
	}
	if err := c.reservation.Settle(context.Background(), actual); err != nil {
		m.Fatalf("settle after the end: %v", err)
	}
}
