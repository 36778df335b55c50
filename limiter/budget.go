package limiter

import (
	"fmt"
	"sync"
	"time"
)

// Budget is a handle on one counter: its name, its newest rule and its state.
// Get it once from [Limiter.Budget] and keep it; the same name gives the same
// pointer.
type Budget struct {
	name  string
	id    int // place in the one order in which budgets are locked
	owner *Memory

	mu       sync.Mutex // guards all below
	rule     Rule
	capacity int64 // rule.Capacity()
	wall     bool  // counter needs the wall clock
	counter  counter
}

// counter is the state of one budget under one kind of rule. advance brings it
// to an instant, and the other methods speak of that instant; an instant
// before the last one seen leaves it where it is. Amounts are at least 1.
type counter interface {
	// setRule takes a newer rule of the same kind; false if it is of another.
	setRule(Rule) bool
	advance(instant)
	// counted is what still counts: settled and held. Their sum is at most
	// mostCounted.
	counted() (used, held int64)
	// describe is counted with, besides, the number of holds taken and not
	// settled and State.ResetAfter.
	describe() (used, held int64, open int, untilWhole time.Duration)
	// room is how much more can be counted within 64 bits.
	room() int64
	// wait is the time until n, no more than the capacity, fits if nothing
	// else happens, and what will count then. 0 if it fits now.
	wait(n int64) (d time.Duration, left int64)
	// fitsWithoutHeld reports whether n would fit now if every hold were
	// settled at zero.
	fitsWithoutHeld(n int64) bool
	// spend counts n for good.
	spend(n int64)
	// hold counts h.n until it is settled.
	hold(h *hold)
	// settle replaces a hold by what was used: up to h.n where the hold was
	// charged, the rest as spent now, as far as there is room.
	settle(h *hold, actual int64)
}

// instant is a point in time on both clocks.
type instant struct {
	ns   int64 // monotonic, since the limiter's base
	wall int64 // Unix nanoseconds; only set when a calendar needs it
}

// Name returns the name the budget was made under.
func (b *Budget) Name() string { return b.name }

// Rule returns the budget's newest rule.
func (b *Budget) Rule() Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rule
}

// setRule is called with b.mu held, or before b is shared.
func (b *Budget) setRule(rule Rule, now instant) {
	if b.counter == nil {
		b.counter = newCounter(rule, now)
	} else {
		b.counter.advance(now)
		if !b.counter.setRule(rule) {
			used, held := b.counter.counted()
			b.counter = newCounter(rule, now)
			if used+held > 0 {
				b.counter.spend(used + held)
			}
		}
	}
	b.rule, b.capacity = rule, rule.Capacity()
	_, b.wall = rule.(CalendarQuota)
}

func newCounter(rule Rule, now instant) counter {
	switch r := rule.(type) {
	case TokenBucket:
		return &bucket{rule: r, now: now.ns}
	case SlidingWindow:
		return &window{rule: r, now: now.ns}
	case CalendarQuota:
		return newCalendar(r, now.wall)
	case Total:
		return &total{rule: r}
	}
	panic(fmt.Sprintf("BUG: limiter: no counter for a %T", rule))
}

// decide answers for charges whose budgets are locked and brought to the
// present. It fills in the states of refused ones.
func decide(charges []Charge) (Decision, error) {
	d := Decision{OK: true, Refused: -1, Source: Local}
	worstTooBig, worstHeld := false, false
	for i := range charges {
		c := &charges[i]
		wait, held := c.wait()
		if wait == 0 {
			if err := checkRoom(c); err != nil {
				return Decision{Refused: -1}, err
			}
			continue
		}
		tooBig := c.N > c.Budget.capacity
		d.HeldOnly = held && (d.OK || d.HeldOnly)
		// Among charges that wait equally long, the one whose refusal is the
		// most final explains the call best.
		if d.OK || wait > d.RetryAfter || wait == d.RetryAfter && (tooBig && !worstTooBig || worstHeld && !held) {
			d.RetryAfter, d.Refused, worstTooBig, worstHeld = wait, i, tooBig, held
		}
		d.OK = false
	}
	if !d.OK {
		fillStates(charges, true)
	}
	return d, nil
}

// wait returns how long the charge must wait and whether only holds are in its
// way, and leaves in its state what will count then.
func (c *Charge) wait() (d time.Duration, held bool) {
	b, left := c.Budget, &c.State.LeftAfterWaiting
	*left = countedNow
	switch {
	case c.N == 0:
		return 0, false
	case c.N > b.capacity:
		return Never, false
	}
	if d, *left = b.counter.wait(c.N); d == 0 {
		return 0, false
	}
	return d, b.counter.fitsWithoutHeld(c.N)
}

// countedNow stands for the amount that counts at present until fillStates
// works it out.
const countedNow = -1

func checkRoom(c *Charge) error {
	if c.N > c.Budget.counter.room() {
		return fmt.Errorf("limiter: charge of %d to budget %q: the sum does not fit in 64 bits", c.N, c.Budget.name)
	}
	return nil
}

func spend(charges []Charge) {
	for i := range charges {
		if c := &charges[i]; c.N > 0 {
			c.Budget.counter.spend(c.N)
		}
	}
	fillStates(charges, false)
}

// fillStates describes the budgets as they are. After a refusal it keeps what
// wait found to be left after waiting; else nothing waits.
func fillStates(charges []Charge, refused bool) {
	for i := range charges {
		c := &charges[i]
		b, left := c.Budget, c.State.LeftAfterWaiting
		used, held, open, untilWhole := b.counter.describe()
		if !refused || left == countedNow {
			left = used + held
		}
		c.State = State{
			Limit:            b.capacity,
			Used:             used,
			Held:             held,
			Remaining:        max(0, b.capacity-used-held),
			Open:             open,
			ResetAfter:       untilWhole,
			LeftAfterWaiting: left,
		}
	}
}
