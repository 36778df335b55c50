package limitertest

import (
	"context"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// judge holds a decision against the reference's.
func (m *history) judge(d limiter.Decision, err error, v verdict) {
	if err != nil {
		m.Fatalf("error: %v", err)
	}
	if d.OK != v.ok || d.AtOnce != v.atOnce {
		m.Fatalf("decision %+v, the reference has %+v", d, v)
	}
	if d.OK {
		if d.RetryAfter != 0 || d.Refused != -1 || d.HeldOnly || d.TooBig {
			m.Fatalf("passing decision with a refusal's fields: %+v", d)
		}
		return
	}
	if d.HeldOnly != v.heldOnly || d.TooBig != v.tooBig {
		m.Fatalf("decision %+v, the reference has %+v", d, v)
	}
	explains := v.refused
	if m.tick > 1 && v.wait != limiter.Never {
		explains = v.longest // one may wait longer by less than the clock shows
	}
	if !slices.Contains(explains, d.Refused) {
		m.Fatalf("charge %d explains the refusal, the reference has %+v", d.Refused, v)
	}
	switch {
	case d.RetryAfter <= 0: // R2
		m.Fatalf("refused without a wait: %+v", d)
	case v.wait == guessed:
		if d.RetryAfter < time.Second || d.RetryAfter > 15*time.Second {
			m.Fatalf("a guess of %v, want 1 to 15 s", d.RetryAfter)
		}
	case m.h.ticks(d.RetryAfter) != v.wait: // R1, as the reference passes then, and not a tick earlier
		m.Fatalf("a wait of %v, the reference has %v", d.RetryAfter, v.wait)
	case v.wait < limiter.Never:
		m.promised = append(m.promised, m.book.now+v.wait, m.book.now+v.wait+grace)
	}
}

// judgeStates holds the states that a call left in its charges against the
// reference, which has logged what the call took.
func (m *history) judgeStates(charges []limiter.Charge, asks []ask, v verdict) {
	m.learn()
	for i, c := range charges {
		want := m.state(asks[i].of)
		if !v.ok {
			want.LeftAfterWaiting = v.left[i]
			// A limiter may know finer instants than its clock shows.
			if n := c.State.LeftAfterWaiting; m.tick > 1 && n > v.left[i] && n+c.N <= want.Limit {
				want.LeftAfterWaiting = n
			}
		}
		if got := m.rounded(c.State); got != want {
			m.Fatalf("charge %d of budget %s:\n%+v, the reference has\n%+v", i, asks[i].of.name, got, want)
		}
		if s := c.State; s.Used < 0 || s.Held < 0 || s.Remaining < 0 { // B2, W3
			m.Fatalf("charge %d of budget %s: %+v", i, asks[i].of.name, s)
		}
	}
}

// within wants what was admitted within the limits. (B1, W1)
func (m *history) within(charges []limiter.Charge) {
	for i, c := range charges {
		if s := c.State; c.N > 0 && s.Used+s.Held > s.Limit {
			m.Fatalf("charge %d was admitted, and %d + %d of %d count", i, s.Used, s.Held, s.Limit)
		}
	}
}

func (m *history) rounded(s limiter.State) limiter.State {
	s.ResetAfter = m.h.ticks(s.ResetAfter)
	return s
}

// learn tells the reference where a window's grains are: its newest entry,
// made at this instant, leaves a window after the end of its grain.
func (m *history) learn() {
	for i, a := range m.accounts {
		r, ok := a.rule.(limiter.SlidingWindow)
		if !ok || r.Grain == 0 || a.learned || a.counted(m.book.now, false) == 0 {
			continue
		}
		end := m.book.now + m.h.ticks(m.peek(i).ResetAfter) - r.Window
		if end < m.book.now || end > m.book.now+r.Grain {
			m.Fatalf("budget %d: an entry made at %v leaves as if made at %v, with grains of %v", i, m.book.now, end, r.Grain)
		}
		a.phase, a.learned = end%r.Grain, true
	}
}

func (m *history) peek(i int) limiter.State {
	charges := []limiter.Charge{{Budget: m.handles[i]}}
	if d, err := m.limiter.Peek(context.Background(), charges); err != nil || !d.OK {
		m.Fatalf("peek at nothing: %+v, %v", d, err)
	}
	return charges[0].State
}

// peekAll returns the states of all budgets.
func (m *history) peekAll() []limiter.State {
	charges, states := make([]limiter.Charge, len(m.handles)), make([]limiter.State, len(m.handles))
	for i, b := range m.handles {
		charges[i].Budget = b
	}
	if d, err := m.limiter.Peek(context.Background(), charges); err != nil || !d.OK {
		m.Fatalf("peek at nothing: %+v, %v", d, err)
	}
	for i, c := range charges {
		states[i] = c.State
	}
	return states
}

// unchanged wants the budgets as the last action left them.
func (m *history) unchanged(by string) {
	m.unchangedBut(by, func(_, _ *limiter.State) {})
}

func (m *history) unchangedBut(by string, alike func(was, is *limiter.State)) {
	for i, is := range m.peekAll() {
		was := m.states[i]
		if alike(&was, &is); was != is {
			m.Fatalf("budget %d was changed by %s:\n%+v, before\n%+v", i, by, is, was)
		}
	}
}

// check compares all states, and the answer to some call that begins.
func (m *history) check() {
	m.learn()
	m.states = m.peekAll()
	for i, a := range m.accounts {
		if got, want := m.rounded(m.states[i]), m.state(a); got != want {
			m.Fatalf("budget %d:\n%+v, the reference has\n%+v", i, got, want)
		}
	}
	charges, asks := m.charges(m.accounts)
	v := m.decide(asks, nil)
	d, err := m.limiter.Peek(context.Background(), charges)
	m.judge(d, err, v)
	m.judgeStates(charges, asks, v)
	m.follow(charges, v)
}

// watch follows a call that was refused, to see when it could pass. (R3)
type watch struct {
	charges []limiter.Charge // nil: none
	passes  time.Duration    // the instant it was told last
	since   happening
}

type happening uint8

const (
	nothing    happening = iota
	traffic              // can only move the instant later
	settlement           // can only move it earlier
	anything
)

func (m *history) happened(what happening) {
	if m.watch.since == nothing || m.watch.since == what {
		m.watch.since = what
	} else {
		m.watch.since = anything
	}
}

func (m *history) follow(refused []limiter.Charge, v verdict) {
	w := &m.watch
	if w.charges != nil {
		d, err := m.limiter.Peek(context.Background(), w.charges)
		passes := m.book.now + m.h.ticks(d.RetryAfter)
		if d.RetryAfter == limiter.Never {
			passes = limiter.Never
		}
		told := max(w.passes, m.book.now)
		switch {
		case err != nil:
			m.Fatalf("peek: %v", err)
		case w.since == nothing && passes != told:
			m.Fatalf("nothing happened, and a call that was told %v passes at %v", told, passes)
		case w.since == traffic && passes < told:
			m.Fatalf("traffic moved the instant a call passes from %v to %v", told, passes)
		case w.since == settlement && passes > told:
			m.Fatalf("a settlement moved the instant a call passes from %v to %v", told, passes)
		case d.OK || d.AtOnce:
			w.charges = nil
		}
		w.passes, w.since = passes, nothing
	}
	if w.charges == nil && !v.ok && !v.atOnce && v.wait < limiter.Never {
		*w = watch{charges: slices.Clone(refused), passes: m.book.now + v.wait}
	}
}
