package limiter

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Reservation is a set of charges taken at an estimate, to be corrected once.
// Whoever made it must end it with Settle or Cancel, whatever happened to the
// work: until then its whole amount counts. Both may be called from any
// goroutine and any number of times; the first call wins. A nil Reservation,
// as a refusal gives, has nothing to end.
type Reservation struct {
	memory *Memory
	ended  atomic.Bool
	holds  []hold  // in lock order
	few    [4]hold // backs holds when there are no more: one allocation in all
}

// hold is one charge of a reservation.
type hold struct {
	budget *Budget
	home   counter // which counted it; not budget.counter once the budget's kind changed
	charge int     // index in the caller's slice
	n      int64   // 0: nothing was taken, and home is nil

	place uint64 // window: the entry it is part of; calendar: the period

	// Guarded by budget.mu, for buckets: the list of open holds and the
	// smallest deficit the bucket has had since the hold was taken.
	older, younger *hold
	least          amount
}

// newReservation takes the charges, whose budgets are locked.
func newReservation(m *Memory, charges []Charge, order []int) *Reservation {
	r := &Reservation{memory: m}
	if len(order) <= len(r.few) {
		r.holds = r.few[:len(order)]
	} else {
		r.holds = make([]hold, len(order))
	}
	for at, i := range order {
		c, h := &charges[i], &r.holds[at]
		h.budget, h.charge, h.n = c.Budget, i, c.N
		if h.n > 0 {
			h.home = h.budget.counter
			h.home.hold(h)
		}
	}
	m.open.Add(1)
	return r
}

// Settle replaces each reserved amount by the actual one, in the order of the
// charges. What was reserved in excess goes back to where it was taken, as if
// it never had been, and never further: a window that has passed and a
// calendar period that is over get nothing, and a bucket gets no more than
// refill has not already replaced. What was used beyond the reservation is
// charged now, and may leave a debt.
//
// It never refuses: a debt beyond 64 bits is cut off there. The one error is
// misuse, a wrong count of amounts or a negative one, which leaves the
// reservation open.
func (r *Reservation) Settle(_ context.Context, actual []int64) error {
	if r == nil {
		return nil
	}
	if len(actual) != len(r.holds) {
		return fmt.Errorf("limiter: settle %d charges with %d amounts; give one per charge, in their order", len(r.holds), len(actual))
	}
	for i, n := range actual {
		if n < 0 {
			return fmt.Errorf("limiter: settle charge %d at %d; amounts must not be negative", i, n)
		}
	}
	r.end(actual)
	return nil
}

// Cancel gives everything back: it is Settle with zeros.
func (r *Reservation) Cancel(context.Context) error {
	if r != nil {
		r.end(nil)
	}
	return nil
}

// end settles at the actual amounts, at zero if there are none.
func (r *Reservation) end(actual []int64) {
	if r.ended.Swap(true) {
		return
	}
	wall := false
	for i := range r.holds {
		b := r.holds[i].budget
		b.mu.Lock()
		wall = wall || b.wall
	}
	now := r.memory.now(wall)
	for i := range r.holds {
		h := &r.holds[i]
		n := int64(0)
		if actual != nil {
			n = actual[h.charge]
		}
		h.settle(n, now)
		h.budget.mu.Unlock()
	}
	r.memory.open.Add(-1)
}

// settle is called with the budget locked.
func (h *hold) settle(actual int64, now instant) {
	c := h.budget.counter
	c.advance(now)
	if h.home == c {
		c.settle(h, actual)
		return
	}
	if over := min(actual-min(actual, h.n), c.room()); over > 0 {
		c.spend(over)
	}
}
