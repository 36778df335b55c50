package limiter

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Rule says how much may be spent over what time. The kinds are sealed:
// [TokenBucket], [SlidingWindow], [CalendarQuota], [Total] and [AtOnce], passed
// by value, and [Revision], which is any of them with a generation.
type Rule interface {
	// Capacity is the most one call can ever take.
	Capacity() int64
	// Validate reports a rule that makes no sense or whose arithmetic does
	// not fit in 64 bits, naming the field and what it must be.
	Validate() error
	rule()
}

// TokenBucket refills smoothly: Refill units per Every, up to Size at once. In
// any time t it admits at most Size + t × Refill / Every. It starts full.
// Fractions are kept exactly and never spendable as a whole unit.
type TokenBucket struct {
	Size   int64         // largest burst, at least 1
	Refill int64         // units that come back per Every, at least 1
	Every  time.Duration // at least 1 ns

	// StartEmpty makes a new bucket start without a burst: nothing can be
	// taken before it has refilled.
	StartEmpty bool
}

// SlidingWindow is strict: never more than Limit in any stretch of time of
// length Window.
type SlidingWindow struct {
	Limit  int64         // at least 1
	Window time.Duration // 1 ns to about 73 years

	// Grain groups entries to save memory: consumption leaves the window late
	// by at most Grain and never early, and the window keeps at most
	// Window/Grain + 2 entries. 0 keeps one entry per instant, at most Limit
	// of them besides what Inc adds. At most Window.
	Grain time.Duration
}

// CalendarQuota allows Limit in each calendar period of a time zone and starts
// over at the period's boundary. It goes by the wall clock, and never back: if
// the clock is wrong by years and then set right, the period it was wrong in
// goes on until its end. A newer rule of another period or zone ends it.
type CalendarQuota struct {
	Limit  int64          // at least 1
	Period Period         // Hour to Quarter
	Zone   *time.Location // nil means UTC
}

// Total is spent once and never refills.
type Total struct {
	Limit int64 // at least 1
}

// AtOnce allows Limit at the same time: calls in flight. What is reserved
// counts until its reservation ends; then nothing of it stays, whatever amount
// it is settled at. No clock knows when that will be, so waits leave it out,
// see [Decision]. TryAcquire only asks whether there is room; Inc counts
// nothing.
type AtOnce struct {
	Limit int64 // at least 1
}

// Revision is a rule with a generation, for several places that configure the
// same budget: the highest generation wins, in whatever order they arrive, and
// of one generation the first. A rule without one that differs from the rule
// in force is always the next generation.
type Revision struct {
	Rule
	Generation int64 // at least 1
}

// Period is a stretch of the calendar. The zero Period is not valid.
type Period uint8

// The calendar periods. A week begins on Monday, a quarter in January, April,
// July and October.
const (
	Hour Period = iota + 1
	Day
	Week
	Month
	Quarter
)

var periodNames = [...]string{Hour: "hour", Day: "day", Week: "week", Month: "month", Quarter: "quarter"}

// String returns "hour", "day", "week", "month" or "quarter".
func (p Period) String() string {
	if p < Hour || p > Quarter {
		return fmt.Sprintf("Period(%d)", uint8(p))
	}
	return periodNames[p]
}

// Capacity returns the bucket's size.
func (r TokenBucket) Capacity() int64 { return r.Size }

// Capacity returns the window's limit.
func (r SlidingWindow) Capacity() int64 { return r.Limit }

// Capacity returns the quota of one period.
func (r CalendarQuota) Capacity() int64 { return r.Limit }

// Capacity returns the total.
func (r Total) Capacity() int64 { return r.Limit }

// Capacity returns the limit.
func (r AtOnce) Capacity() int64 { return r.Limit }

func (TokenBucket) rule()   {}
func (SlidingWindow) rule() {}
func (CalendarQuota) rule() {}
func (Total) rule()         {}
func (AtOnce) rule()        {}

// mostCounted bounds what a budget can count. One below the largest int64, so
// that a fraction can be rounded up to the next whole unit.
const mostCounted = math.MaxInt64 - 1

// longest bounds windows and grains, so that an instant, a grain and a window
// add up within 64 bits for a process that runs no longer than the same.
const longest = time.Duration(1) << 61

// Validate reports a size, refill or period below 1, or a bucket so slow that
// the time to fill it does not fit in a time.Duration (292 years).
func (r TokenBucket) Validate() error {
	if err := checkLimit("token bucket: Size", r.Size); err != nil {
		return err
	}
	if r.Refill < 1 {
		return fmt.Errorf("token bucket: Refill is %d, must be at least 1", r.Refill)
	}
	if r.Every < 1 {
		return fmt.Errorf("token bucket: Every is %v, must be at least 1ns", r.Every)
	}
	if product(r.Size, int64(r.Every)).ceilDiv(r.Refill) == math.MaxInt64 {
		return fmt.Errorf("token bucket: %d per %v takes more than 292 years to refill a Size of %d; raise Refill or lower Size", r.Refill, r.Every, r.Size)
	}
	return nil
}

// Validate reports a limit or window below 1 and a grain outside 0 to Window.
func (r SlidingWindow) Validate() error {
	if err := checkLimit("sliding window: Limit", r.Limit); err != nil {
		return err
	}
	if r.Window < 1 || r.Window > longest {
		return fmt.Errorf("sliding window: Window is %v, must be from 1ns to %v", r.Window, longest)
	}
	if r.Grain < 0 || r.Grain > r.Window {
		return fmt.Errorf("sliding window: Grain is %v, must be from 0 to the Window of %v", r.Grain, r.Window)
	}
	return nil
}

// Validate reports a limit below 1 and an unknown period.
func (r CalendarQuota) Validate() error {
	if err := checkLimit("calendar quota: Limit", r.Limit); err != nil {
		return err
	}
	if r.Period < Hour || r.Period > Quarter {
		return errors.New("calendar quota: Period must be one of Hour, Day, Week, Month, Quarter")
	}
	return nil
}

// Validate reports a limit below 1.
func (r Total) Validate() error { return checkLimit("total: Limit", r.Limit) }

// Validate reports a limit below 1.
func (r AtOnce) Validate() error { return checkLimit("at once: Limit", r.Limit) }

// Validate reports what is wrong with the rule itself, a missing rule and a
// generation below 1.
func (r Revision) Validate() error {
	if r.Generation < 1 || r.Generation > mostCounted {
		return fmt.Errorf("revision: Generation is %d, must be from 1 to %d", r.Generation, int64(mostCounted))
	}
	if r.Rule == nil {
		return errors.New("revision: Rule is missing")
	}
	return check(r.Rule)
}

func checkLimit(field string, n int64) error {
	if n < 1 || n > mostCounted {
		return fmt.Errorf("%s is %d, must be from 1 to %d", field, n, int64(mostCounted))
	}
	return nil
}
