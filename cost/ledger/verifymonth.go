package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// monthTally adds up, for each key and month, what exchanges cost and what the key's budgets in dollars were charged for them.
type monthTally struct {
	zone   *time.Location
	months map[monthOf]*monthSums

	slot, begin int64 // the beginning of the month in which that slot is
}

type monthOf struct {
	key   string
	begin int64 // Unix seconds
}

type monthSums struct {
	Month
	budgets map[string]*monthBudgetSums
}

type monthBudgetSums struct {
	MonthBudget
	since      int64 // exchanges that cost something, and did not charge it, since the last that did
	firstSince ID
}

func newMonthTally(zone *time.Location) *monthTally {
	return &monthTally{zone: zone, months: map[monthOf]*monthSums{}, slot: -1}
}

// add adds an exchange. They come in the order in which they began.
func (t *monthTally) add(x *Exchange, a *Account) {
	key := x.Begin.Series.Key
	own := "key " + key + ": " // as its budgets are called
	var charged map[string]int64
	for _, c := range a.Charges {
		if n := c.N + c.Late; n != 0 && c.Budget.Unit == "dollars" && strings.HasPrefix(c.Budget.Name, own) {
			if charged == nil {
				charged = map[string]int64{}
			}
			charged[c.Budget.Name] += n
		}
	}
	if a.Cost == 0 && len(charged) == 0 {
		return
	}
	m := t.month(key, x.Begin.Exchange.Time())
	for name := range charged {
		if m.budgets[name] == nil {
			m.budgets[name] = &monthBudgetSums{MonthBudget: MonthBudget{Budget: name, Before: m.Exchanges}}
		}
	}
	for name, b := range m.budgets {
		if n, does := charged[name]; does {
			b.charge(n)
		} else if a.Cost != 0 {
			b.pass(x.Begin.Exchange)
		}
	}
	if a.Cost != 0 {
		m.Exchanges++
		m.Cost = cost.NanoUSD(saturatingAdd(int64(m.Cost), int64(a.Cost)))
	}
}

// charge counts an exchange that charged the budget.
func (b *monthBudgetSums) charge(n int64) {
	b.Rows++
	b.Charged = cost.NanoUSD(saturatingAdd(int64(b.Charged), n))
	if b.since > 0 && b.Uncharged == 0 {
		b.Uncharged = b.firstSince
	}
	b.Between, b.since = b.Between+b.since, 0
}

// pass counts one that cost something and did not.
func (b *monthBudgetSums) pass(id ID) {
	if b.since++; b.since == 1 {
		b.firstSince = id
	}
}

func (t *monthTally) month(key string, at time.Time) *monthSums {
	if slot := SlotOf(at); slot != t.slot {
		y, month, _ := at.In(t.zone).Date()
		t.slot, t.begin = slot, time.Date(y, month, 1, 0, 0, 0, 0, t.zone).Unix()
	}
	m := t.months[monthOf{key, t.begin}]
	if m == nil {
		m = &monthSums{Month: Month{Key: key, Begin: time.Unix(t.begin, 0).In(t.zone)}, budgets: map[string]*monthBudgetSums{}}
		t.months[monthOf{key, t.begin}] = m
	}
	return m
}

// closeMonths puts the months into the report.
func (v *verifier) closeMonths() {
	for _, m := range v.months.months {
		for _, b := range m.budgets {
			b.After = b.since
			m.Budgets = append(m.Budgets, b.MonthBudget)
		}
		slices.SortFunc(m.Budgets, func(a, b MonthBudget) int { return cmp.Compare(a.Budget, b.Budget) })
		v.report.Months = append(v.report.Months, m.Month)
	}
	slices.SortFunc(v.report.Months, func(a, b Month) int { return cmp.Or(cmp.Compare(a.Key, b.Key), a.Begin.Compare(b.Begin)) })
	for _, m := range v.report.Months {
		for _, b := range m.Budgets {
			if b.Whole() && b.Charged != m.Cost {
				v.differs(Difference{Kind: MonthDiffers, At: m.Begin, Key: m.Key, Budget: b.Budget, Figure: "dollars", Is: int64(b.Charged), Should: int64(m.Cost)})
			}
		}
	}
}
