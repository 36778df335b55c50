package limiter

import (
	"sync/atomic"
	"time"
)

// atOnce is the counter of an AtOnce. All that counts is held.
type atOnce struct {
	rule AtOnce
	now  int64
	held int64
	open int
	pace *pace
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

func (a *atOnce) advance(now instant) { a.now = max(a.now, now.ns) }

func (a *atOnce) counted() (used, held int64) { return 0, a.held }

func (a *atOnce) describe() (used, held int64, open int, untilWhole time.Duration) {
	return 0, a.held, a.open, 0
}

func (a *atOnce) room() int64 { return mostCounted - a.held }

// wait returns 0 or a guess: with Limit calls in flight, each as long as calls
// have been of late, one ends every mean / Limit.
func (a *atOnce) wait(n int64) time.Duration {
	if a.held <= a.rule.Limit-n {
		return 0
	}
	return min(max(time.Duration(a.pace.mean.Load()/a.rule.Limit), shortestGuess), longestGuess)
}

func (a *atOnce) after(time.Duration) int64 { return a.held }

func (a *atOnce) fitsWithoutHeld(int64) bool { return true }

func (a *atOnce) spend(int64) {}

func (a *atOnce) hold(h *hold) {
	a.held += h.n
	a.open += h.first()
	h.place = uint64(a.now)
}

// settle frees what was held, whatever was used, and learns from how long that
// took: one part in eight of the mean is the newest.
func (a *atOnce) settle(h *hold, _ int64) {
	a.held -= h.n
	a.open -= h.first()
	took, mean := a.now-int64(h.place), a.pace.mean.Load()
	if mean == 0 {
		mean = took
	}
	a.pace.mean.Store(mean + (took-mean)/8) // of two at once one is lost: it is but a guess
}

func (a *atOnce) fresh() bool { return a.open == 0 }
