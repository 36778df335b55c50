package limitertest

import (
	"flag"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Harness is how the suite gets hold of an implementation and its clock.
type Harness struct {
	// New returns a limiter without budgets, which shares nothing with others
	// that New has returned.
	New func(t testing.TB) limiter.Limiter

	// Advance moves the clock of all limiters that New returned on by d, a
	// multiple of Tick. Between calls of Advance that clock must stand still.
	Advance func(t testing.TB, d time.Duration)

	// Tick is the resolution of that clock, at most a millisecond: periods
	// of rules are multiples of it, and waits are rounded up to it.
	Tick time.Duration

	// Within calls f in the surroundings New needs, such as a bubble of
	// testing/synctest, before anything else is called. If it is nil, f is
	// simply called.
	Within func(t *testing.T, f func(t *testing.T))

	// Now is the limiter's wall clock, by which calendars go. If it is nil it
	// is time.Now.
	Now func(t testing.TB) time.Time

	// Disturb, if not nil, does something to a limiter of New that must
	// change no decision, such as a sweep of idle budgets.
	Disturb func(l limiter.Limiter)
}

var histories = flag.Int("limiter.histories", usualHistories, "random histories that a limiter plays against the reference")

// Run tests an implementation. The names of the tests within t begin with
// "stories", "callers" or "histories".
func Run(t *testing.T, h Harness) { h.run(t, *histories) }

func (h Harness) run(t *testing.T, histories int) {
	t.Run("stories", h.stories)
	t.Run("callers", h.callers)
	t.Run("histories", func(t *testing.T) { h.histories(t, histories) })
}

func (h Harness) within(t *testing.T, f func(t *testing.T)) {
	if h.Within == nil {
		f(t)
		return
	}
	h.Within(t, f)
}

func (h Harness) now(t testing.TB) time.Time {
	if h.Now == nil {
		return time.Now()
	}
	return h.Now(t)
}

// ticks rounds a wait up to what the clock can tell apart.
func (h Harness) ticks(d time.Duration) time.Duration {
	if d > limiter.Never-h.Tick {
		return d
	}
	return (d + h.Tick - 1) / h.Tick * h.Tick
}
