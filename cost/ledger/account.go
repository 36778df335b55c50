package ledger

import (
	"errors"
	"fmt"

	"github.com/tokenfare/tokenfare/cost"
)

// Account is what an exchange is charged in the end: its end row, and whatever has corrected it.
type Account struct {
	Basis   string
	Usage   cost.Usage
	Cost    cost.NanoUSD
	Charges []Charge // Late is 0, as it is in N
}

// Account is what the end row says with what corrections add, all those of the exchange. The exchange has ended.
func (x *Exchange) Account(corrections []Correction) Account {
	e := x.End
	a := Account{Basis: e.Basis, Usage: e.Usage, Cost: e.Cost, Charges: make([]Charge, 0, len(e.Charges))}
	for _, c := range e.Charges {
		a.Charges = append(a.Charges, Charge{Budget: c.Budget, N: c.N + c.Late})
	}
	for i := range corrections {
		a.correct(&corrections[i])
	}
	return a
}

func (a *Account) correct(c *Correction) {
	delta := c.Usage
	to, by := figures(&a.Usage), figures(&delta)
	for i := range to {
		*to[i] = saturatingAdd(*to[i], *by[i])
	}
	a.Basis = c.Basis
	a.Cost = cost.NanoUSD(saturatingAdd(int64(a.Cost), int64(c.Cost)))
	a.Charges = addCharges(a.Charges, c.Charges)
}

// Figure is what the account comes to in a budget's unit. False means that the unit is not known here.
func (a *Account) Figure(unit string) (n int64, known bool) {
	if a.Basis == Nothing {
		return 0, true
	}
	switch u := &a.Usage; unit {
	case "dollars":
		n = int64(a.Cost)
	case "tokens":
		n = saturatingAdd(u.Input, u.Output)
	case "input tokens":
		n = u.Input
	case "uncached input tokens":
		n = max(0, u.Input-u.CachedInput)
	case "output tokens":
		n = u.Output
	case "requests":
		n = 1
	default:
		return 0, false
	}
	return bounded(n), true
}

// ErrNotEnded says that an exchange has no end row yet, so that there is nothing to be corrected.
var ErrNotEnded = errors.New("it has not ended yet")

// Correct makes the correction by which an exchange is charged as another account says, with all corrections that were made
// before. Its budgets are those that the exchange's rows name, and the account's own charges say nothing. It is nil if the
// exchange is charged so already.
func (x *Exchange) Correct(before []Correction, to Account, reason string) (*Correction, error) {
	if x.End == nil {
		return nil, fmt.Errorf("correct %s: %w", x.Begin.Exchange, ErrNotEnded)
	}
	is := x.Account(before)
	to.Usage.Tier = is.Usage.Tier // an upstream's word that no correction changes
	if to.Basis == is.Basis && to.Usage == is.Usage && to.Cost == is.Cost {
		return nil, nil //nolint:nilnil // there is nothing to correct
	}
	b := &x.Begin
	c := &Correction{
		Exchange: b.Exchange, Series: b.Series, Model: b.Model, Served: x.End.Served, Label: b.Label,
		Basis: to.Basis, Was: is.Basis, Usage: to.Usage, Cost: to.Cost - is.Cost, Reason: reason,
	}
	c.Usage.Tier = 0
	less, more := figures(&is.Usage), figures(&c.Usage)
	for i := range more {
		*more[i] -= *less[i]
	}
	// What was charged nothing names its budgets where it was reserved.
	var reserved []Charge
	for _, charge := range b.Charges {
		reserved = append(reserved, Charge{Budget: charge.Budget})
	}
	for _, charge := range addCharges(reserved, is.Charges) {
		n, known := to.Figure(charge.Budget.Unit)
		if !known {
			return nil, fmt.Errorf("correct %s: its budget %q is in %q, a unit that is not known here; use the newer program", b.Exchange, charge.Budget.Name, charge.Budget.Unit)
		}
		if charge.N = n - charge.N; charge.N != 0 {
			c.Charges = append(c.Charges, charge)
		}
	}
	return c, nil
}
