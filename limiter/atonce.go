package limiter

import (
	"sync/atomic"
	"time"
)

// atOnce is the counter of an AtOnce. All that counts is held.
type atOnce struct {
	rule AtOnce
	now  int64
	held atomic.Int64 // changed with the budget's lock held
	open int
	pace *pace

	// elders is where calls of this name may have begun before it had a budget
	// of its own; nil once none is left there. Only the sum is read, without
	// the lock.
	elders *atOnce
}

// pace is how long holds have lasted of late, in nanoseconds. All budgets of a
// family go by the same, so that dropping an idle one loses nothing.
type pace struct{ mean atomic.Int64 }

// What a caller is told who must wait for another call to end.
const (
	shortestGuess = time.Second
	longestGuess  = 15 * time.Second
)

func (a *atOnce) setTerms(t *terms) { a.rule, a.pace = t.rule.(AtOnce), t.pace }

func (a *atOnce) advance(now instant) {
	a.now = max(a.now, now.ns)
	if a.elders != nil && a.elders.held.Load() == 0 {
		a.elders = nil
	}
}

// all is what counts: the budget's own calls and those of before.
func (a *atOnce) all() int64 {
	if a.elders == nil {
		return a.held.Load()
	}
	return min(mostCounted, addSaturated(a.held.Load(), a.elders.held.Load()))
}

func (a *atOnce) counted() (used, held int64) { return 0, a.all() }

func (a *atOnce) describe() (used, held int64, open int, untilWhole time.Duration) {
	return 0, a.all(), a.open, 0
}

func (a *atOnce) room() int64 { return mostCounted - a.all() }

// wait returns 0 or a guess: with Limit calls in flight, each as long as calls
// have been of late, one ends every mean / Limit.
func (a *atOnce) wait(n int64) time.Duration {
	if a.all() <= a.rule.Limit-n {
		return 0
	}
	return min(max(time.Duration(a.pace.mean.Load()/a.rule.Limit), shortestGuess), longestGuess)
}

func (a *atOnce) after(time.Duration) int64 { return a.all() }

func (a *atOnce) fitsWithoutHeld(int64) bool { return true }

func (a *atOnce) spend(int64) {}

func (a *atOnce) hold(h *hold) {
	a.held.Add(h.n)
	a.open += h.first()
	h.place = uint64(a.now)
}

// settle frees what was held, whatever was used, and learns from how long that
// took: one part in eight of the mean is the newest.
func (a *atOnce) settle(h *hold, _ int64) {
	a.held.Add(-h.n)
	a.open -= h.first()
	took, mean := a.now-int64(h.place), a.pace.mean.Load()
	if mean == 0 {
		mean = took
	}
	a.pace.mean.Store(mean + (took-mean)/8) // of two at once one is lost: it is but a guess
}

func (a *atOnce) fresh() bool { return a.open == 0 }
