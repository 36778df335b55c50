// Package slidingwindow limits what each key may do in any stretch of time of
// one length, after "How to Implement an In-Memory Rate Limiter in Rust": usage
// is recorded whether or not it is allowed, and whether it is allowed is a
// question of its own. Limits are given per second and come with the usage.
//
// Asking and recording in two calls lets through whoever asks before the others
// have recorded: use [Limiter.Acquire] where that matters.
package slidingwindow

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Options are the options of New.
type Options struct {
	Window time.Duration // the stretch of time, at least 1 ns

	// Grain groups usage to save memory: usage counts up to a grain too long,
	// never too short, and a key keeps Window/Grain + 2 numbers at most.
	// 0 keeps a number for each instant.
	Grain time.Duration

	// MostKeys is how many keys are told apart at once; 0 means 1,048,576.
	// Keys that come when so many have usage share Common, a limit per second;
	// 0 means 1, or more if that is less than one in a window. Keys whose limit
	// was taken back by Unset have it, too, each for itself.
	MostKeys int
	Common   int64
}

// Limiter keeps the usage of all keys. Its methods may be called from any
// number of goroutines.
type Limiter struct {
	window, grain time.Duration
	memory        *limiter.Memory
	budgets       *limiter.Family
}

// New returns a limiter without keys.
func New(o Options) (*Limiter, error) {
	l := &Limiter{window: o.Window, grain: o.Grain, memory: limiter.NewMemory()}
	if o.Common == 0 {
		o.Common = 1 + int64((time.Second-1)/max(o.Window, 1))
	}
	common, err := l.rule(o.Common)
	if err != nil {
		return nil, err
	}
	l.budgets = l.memory.Family(limiter.FamilyOptions{Rule: common, Most: o.MostKeys})
	return l, nil
}

// rule is a limit per second as a budget for the window: window × limit.
func (l *Limiter) rule(perSecond int64) (limiter.SlidingWindow, error) {
	if perSecond < 1 {
		return limiter.SlidingWindow{}, fmt.Errorf("limit is %d per second, must be at least 1", perSecond)
	}
	high, low := bits.Mul64(uint64(perSecond), uint64(max(l.window, 0)))
	if high >= uint64(time.Second) {
		return limiter.SlidingWindow{}, fmt.Errorf("limit of %d per second times a window of %v does not fit in 64 bits", perSecond, l.window)
	}
	budget, _ := bits.Div64(high, low, uint64(time.Second)) // a fraction of one more is not allowed
	rule := limiter.SlidingWindow{Limit: int64(min(budget, math.MaxInt64)), Window: l.window, Grain: l.grain}
	if err := rule.Validate(); err != nil {
		return rule, fmt.Errorf("limit of %d per second in a window of %v: %w", perSecond, l.window, err)
	}
	return rule, nil
}

// Answer is whether a key is allowed to go on.
type Answer struct {
	Allowed bool

	// The rest is zero if it is. RetryAfter is how long until it would be if
	// nothing more is recorded, limiter.Never if it asks for more than fits.
	// RemainingAfterWaiting is how much usage will still count then.
	Window                time.Duration
	RetryAfter            time.Duration
	RemainingAfterWaiting int64
}

// IsAllowed reports whether a key's usage leaves room for one more. It records
// nothing. A key without usage is allowed, whether or not it was ever seen.
func (l *Limiter) IsAllowed(key string) Answer {
	b := l.budgets.Find(key)
	if b == nil {
		return Answer{Allowed: true}
	}
	charges := []limiter.Charge{{Budget: b, N: 1}}
	d, err := l.memory.Peek(context.Background(), charges)
	if err != nil {
		panic("BUG: slidingwindow: " + err.Error()) // nothing is wrong with asking
	}
	return l.answer(d, charges[0].State)
}

// Inc records usage, whatever the limit says. The limit is that of the key if it
// has none yet: the first one wins until the key has been idle so long that it
// was forgotten, or [Limiter.SetLimit] gives it another.
func (l *Limiter) Inc(key string, perSecond, count int64) error {
	return l.charge(key, perSecond, func(b *limiter.Budget) error {
		return l.memory.Inc(context.Background(), []limiter.Charge{{Budget: b, N: count}})
	})
}

// Acquire is IsAllowed and Inc in one: usage is recorded if all of it is
// allowed, or else not at all.
func (l *Limiter) Acquire(key string, perSecond, count int64) (answer Answer, err error) {
	err = l.charge(key, perSecond, func(b *limiter.Budget) error {
		charges := []limiter.Charge{{Budget: b, N: count}}
		d, err := l.memory.TryAcquire(context.Background(), charges)
		if err == nil {
			answer = l.answer(d, charges[0].State)
		}
		return err
	})
	return answer, err
}

// SetLimit changes a key's limit. Its usage stays, and the key keeps that limit,
// and is not forgotten, until [Limiter.Unset].
//
// Set keys that come from configuration, never those that a network makes up:
// each is kept, beyond Options.MostKeys too, so nothing would bound how many.
func (l *Limiter) SetLimit(key string, perSecond int64) error {
	rule, err := l.rule(perSecond)
	if err == nil {
		l.budgets.Set(key, rule)
	}
	return err
}

// Unset takes back what SetLimit did. The key's usage stays, under the limit
// Options.Common, until it has been idle so long that it is forgotten; after
// that the first limit wins again. It does nothing to keys that were not set.
func (l *Limiter) Unset(key string) { l.budgets.Unset(key) }

// Sweep forgets keys without usage and returns how many keys are left. It need
// not be called: new keys make it happen bit by bit.
func (l *Limiter) Sweep() (left int) {
	l.budgets.Sweep()
	return l.budgets.Len()
}

func (l *Limiter) charge(key string, perSecond int64, f func(*limiter.Budget) error) error {
	rule, err := l.rule(perSecond)
	if err != nil {
		return err
	}
	return f(l.budgets.BudgetUnder(key, rule))
}

func (l *Limiter) answer(d limiter.Decision, s limiter.State) Answer {
	if d.OK {
		return Answer{Allowed: true}
	}
	return Answer{Window: l.window, RetryAfter: d.RetryAfter, RemainingAfterWaiting: s.LeftAfterWaiting}
}
