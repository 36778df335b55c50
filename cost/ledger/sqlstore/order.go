package sqlstore

import (
	"cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Rows that several writers may want to write at once are written in one order by all of them, lest each wait for a row that
// the other has locked. The order of the tables is that of [tx.intern], [tx.rows] and [tx.sums]; that of the rows is here.

func bySeries(a, b ledger.Series) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Groups, b.Groups), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Upstream, b.Upstream))
}

func byBudget(a, b ledger.Budget) int { return cmp.Compare(a.Name, b.Name) }

func byVersion(a, b ledger.PriceCard) int { return cmp.Compare(a.Version, b.Version) }

func byNames(a, b ledger.Refusal) int {
	return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Code, b.Code))
}

func byNotice(a, b ledger.Notice) int {
	return cmp.Or(cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Period, b.Period), cmp.Compare(a.At, b.At))
}

func byOwned(a, b *ledger.Owned) int { return cmp.Compare(a.ID, b.ID) }

func byGrown(a, b *ledger.Growth) int { return cmp.Compare(a.ID, b.ID) }

func byHour(a, b ledger.Hour) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), bySeries(a.Series, b.Series), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Served, b.Served), cmp.Compare(a.Label, b.Label))
}

func bySlot(a, b numbered) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.budget, b.budget))
}
