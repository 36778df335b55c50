package limiter

import (
	"context"
	"slices"
)

// Draw takes more for work that turns out to need it: every charge or none,
// each on a budget the reservation has charged. What was drawn is part of the
// reservation: Settle and Cancel end both together, what was used counting as
// reserved first and drawn after, in the order of the draws.
//
// A draw goes before calls that have not begun. One that is refused, and that
// time would let pass, keeps its turn: whatever is admitted meanwhile leaves
// room for it, be it new calls or later draws of other reservations, until it
// has passed, or its reservation has ended, or one second after the instant it
// was told; on a budget whose newer rule can never hold it, only until then. Drawing again keeps the place with the new amounts, on whichever
// budgets; drawing zeros gives it up. The caller decides whether the wait is worth it.
//
// [Decision.HeldOnly] counts what the reservation itself holds among the rest:
// it may say of a draw that only ending this very reservation would help.
//
// Drawing on a reservation that has ended is an error, as is a budget it has
// not charged. Use the handles that Reserve left in its charges: a name of a
// family may have got another since.
//
// Ending a reservation takes time that grows with its draws: draw in steps that
// are large beside the work, tens to a call rather than thousands.
func (r *Reservation) Draw(ctx context.Context, more []Charge) (Decision, error) {
	refused := Decision{Refused: -1}
	switch {
	case r == nil:
		return refused, misusef("draw on a reservation that was refused")
	case r.backing != nil:
		return r.backing.Draw(ctx, more)
	case r.memory == nil:
		return refused, errNoReservation
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return refused, misusef("draw on a reservation that has ended")
	}
	waited := r.place != 0
	d, err := r.try(more)
	if err == nil && waited {
		r.giveUpTurns(more)
	}
	return d, err
}

func (r *Reservation) try(more []Charge) (Decision, error) {
	refused := Decision{Refused: -1}
	var buf [usualCharges]int
	order, now, err := r.memory.begin(more, buf[:0])
	if err != nil {
		return refused, err
	}
	defer unlock(more, order)
	for i := range more {
		b := more[i].Budget
		if !contains(r.holds, func(h *hold) bool { return h.budget == b }) {
			return refused, misusef("draw on budget %q, which the reservation has not charged", b.name)
		}
	}
	if r.until <= now.ns {
		r.place = 0 // its turn has lapsed
	}
	d, err := decide(more, r, now.ns)
	if err != nil {
		return d, err
	}
	if d.OK {
		r.draw(more, order)
	} else {
		r.wait(more, d, now.ns)
	}
	return d, nil
}

// draw takes the charges, whose budgets are locked.
func (r *Reservation) draw(more []Charge, order []int) {
	for i := range more {
		if b := more[i].Budget; r.place != 0 && b.more != nil {
			b.more.giveUpTurn(r)
		}
	}
	r.place = 0
	if slices.ContainsFunc(more, func(c Charge) bool { return c.N > 0 }) {
		holds := make([]hold, len(order))
		for at, i := range order {
			holds[at].again = r.holding(more[i].Budget)
		}
		holdAll(holds, more, order)
		r.drawn = append(r.drawn, holds)
	}
	describe(more)
}

// giveUpTurns gives up those that an earlier draw has kept on other budgets.
func (r *Reservation) giveUpTurns(more []Charge) {
	for i := range r.holds {
		b := r.holds[i].budget
		if slices.ContainsFunc(more, func(c Charge) bool { return c.Budget == b }) {
			continue
		}
		b.mu.Lock()
		if b.more != nil {
			b.more.giveUpTurn(r)
		}
		b.mu.Unlock()
	}
}

// holding reports whether the reservation holds some of a budget, under its
// present kind of rule.
func (r *Reservation) holding(b *Budget) bool {
	held := func(h *hold) bool { return h.budget == b && h.n > 0 && h.epoch == b.epoch() }
	return contains(r.holds, held) ||
		slices.ContainsFunc(r.drawn, func(draw []hold) bool { return contains(draw, held) })
}

// contains looks at holds where they are: a copy would read what the lock of
// another budget guards.
func contains(holds []hold, wanted func(*hold) bool) bool {
	for i := range holds {
		if wanted(&holds[i]) {
			return true
		}
	}
	return false
}

// wait keeps turns for a draw that was refused, if only time is in its way. Its
// states then leave room for it, too.
func (r *Reservation) wait(more []Charge, d Decision, now int64) {
	waited := r.place != 0
	switch {
	case d.RetryAfter == Never || d.AtOnce:
		r.place = 0
	case !waited:
		r.place = r.memory.places.Add(1)
	}
	r.until = lapses(now, d.RetryAfter)
	for i := range more {
		c := &more[i]
		switch {
		case r.place != 0 && c.N > 0:
			c.Budget.rest().keepTurn(r, c.N)
		case waited && c.Budget.more != nil:
			c.Budget.more.giveUpTurn(r)
		}
		c.State.Remaining = c.Budget.beside(c.State.Limit - c.State.Used - c.State.Held)
	}
}
