package limiter

// A call goes through its charges in steps: begin, decide, take or hold,
// describe, unlock. What the steps share is passed on rather than kept in a
// struct: so it stays in registers and on the stack.

// usualCharges is for how many charges a call needs no memory of its own.
const usualCharges = 8

// begin checks the charges, locks their budgets and brings them to the
// present. It returns the instant that is, and the order in which to unlock,
// which it keeps in buf. A handle whose state was dropped is replaced by its
// successor's first.
func (m *Memory) begin(charges []Charge, buf []int) ([]int, instant, error) {
	wall := false
	for i := range charges {
		if err := charges[i].check(m, i); err != nil {
			return nil, instant{}, err
		}
		wall = wall || charges[i].Budget.terms.Load().wall
	}
	order, err := lockOrder(charges, buf)
	if err != nil {
		return nil, instant{}, err
	}
	now := m.now(wall)
	for !lock(charges, order) {
		for i := range charges {
			charges[i].Budget = charges[i].Budget.live()
		}
		if order, err = lockOrder(charges, order[:0]); err != nil {
			return nil, instant{}, err
		}
	}
	for i := range charges {
		b := charges[i].Budget
		now = m.with(now, b)
		b.enter(now)
	}
	return order, now, nil
}

func (c *Charge) check(m *Memory, i int) error {
	switch t := c.Budget.termsOrNil(); {
	case t == nil:
		return misusef("charge %d has no budget", i)
	case t.memory != m:
		return errAnothers(c.Budget)
	case c.N < 0:
		return misusef("charge of %d to budget %q; amounts must not be negative", c.N, c.Budget.name)
	}
	return nil
}

func errAnothers(b *Budget) error {
	return misusef("budget %q belongs to another limiter; get the handle from this one", b.name)
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
				return nil, misusef("budget %q charged twice in one call; add the amounts up", b.name)
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

func unlock(charges []Charge, order []int) {
	for _, i := range order {
		charges[i].Budget.mu.Unlock()
	}
}

// decide answers for a call whose budgets are locked, from a reservation that
// draws or, with nil, one that begins. It fills in the states if it refuses.
func decide(charges []Charge, by *Reservation, now int64) (Decision, error) {
	for i := range charges {
		if c := &charges[i]; c.N > 0 && !c.Budget.fits(c.N, by, now) {
			return refuse(charges, by, now)
		}
	}
	return Decision{OK: true, Refused: -1}, nil
}

// refuse explains why a call does not pass.
func refuse(charges []Charge, by *Reservation, now int64) (Decision, error) {
	d := Decision{Refused: -1, HeldOnly: true}
	worst := verdict{}
	for i := range charges {
		v := charges[i].judge(by, now)
		if v.noRoom {
			return Decision{Refused: -1}, charges[i].errNoRoom()
		}
		if v.wait == 0 {
			continue
		}
		d.HeldOnly = d.HeldOnly && v.held
		d.AtOnce = d.AtOnce || v.atOnce
		if d.Refused < 0 || v.explainsBetter(worst) {
			d.RetryAfter, d.Refused, d.TooBig, worst = v.wait, i, v.tooBig, v
		}
	}
	describe(charges)
	for i := range charges {
		c := &charges[i]
		if wait := c.wait(by, now); wait > 0 && wait < Never {
			c.State.LeftAfterWaiting = c.Budget.counter().after(wait)
		}
	}
	return d, nil
}

// take counts every charge for good.
func take(charges []Charge) {
	for i := range charges {
		if c := &charges[i]; c.N > 0 {
			c.Budget.counter().spend(c.N)
		}
	}
	describe(charges)
}

// describe fills in the states as the budgets are.
func describe(charges []Charge) {
	for i := range charges {
		b, s := charges[i].Budget, &charges[i].State
		used, held, open, untilWhole := b.counter().describe()
		left, capacity := used+held, b.terms.Load().capacity
		s.Limit, s.Used, s.Held, s.Open = capacity, used, held, open
		s.ResetAfter, s.LeftAfterWaiting = untilWhole, left
		s.Remaining = b.beside(capacity - left)
	}
}
