package limiter

import "fmt"

// call is one call's charges, whose budgets are locked.
type call struct {
	memory  *Memory
	charges []Charge
	order   []int // indices of charges, see lockOrder
	now     instant
}

// usualCharges is for how many charges a call needs no memory of its own.
const usualCharges = 8

// begin checks the charges, locks their budgets and brings them to the
// present. A handle whose state was dropped is replaced by its successor's
// first. It keeps the order in buf: nothing here may be stored through a
// pointer, or buf moves to the heap.
func (m *Memory) begin(charges []Charge, buf []int) (call, error) {
	c := call{memory: m, charges: charges}
	wall := false
	for i := range charges {
		if err := charges[i].check(m, i); err != nil {
			return c, err
		}
		wall = wall || charges[i].Budget.terms.Load().wall
	}
	order, err := lockOrder(charges, buf)
	if err != nil {
		return c, err
	}
	c.now = m.now(wall)
	for !lock(charges, order) {
		for i := range charges {
			charges[i].Budget = charges[i].Budget.live()
		}
		if order, err = lockOrder(charges, order[:0]); err != nil {
			return c, err
		}
	}
	for i := range charges {
		b := charges[i].Budget
		c.now = m.with(c.now, b)
		b.enter(c.now)
	}
	c.order = order
	return c, nil
}

func (c *Charge) check(m *Memory, i int) error {
	switch {
	case c.Budget == nil:
		return fmt.Errorf("limiter: charge %d has no budget", i)
	case c.Budget.terms.Load().memory != m:
		return fmt.Errorf("limiter: budget %q belongs to another limiter; get the handle from this one", c.Budget.name)
	case c.N < 0:
		return fmt.Errorf("limiter: charge of %d to budget %q; amounts must not be negative", c.N, c.Budget.name)
	}
	return nil
}

// lockOrder appends the indices of the charges to order, sorted by the id of
// their budgets: the one order in which budgets are ever locked. It finds
// budgets that are charged twice.
func lockOrder(charges []Charge, order []int) ([]int, error) {
	for i := range charges {
		b := charges[i].Budget
		order = append(order, i)
		for j := i; j > 0; j-- {
			before := charges[order[j-1]].Budget
			if before == b {
				return nil, fmt.Errorf("limiter: budget %q charged twice in one call; add the amounts up", b.name)
			}
			if before.id < b.id {
				break
			}
			order[j-1], order[j] = order[j], order[j-1]
		}
	}
	return order, nil
}

// lock locks all budgets, or none and returns false if one is dead.
func lock(charges []Charge, order []int) bool {
	for at, i := range order {
		b := charges[i].Budget
		b.mu.Lock()
		if b.lane.Load() == laneDead {
			for _, j := range order[:at+1] {
				charges[j].Budget.mu.Unlock()
			}
			return false
		}
	}
	return true
}

func (c *call) unlock() {
	for _, i := range c.order {
		c.charges[i].Budget.mu.Unlock()
	}
}

// decide answers for a call whose budgets are locked, from a reservation that
// draws or, with nil, one that begins. It fills in the states of refused ones.
func (c *call) decide(by *Reservation) (Decision, error) {
	d := Decision{OK: true, Refused: -1}
	worst := verdict{}
	for i := range c.charges {
		v := c.charges[i].judge(by, c.now.ns)
		if v.wait == 0 {
			if err := c.charges[i].Budget.checkRoom(c.charges[i].N); err != nil {
				return Decision{Refused: -1}, err
			}
			continue
		}
		d.HeldOnly = v.held && (d.OK || d.HeldOnly)
		d.AtOnce = d.AtOnce || v.atOnce
		if d.OK || v.explainsBetter(worst) {
			d.RetryAfter, d.Refused, worst = v.wait, i, v
		}
		d.OK = false
	}
	if !d.OK {
		c.describe(true)
	}
	return d, nil
}

// take counts every charge for good.
func (c *call) take() {
	for i := range c.charges {
		if ch := &c.charges[i]; ch.N > 0 {
			ch.Budget.counter().spend(ch.N)
		}
	}
	c.describe(false)
}

// describe fills in the states. After a refusal it works out, for charges that
// wait, what will be left when they have.
func (c *call) describe(refused bool) {
	for i := range c.charges {
		ch := &c.charges[i]
		wait := ch.State.ResetAfter // left there by judge
		b := ch.Budget
		counter := b.counter()
		used, held, open, untilWhole := counter.describe()
		left, capacity := used+held, b.terms.Load().capacity
		ch.State = State{
			Limit:            capacity,
			Used:             used,
			Held:             held,
			Remaining:        max(0, capacity-left),
			Open:             open,
			ResetAfter:       untilWhole,
			LeftAfterWaiting: left,
		}
		if b.more != nil && len(b.more.turns) > 0 {
			ch.State.Remaining = max(0, ch.State.Remaining-sum(b.more.turns))
		}
		if refused && wait > 0 && wait < Never {
			ch.State.LeftAfterWaiting = counter.after(wait)
		}
	}
}
