package ledger

import (
	"fmt"

	"github.com/tokenfare/tokenfare/cost"
)

// exchange compares the rows of one exchange with each other, and adds them to what they should come to.
func (v *verifier) exchange(x *Exchange, corrections []Correction) {
	b, e := &x.Begin, x.End
	if b.Exchange == v.last {
		v.about(x, Difference{Kind: TwoEnds, Text: fmt.Sprintf("one more was recorded at %s", e.Seq.Time().UTC().Format("2006-01-02 15:04:05.000000"))})
		return
	}
	v.last = b.Exchange
	v.report.Exchanges++
	v.charges(x, ReserveDiffers, &Account{Basis: Unreported, Usage: b.Most, Cost: b.Reserved, Charges: b.Charges}, "")
	known := v.reserves(x)
	if e == nil {
		v.unended(x)
		return
	}
	hour := Hour{HourOf(b.Exchange.Time()), b.Series, b.Model, e.Served, b.Label}
	v.addHour(hour, SumsOf(b, e))
	for _, c := range e.Charges {
		v.slots.add(c.Budget, b.Exchange, c.N)
		v.slots.add(c.Budget, e.Seq, c.Late)
	}
	a := Account{Basis: e.Basis, Usage: e.Usage, Cost: e.Cost, Charges: e.Charges}
	text := ""
	if n := len(corrections); n > 0 {
		a, text = x.Account(nil), fmt.Sprintf("corrected %d times", n)
	}
	for i := range corrections {
		c := &corrections[i]
		v.report.Corrections++
		v.addHour(hour, c.sums())
		for _, charge := range c.Charges {
			v.slots.add(charge.Budget, b.Exchange, charge.N)
		}
		if c.Was != a.Basis {
			v.about(x, Difference{Kind: BasisDiffers, Text: fmt.Sprintf("correction %d of %d says it was %q, and it was %q", i+1, len(corrections), c.Was, a.Basis)})
		}
		a.correct(c)
	}
	// A row that was wrong can be made right by a correction: what counts is what they come to.
	v.charges(x, ChargeDiffers, &a, text)
	v.costs(x, &a, known, text != "", text)
	v.months.add(x, &a)
}

// unended notes an exchange without an end row.
func (v *verifier) unended(x *Exchange) {
	b := &x.Begin
	if !v.known[b.Exchange] {
		v.about(x, Difference{Kind: NeverEnds, Figure: "reserved", Should: int64(b.Reserved)})
		return
	}
	open := &v.report.Open
	if open.N++; open.Oldest == 0 {
		open.Oldest = b.Exchange
	}
	open.Reserved = cost.NanoUSD(saturatingAdd(int64(open.Reserved), int64(b.Reserved)))
}

// charges compares charges with what their row or account comes to.
func (v *verifier) charges(x *Exchange, kind Kind, a *Account, text string) {
	if a.Basis == Nothing && (a.Cost != 0 || a.Usage != cost.Usage{Tier: a.Usage.Tier}) {
		v.about(x, Difference{Kind: NothingCosts, Figure: "cost", Is: int64(a.Cost), Text: text})
	}
	for _, c := range a.Charges {
		should, known := a.Figure(c.Budget.Unit)
		if !known {
			v.unknown[c.Budget.Unit] = true
			continue
		}
		if is := bounded(saturatingAdd(c.N, c.Late)); is != should {
			v.about(x, Difference{Kind: kind, Budget: c.Budget.Name, Figure: c.Budget.Unit, Is: is, Should: should, Text: text})
		}
	}
}

// about notes a difference in the rows of an exchange.
func (v *verifier) about(x *Exchange, d Difference) {
	b := &x.Begin
	d.Exchange, d.At, d.Key = b.Exchange, b.Exchange.Time(), b.Series.Key
	v.differs(d)
}
