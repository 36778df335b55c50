package limiter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Never is the wait of a call that time alone will not let pass: it asks for
// more than a budget can ever hold, or a budget that does not refill is spent.
const Never time.Duration = math.MaxInt64

// Limiter holds budgets and charges them. All methods may be called from any
// number of goroutines.
//
// A refusal is a [Decision], never an error. An error means misuse ([ErrMisuse]:
// a negative amount, a sum that does not fit in 64 bits, the same budget twice
// in one call, a handle from another limiter) or a store that could not answer;
// in both cases nothing was charged.
//
// The calls fill in the State of each charge, so the slice must not be shared
// between calls that run at the same time.
type Limiter interface {
	// Budget returns the handle on the counter of that name and makes it if
	// need be. The same name gives the same handle; the newest rule wins (see
	// [Revision]), and what was consumed stays consumed. A rule that does not
	// pass its own Validate panics: configuration is checked before it gets
	// here.
	Budget(name string, rule Rule) *Budget

	// Reserve takes every charge or none. The reservation is not nil exactly
	// when the decision is OK, and must then be settled or cancelled once the
	// true cost is known, however the work ended.
	Reserve(ctx context.Context, charges []Charge) (*Reservation, Decision, error)

	// Inc counts without asking. A budget may thereby fall below zero; time
	// repays the debt before anything more is admitted.
	Inc(ctx context.Context, charges []Charge) error

	// Peek answers as Reserve would and changes nothing.
	Peek(ctx context.Context, charges []Charge) (Decision, error)
}

// ErrMisuse matches, with errors.Is, every error that is the caller's doing, as
// opposed to those of a store that cannot answer.
var ErrMisuse = errors.New("limiter: misuse")

// misuse is such an error.
type misuse string

func (m misuse) Error() string { return "limiter: " + string(m) }

func (m misuse) Is(target error) bool { return target == ErrMisuse }

// Misuse of zero values and nil handles.
const (
	errNoLimiter     misuse = "there is no limiter to ask"
	errNoHandle      misuse = "a budget that no limiter has made; get the handle from Budget"
	errNoReservation misuse = "a reservation that no limiter has made"
)

func misusef(format string, args ...any) error { return misuse(fmt.Sprintf(format, args...)) }

// Charge is an amount to take from one budget.
type Charge struct {
	Budget *Budget
	N      int64 // at least 0; a charge of 0 always passes and changes nothing
	State  State // filled in by the call, on refusals and by Peek too
}

// State describes one budget as one call left it: after the charge if the call
// took it, unchanged if it was refused or only a peek. Amounts are in the
// budget's own unit and at least 0.
//
// Used + Held + Remaining = Limit, unless the budget is in debt or its limit
// was lowered below what is counted: then Remaining is 0 and Used + Held is
// more than Limit. What draws wait for is left out of Remaining, too.
type State struct {
	Limit     int64 // capacity of the budget under its newest rule
	Used      int64 // settled consumption that still counts
	Held      int64 // reserved, not yet settled, and still counting; what time gives back is taken off Used first
	Remaining int64 // what a call that begins could take now
	Open      int   // reservations not yet ended that took something from this budget

	// ResetAfter is the time until the budget is whole again if nobody spends
	// and nothing is given back: bucket full, window empty, calendar boundary.
	// It is 0 for a Total, which never is, and for an AtOnce, which no clock
	// makes whole.
	ResetAfter time.Duration

	// LeftAfterWaiting is how much will still count (used and held) when this
	// charge, looked at alone, has waited long enough to pass; for a charge
	// that need not wait, or waits for ever, how much counts now.
	LeftAfterWaiting int64
}

// Decision is the answer to a call: it passes, or when it could.
type Decision struct {
	OK bool

	// RetryAfter is the time until the earliest instant at which this call
	// could pass if nobody else spends and nothing held is given back, to the
	// nanosecond: waiting exactly so long succeeds, one nanosecond less does
	// not. It is 0 when OK, and Never when time alone will not help.
	RetryAfter time.Duration

	// Refused is the index of the charge that waits longest, -1 when OK. One
	// that is too big goes before all others.
	Refused int

	// TooBig reports that the charge Refused names asks for more than its
	// budget can ever hold: N > State.Limit. RetryAfter is then Never, and only
	// a newer rule could help. What has run out without being too big, as a
	// [Total] that is spent, is told apart by it.
	TooBig bool

	// HeldOnly reports a refusal that would pass if everything now reserved
	// were settled at zero: it is temporary, whatever RetryAfter says.
	HeldOnly bool

	// AtOnce reports that a limit of calls at once is full: somebody must end
	// a call first, and no clock knows when. RetryAfter leaves that limit out;
	// if nothing else refuses, it is a guess of 1 to 15 seconds.
	AtOnce bool

	Source Source
}

// Source says who decided.
type Source uint8

// Who decided. This package's own limiter says Local.
const (
	Local    Source = iota // this process's own memory
	Store                  // a store shared by several processes
	Leased                 // this process, from what a store has lent it
	Degraded               // this process, from its share, as the store cannot answer
)

var sourceNames = [...]string{Local: "local", Store: "store", Leased: "leased", Degraded: "degraded"}

// String returns the source in lower case.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return fmt.Sprintf("Source(%d)", uint8(s))
}

// TryAcquire takes every charge or none, for good: it is Reserve for callers
// who know the exact cost.
func TryAcquire(ctx context.Context, l Limiter, charges []Charge) (Decision, error) {
	if m, ok := l.(*Memory); ok {
		return m.TryAcquire(ctx, charges) // known to keep the charges to itself: they need not move to the heap
	}
	if a, ok := l.(acquirer); ok {
		return a.TryAcquire(ctx, charges)
	}
	if l == nil {
		return Decision{Refused: -1}, errNoLimiter
	}
	r, d, err := l.Reserve(ctx, charges)
	if err != nil || !d.OK {
		return d, err
	}
	exact := make([]int64, len(charges))
	for i, c := range charges {
		exact[i] = c.N
	}
	if err := r.Settle(ctx, exact); err != nil {
		// An error says that nothing was charged, so it must not be.
		return Decision{Refused: -1}, errors.Join(err, r.Cancel(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// acquirer is implemented by limiters that can take without making a
// reservation first.
type acquirer interface {
	TryAcquire(ctx context.Context, charges []Charge) (Decision, error)
}
