package limitertest

import (
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// bug is a way in which a limiter can be wrong. All have been seen in other
// limiters, or nearly in this one.
type bug int

const (
	sound bug = iota
	evictsDrained
	settlesTwice
	roundsWaitsDown
	checksThenCharges
	refundsWindowsNow
	forgetsTheRemainder
	ignoresTurns
	neverHeldOnly
	addsRefundsBack
	forgivesOverruns
	takesWhatFits
	leavesEarly
	keepsSlots
	settlesWithoutDraws
	neverLapses
	lapsesEarly
	takesAnyGeneration
	refillsOnNewRules
	takesNegative
	takesTwice
	takesForeign
	guessesNothing
	waitsForSlots
	tellsTheShortestWait
	startsFull
	chargesPeeks
	refusesInc
	ignoresZones
	drawsAfterTheEnd
	settlesDrawsFirst
	letsTheTooBigWait
	losesPlaces
	lesserDrawsPush
	waitsForTheOldestOnly
	refundsOldPeriods
	sweepsTooMuch
	sweepsHeld
	blamesTheFirst
	keepsTurnsForEver
	forgetsTheTooBig
	takesSpentForTooBig
	bugs
)

func (b bug) String() string {
	return [...]string{
		"sound", "evicts drained", "settles twice", "rounds waits down", "checks, then charges",
		"refunds windows now", "forgets the remainder", "ignores turns", "never held only", "adds refunds back",
		"forgives overruns", "takes what fits", "leaves early", "keeps slots", "settles without draws",
		"never lapses", "lapses early", "takes any generation", "refills on new rules", "takes negative",
		"takes twice", "takes foreign", "guesses nothing", "waits for slots", "tells the shortest wait",
		"starts full", "charges peeks", "refuses inc", "ignores zones", "draws after the end",
		"settles draws first", "lets the too big wait", "loses places", "lesser draws push",
		"waits for the oldest only", "refunds old periods", "sweeps too much", "sweeps held", "blames the first",
		"keeps turns for ever", "forgets the too big", "takes spent for too big",
	}[b]
}

// make is called for new accounts.
func (b bug) make(a *account) {
	switch r := a.rule.(type) {
	case limiter.TokenBucket:
		if b == startsFull {
			a.empty = false
		}
	case limiter.SlidingWindow:
		if b == leavesEarly {
			r.Window -= time.Millisecond
			a.rule = r
		}
	case limiter.CalendarQuota:
		if b == ignoresZones {
			r.Zone = nil
			a.rule = r
		}
	}
}

// take is called with newer and older rules.
func (b bug) take(rule limiter.Rule) limiter.Rule {
	if r, ok := rule.(limiter.Revision); ok && b == takesAnyGeneration {
		return r.Rule
	}
	return rule
}

// revised is called when an account has a newer rule.
func (b bug) revised(a *account, at time.Duration) {
	if b == refillsOnNewRules {
		a.first, a.from, a.empty, a.log = a.rule, at, false, nil
	}
}

// look is called before every call.
func (b bug) look(k *book, asks []ask) {
	for _, a := range asks {
		counted := a.of.counted(k.now, false)
		_, bucket := a.of.rule.(limiter.TokenBucket)
		switch {
		case b == evictsDrained && counted == a.of.rule.Capacity() && a.of.open() == 0:
			a.of.log = nil
		case b == forgetsTheRemainder && bucket && a.of.open() == 0:
			a.of.first, a.of.from, a.of.empty, a.of.log = a.of.rule, k.now, false, nil
			if counted != 0 {
				a.of.charge(k.now, counted, nil, true)
			}
		}
	}
}

func (b bug) decide(k *book, asks []ask, by *call) verdict {
	if turns := k.turns; b == ignoresTurns || b == lesserDrawsPush && by != nil {
		k.turns = nil
		defer func() { k.turns = turns }()
	}
	v := k.decide(asks, by)
	if b == takesWhatFits && !v.ok && by == nil {
		for i, a := range asks {
			if !slices.Contains(v.refused, i) && k.fits(a, k.now, by) {
				a.of.charge(k.now, a.n, nil, true)
			}
		}
	}
	return v
}

// tell is called before a decision is handed out.
func (b bug) tell(d *limiter.Decision, asks []ask, charges []limiter.Charge) {
	if d.OK {
		return
	}
	a := asks[d.Refused]
	switch {
	case b == roundsWaitsDown && d.RetryAfter > time.Second && d.RetryAfter != limiter.Never:
		d.RetryAfter = d.RetryAfter.Truncate(time.Second)
	case b == neverHeldOnly:
		d.HeldOnly = false
	case b == guessesNothing && d.AtOnce && kind(a.of.rule) == kind(limiter.AtOnce{}):
		d.RetryAfter = 0
	case b == waitsForSlots && d.AtOnce:
		d.RetryAfter = max(d.RetryAfter, 5*time.Second)
	case b == letsTheTooBigWait && d.RetryAfter == limiter.Never && a.n > a.of.rule.Capacity():
		d.RetryAfter = max(time.Second, charges[d.Refused].State.ResetAfter)
	case b == forgetsTheTooBig:
		d.TooBig = false
	case b == takesSpentForTooBig:
		d.TooBig = d.RetryAfter == limiter.Never
	case b == blamesTheFirst:
		d.Refused = 0
	case b == tellsTheShortestWait && len(asks) > 1 && d.RetryAfter != limiter.Never:
		d.RetryAfter = min(d.RetryAfter, time.Millisecond)
	case b == waitsForTheOldestOnly:
		if r, ok := a.of.rule.(limiter.SlidingWindow); ok && d.RetryAfter != limiter.Never {
			d.RetryAfter = min(d.RetryAfter, r.Window/2)
		}
	}
}

func (b bug) draw(k *book, c *call, asks []ask, v verdict) {
	if b == losesPlaces {
		k.giveUp(c)
	}
	if b == keepsTurnsForEver && v.ok && slices.ContainsFunc(k.turns, func(t *turn) bool { return t.by == c }) {
		t := *k.turns[slices.IndexFunc(k.turns, func(t *turn) bool { return t.by == c })]
		defer func() { k.turns = append(k.turns, &t) }()
	}
	k.draw(c, asks, v)
	for _, t := range k.turns {
		switch {
		case t.by != c || v.ok:
		case b == neverLapses:
			t.until += time.Hour
		case b == lapsesEarly:
			t.until -= grace
		}
	}
}

func (b bug) end(k *book, c *call, actual []int64) {
	switch b {
	case settlesTwice: // what was used once may be given back again
		for i, a := range c.asks {
			if n := actual[i]; c.parts[i][0].by == nil && n < a.n && a.n > 0 {
				a.of.charge(k.now, a.n-n, nil, false)
				a.of.log[len(a.of.log)-1].n = n - a.n
			}
		}
	case settlesDrawsFirst:
		for i := range c.parts {
			slices.Reverse(c.parts[i])
		}
	case settlesWithoutDraws:
		for i := range c.parts {
			for _, e := range c.parts[i][1:] {
				e.by = nil
			}
			c.parts[i] = c.parts[i][:1]
		}
	case forgivesOverruns:
		actual = slices.Clone(actual)
		for i := range actual {
			taken := int64(0)
			for _, e := range c.parts[i] {
				taken += e.n
			}
			actual[i] = min(actual[i], taken)
		}
	}
	type was struct {
		e *entry
		n int64
	}
	var before []was
	for i := range c.parts {
		for _, e := range c.parts[i] {
			before = append(before, was{e, e.n})
		}
	}
	k.end(c, actual)
	for i, a := range c.asks {
		for _, e := range c.parts[i] {
			n := before[slices.IndexFunc(before, func(w was) bool { return w.e == e })].n
			_, bucket := a.of.rule.(limiter.TokenBucket)
			_, window := a.of.rule.(limiter.SlidingWindow)
			_, calendar := a.of.rule.(limiter.CalendarQuota)
			if n > e.n && (b == addsRefundsBack && bucket || b == refundsWindowsNow && window || b == refundsOldPeriods && calendar) {
				a.of.log = append(a.of.log, &entry{at: k.now, n: e.n - n})
				e.n = n
			}
			if _, slots := a.of.rule.(limiter.AtOnce); slots && b == keepsSlots && e.n > 0 {
				e.by = &call{}
			}
		}
	}
}

func (b bug) disturb(l *logged) {
	for _, h := range l.handles {
		a := h.Own().(*account)
		switch {
		case b == sweepsTooMuch && a.counted(l.book.now, false)*4 < a.rule.Capacity(),
			b == sweepsHeld && a.counted(l.book.now, true) == 0:
			a.first, a.from, a.empty, a.log = a.rule, l.book.now, false, nil
		}
	}
}
