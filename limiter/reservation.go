package limiter

import (
	"context"
	"sync"
)

// Reservation is a set of charges taken at an estimate, to be corrected once.
// Whoever made it must end it with Settle or Cancel, whatever happened to the
// work: until then its whole amount counts. All methods may be called from any
// goroutine; of Settle and Cancel the first call wins. A nil Reservation, as a
// refusal gives, has nothing to end; a zero one, which no limiter gives, is
// misuse.
type Reservation struct {
	backing Backing // of another limiter; the rest is then unused

	memory *Memory
	owner  string
	since  int64
	entry  registration

	mu    sync.Mutex // taken before any budget's lock; guards all below
	ended bool
	place uint64   // of the turns that a refused draw has kept, 0: none
	until int64    // when they lapse
	holds []hold   // as reserved, in lock order
	drawn [][]hold // what each draw added, in lock order
	few   [4]hold  // backs holds when there are no more: one allocation in all
}

// hold is one charge of a reservation.
type hold struct {
	budget *Budget
	n      int64  // 0: nothing was taken
	charge int32  // index in the caller's slice
	again  bool   // the reservation holds some of this budget already
	epoch  uint16 // which of the budget's counters, if its kind of rule changed
	place  uint64 // window: the entry it is part of; calendar: the period; bucket, at once: the instant

	// Guarded by budget.mu, for buckets: the list of open holds and the
	// smallest deficit the bucket has had since the hold was taken.
	older, younger *hold
	least          wide
}

// reserve takes the charges, whose budgets are locked.
func (m *Memory) reserve(charges []Charge, order []int, now instant, owner string) *Reservation {
	r := &Reservation{memory: m, owner: owner, since: now.ns}
	if len(order) <= len(r.few) {
		r.holds = r.few[:len(order)]
	} else {
		r.holds = make([]hold, len(order))
	}
	holdAll(r.holds, charges, order)
	return r
}

// holdAll takes the charges into holds, in lock order.
func holdAll(holds []hold, charges []Charge, order []int) {
	for at, i := range order {
		h := &holds[at]
		h.budget, h.n, h.charge = charges[i].Budget, charges[i].N, int32(i)
		h.epoch = h.budget.epoch()
		h.budget.rest().open++
		if h.n > 0 {
			h.budget.counter().hold(h)
		}
	}
}

// first is what a hold adds to the number of reservations open on a budget: 1
// if it is the reservation's first there, else 0.
func (h *hold) first() int {
	if h.again {
		return 0
	}
	return 1
}

// Settle replaces each reserved amount, and what was drawn on top of it, by
// the actual one, in the order of the charges of Reserve. What was taken in
// excess goes back to where it was taken, as if it never had been, and never
// further: a window that has passed and a calendar period that is over get
// nothing, and a bucket gets no more than refill has not already replaced.
// What was used beyond it is charged now, and may leave a debt.
//
// In memory it never refuses: a debt beyond 64 bits is cut off there. The one
// error is misuse, a wrong count of amounts or a negative one, which leaves the
// reservation open. A store that cannot answer is another.
func (r *Reservation) Settle(ctx context.Context, actual []int64) error {
	switch {
	case r == nil:
		return nil
	case r.backing != nil:
		return r.backing.Settle(ctx, actual)
	case r.memory == nil:
		return errNoReservation
	case len(actual) != len(r.holds):
		return misusef("settle %d charges with %d amounts; give one per charge, in their order", len(r.holds), len(actual))
	}
	for i, n := range actual {
		if n < 0 {
			return misusef("settle charge %d at %d; amounts must not be negative", i, n)
		}
	}
	r.end(actual, false)
	return nil
}

// Cancel gives everything back: it is Settle with zeros.
func (r *Reservation) Cancel(ctx context.Context) error {
	switch {
	case r == nil:
		return nil
	case r.backing != nil:
		return r.backing.Cancel(ctx)
	case r.memory == nil:
		return errNoReservation
	}
	r.end(nil, false)
	return nil
}

// end settles once: at the actual amounts, at zero if there are none, or at
// all that was taken. It reports whether this was the first time.
func (r *Reservation) end(actual []int64, atTaken bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.ended = true
	wall := false
	for i := range r.holds {
		wall = wall || r.holds[i].budget.terms.Load().wall
	}
	now := r.memory.now(wall)
	for i := range r.holds {
		r.holds[i].budget.mu.Lock()
	}
	for i := range r.holds {
		h := &r.holds[i]
		now = r.memory.with(now, h.budget)
		h.budget.enter(now)
		switch {
		case atTaken:
			r.settle(h, r.taken(h))
		case actual == nil:
			r.settle(h, 0)
		default:
			r.settle(h, actual[h.charge])
		}
		if r.place != 0 && h.budget.more != nil {
			h.budget.more.giveUpTurn(r)
		}
		h.budget.mu.Unlock()
	}
	r.memory.open.remove(r)
	return true
}

// settle ends one charge and the draws on top of it: what was used fills them
// in the order they were taken, and what is left then is spent now. Its budget
// is locked and brought to the present.
func (r *Reservation) settle(h *hold, actual int64) {
	actual -= h.settle(actual)
	for _, draw := range r.drawn {
		for i := range draw {
			if draw[i].budget == h.budget {
				actual -= draw[i].settle(actual)
			}
		}
	}
	c := h.budget.counter()
	if over := min(actual, c.room()); over > 0 {
		c.spend(over)
	}
}

// settle ends a hold and returns how much of an amount it covers.
func (h *hold) settle(actual int64) int64 {
	used := min(actual, h.n)
	h.budget.more.open--
	if h.n > 0 && h.epoch == h.budget.epoch() {
		h.budget.counter().settle(h, used)
	}
	return used
}
