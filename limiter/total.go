package limiter

import "time"

// total is the counter of a Total.
type total struct {
	rule Total
	tally
}

// tally is what the counters that do not refill bit by bit have in common.
type tally struct {
	used, held int64
	open       int
}

func (t *tally) counted() (used, held int64) { return t.used, t.held }

func (t *tally) room() int64 { return mostCounted - t.used - t.held }

func (t *tally) spend(n int64) { t.used += n }

func (t *tally) hold(h *hold) {
	t.held += h.n
	t.open += h.first()
}

// settle ends a hold that still counts.
func (t *tally) settle(h *hold, used int64) {
	t.open -= h.first()
	t.held -= h.n
	t.used += used
}

// correct changes what was used, to no less than 0 and no more than fits.
func (t *tally) correct(delta int64) { t.used = max(0, t.used+min(delta, t.room())) }

func (t *tally) fresh() bool { return t.used == 0 && t.open == 0 }

func (t *total) setTerms(newer *terms) { t.rule = newer.rule.(Total) }

func (t *total) advance(instant) {}

func (t *total) wait(n int64) time.Duration {
	if t.used+t.held <= t.rule.Limit-n {
		return 0
	}
	return Never
}

func (t *total) after(time.Duration) int64 { return t.used + t.held }

func (t *total) fitsWithoutHeld(n int64) bool { return t.used <= t.rule.Limit-n }

func (t *total) describe() (used, held int64, open int, untilWhole time.Duration) {
	return t.used, t.held, t.open, 0
}
