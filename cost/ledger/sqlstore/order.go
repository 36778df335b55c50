package sqlstore

import (
	"cmp"
	"strings"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Rows that several writers may want to write at once are written in one order by all of them: those who wait for each
// other's rows in a circle would be sent away by the database, after a second. The order of the tables is that of
// [tx.intern], [tx.rows] and [tx.sums].

func seriesOrder(a, b ledger.Series) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Groups, b.Groups), strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(a.Upstream, b.Upstream))
}

func budgetOrder(a, b ledger.Budget) int { return strings.Compare(a.Name, b.Name) }

func priceOrder(a, b ledger.PriceCard) int { return strings.Compare(a.Version, b.Version) }

func refusalOrder(a, b ledger.Refusal) int {
	return cmp.Or(cmp.Compare(a.Hour, b.Hour), strings.Compare(a.Key, b.Key), strings.Compare(a.Model, b.Model), strings.Compare(a.Code, b.Code))
}

func noticeOrder(a, b ledger.Notice) int {
	return cmp.Or(strings.Compare(a.Budget, b.Budget), cmp.Compare(a.Period, b.Period), strings.Compare(a.At, b.At))
}

func hourOrder(a, b ledger.Hour) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), seriesOrder(a.Series, b.Series),
		strings.Compare(a.Model, b.Model), strings.Compare(a.Served, b.Served), strings.Compare(a.Label, b.Label))
}

func slotOrder(a, b ledger.Slot) int {
	return cmp.Or(budgetOrder(a.Budget, b.Budget), cmp.Compare(a.Start, b.Start))
}
