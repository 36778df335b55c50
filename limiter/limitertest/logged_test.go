package limitertest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// logged is a Limiter made of the reference, outside package limiter: it keeps
// its whole log, and a clock of its own that counts milliseconds. It passes
// the suite, which is to say that the stories and the reference agree; and it
// can be broken in many ways, each of which the suite must notice.
type logged struct {
	clock  *stoppedClock
	broken bug

	mu       sync.Mutex
	made     time.Time
	book     book
	accounts map[string]*account
	handles  map[string]*limiter.Budget
}

// stoppedClock moves only when told to.
type stoppedClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stoppedClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stoppedClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func loggedHarness(broken bug) Harness {
	clock := &stoppedClock{now: time.Date(2026, 11, 20, 15, 4, 5, 678e6, time.UTC)}
	return Harness{
		New: func(testing.TB) limiter.Limiter {
			return &logged{
				clock: clock, broken: broken, made: clock.read(), book: book{tick: time.Millisecond},
				accounts: map[string]*account{}, handles: map[string]*limiter.Budget{},
			}
		},
		Advance: func(_ testing.TB, d time.Duration) { clock.advance(d) },
		Now:     func(testing.TB) time.Time { return clock.read() },
		Tick:    time.Millisecond,
		Disturb: func(l limiter.Limiter) { l.(*logged).disturb() },
	}
}

// enter is called by every verb.
func (l *logged) enter() (leave func()) {
	l.mu.Lock()
	l.book.pass(l.clock.read().Sub(l.made) - l.book.now)
	return l.mu.Unlock
}

func (l *logged) Budget(name string, rule limiter.Rule) *limiter.Budget {
	defer l.enter()()
	b := l.handles[name]
	if b == nil {
		a := newAccount(name, rule, l.book.now, l.made)
		b = limiter.NewBudget(l, name, rule, a)
		if r, ok := a.rule.(limiter.SlidingWindow); ok && r.Grain > 0 {
			a.phase, a.learned = -time.Duration(l.made.UnixNano())%r.Grain, true
			if a.phase < 0 {
				a.phase += r.Grain
			}
		}
		l.broken.make(a)
		l.handles[name] = b
		return b
	}
	if rule = l.broken.take(rule); b.Revise(rule) {
		a := b.Own().(*account)
		l.book.revise(a, rule)
		l.broken.revised(a, l.book.now)
		if r, ok := a.rule.(limiter.SlidingWindow); ok && r.Grain > 0 && !a.learned {
			a.phase, a.learned = (r.Grain-time.Duration(l.made.UnixNano())%r.Grain)%r.Grain, true
		}
	}
	return b
}

func misused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{limiter.ErrMisuse}, args...)...)
}

// asks checks charges and makes them the reference's.
func (l *logged) asks(charges []limiter.Charge) ([]ask, error) {
	var asks []ask
	for i, c := range charges {
		switch {
		case c.Budget == nil:
			return nil, misused("no budget")
		case c.Budget.Owner() != limiter.Limiter(l) && l.broken != takesForeign:
			return nil, misused("budget %q of another limiter", c.Budget.Name())
		case c.N < 0 && l.broken != takesNegative:
			return nil, misused("charge of %d", c.N)
		case l.broken != takesTwice && slices.ContainsFunc(charges[:i], func(o limiter.Charge) bool { return o.Budget == c.Budget }):
			return nil, misused("budget %q twice", c.Budget.Name())
		}
		asks = append(asks, ask{c.Budget.Own().(*account), c.N})
	}
	l.broken.look(&l.book, asks)
	return asks, nil
}

// answer makes a decision of a verdict and describes the accounts.
func (l *logged) answer(charges []limiter.Charge, asks []ask, v verdict) limiter.Decision {
	for i, a := range asks {
		charges[i].State = l.book.state(a.of)
		if !v.ok {
			charges[i].State.LeftAfterWaiting = v.left[i]
		}
	}
	d := limiter.Decision{OK: v.ok, Refused: -1, Source: limiter.Store}
	if !v.ok {
		d.HeldOnly, d.AtOnce, d.TooBig, d.RetryAfter, d.Refused = v.heldOnly, v.atOnce, v.tooBig, v.wait, v.refused[0]
		if v.wait == guessed {
			d.RetryAfter = 5 * time.Second
		}
	}
	l.broken.tell(&d, asks, charges)
	return d
}

func (l *logged) decide(asks []ask, by *call) verdict {
	v := l.broken.decide(&l.book, asks, by)
	if l.broken == checksThenCharges {
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	}
	return v
}

func (l *logged) Reserve(_ context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	defer l.enter()()
	asks, err := l.asks(charges)
	if err != nil {
		return nil, limiter.Decision{Refused: -1}, err
	}
	v := l.decide(asks, nil)
	if !v.ok {
		return nil, l.answer(charges, asks, v), nil
	}
	c := l.book.begin(asks)
	return limiter.NewReservation(&loggedCall{l: l, call: c}), l.answer(charges, asks, v), nil
}

func (l *logged) Inc(_ context.Context, charges []limiter.Charge) error {
	defer l.enter()()
	asks, err := l.asks(charges)
	if err != nil {
		return err
	}
	if v := l.decide(asks, nil); v.ok || l.broken != refusesInc {
		l.book.count(asks, false)
	}
	l.answer(charges, asks, verdict{ok: true})
	return nil
}

func (l *logged) Peek(_ context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	defer l.enter()()
	asks, err := l.asks(charges)
	if err != nil {
		return limiter.Decision{Refused: -1}, err
	}
	v := l.decide(asks, nil)
	if l.broken == chargesPeeks && v.ok {
		l.book.count(asks, true)
	}
	return l.answer(charges, asks, v), nil
}

func (l *logged) disturb() {
	defer l.enter()()
	l.broken.disturb(l)
}

// loggedCall is the Backing of a reservation.
type loggedCall struct {
	l     *logged
	call  *call
	ended bool
}

func (c *loggedCall) Draw(_ context.Context, more []limiter.Charge) (limiter.Decision, error) {
	defer c.l.enter()()
	asks, err := c.l.asks(more)
	if err == nil && c.ended && c.l.broken != drawsAfterTheEnd {
		err = misused("the reservation has ended")
	}
	for _, a := range asks {
		if !slices.ContainsFunc(c.call.asks, func(b ask) bool { return b.of == a.of }) {
			err = misused("%q is not reserved", a.of.name)
		}
	}
	if err != nil {
		return limiter.Decision{Refused: -1}, err
	}
	v := c.l.decide(asks, c.call)
	c.l.broken.draw(&c.l.book, c.call, asks, v)
	return c.l.answer(more, asks, v), nil
}

func (c *loggedCall) Settle(_ context.Context, actual []int64) error {
	defer c.l.enter()()
	if len(actual) != len(c.call.asks) || slices.ContainsFunc(actual, func(n int64) bool { return n < 0 }) {
		return misused("not one amount per charge")
	}
	c.end(actual)
	return nil
}

func (c *loggedCall) Cancel(context.Context) error {
	defer c.l.enter()()
	c.end(make([]int64, len(c.call.asks)))
	return nil
}

func (c *loggedCall) end(actual []int64) {
	if c.ended && c.l.broken != settlesTwice {
		return
	}
	c.ended = true
	c.l.broken.end(&c.l.book, c.call, actual)
}

// TestLogged shows that a limiter outside package limiter, with a clock that
// is neither this process's nor fine, can be held to the suite.
func TestLogged(t *testing.T) { Run(t, loggedHarness(sound)) }
