package ledger

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// Report is what [Verify] has found.
type Report struct {
	// HoursFrom and SlotsFrom are since when sums were compared with rows; the zero time: ever. Sums of before are kept, but
	// their rows are not all there any more.
	HoursFrom, SlotsFrom time.Time

	Exchanges   int64 // that were read, with those that are open
	Corrections int64
	Hours       int64 // hourly sums that were compared
	Days        int64 // sums of days
	Slots       int64 // sums of quarters of an hour

	Open   OpenExchanges
	Months []Month // sorted by key, then by month

	Differences []Difference // the first of them, see [VerifyOptions]
	Further     int64        // differences that are not listed
	Unpriced    int64        // exchanges whose price is not in the ledger, or cannot be read: their cost was not compared with it
	Unknown     []string     // units of budgets that are not known here: charges in them were not compared with their rows
}

// Balances reports whether the books are right.
func (r *Report) Balances() bool { return len(r.Differences) == 0 }

// OpenExchanges are those that have begun and not ended, and of which a writer knows: they run, or their writer has died and
// its next life ends them. No sum holds them; budgets count what they reserved.
type OpenExchanges struct {
	N        int64
	Reserved cost.NanoUSD
	Oldest   ID // 0: there is none
}

// Month is what a key's exchanges cost that began in a calendar month, and what its budgets in dollars were charged for them.
type Month struct {
	Key       string
	Begin     time.Time
	Exchanges int64 // that cost something
	Cost      cost.NanoUSD
	Budgets   []MonthBudget // sorted by name
}

// MonthBudget is what a budget in dollars was charged of a month. Where it was charged by every exchange that cost something,
// that is what they cost. Others were there before the budget or outlived it, were of models that it does not count, or came
// while its limit was out of the configuration.
type MonthBudget struct {
	Budget  string
	Charged cost.NanoUSD

	Rows                   int64 // exchanges that charged it
	Before, After, Between int64 // exchanges that cost something and did not charge it: by their place among those that did
	Uncharged              ID    // the first of Between; 0: there is none
}

// Whole reports whether every exchange that cost something charged the budget.
func (b *MonthBudget) Whole() bool { return b.Before+b.After+b.Between == 0 }

// Kind is what a [Difference] is about.
type Kind string

// The kinds.
const (
	HourDiffers       Kind = "hour"                 // an hourly sum is not that of the rows
	DayDiffers        Kind = "day"                  // the sum of a day is not that of its hours
	SlotDiffers       Kind = "slot"                 // the sum of a budget's quarter of an hour is not that of the rows
	ChargeDiffers     Kind = "charge"               // a row charges a budget another amount than the row itself comes to
	ReserveDiffers    Kind = "reservation"          // likewise of what is reserved
	CostDiffers       Kind = "cost"                 // an exchange does not cost what its usage does at its price
	NothingCosts      Kind = "nothing"              // an exchange costs something although nothing is charged for it
	BasisDiffers      Kind = "basis"                // a correction is of another charge than there was
	MonthDiffers      Kind = "month"                // what a key's exchanges cost is not what its budget was charged for them
	TwoEnds           Kind = "two ends"             // an exchange has more than one end row
	NeverEnds         Kind = "never ends"           // an exchange has no end row, and there is no writer that knows of it
	EndWithoutBegin   Kind = "end without begin"    // an end row of an exchange that never began
	DrawWithoutBegin  Kind = "draw without begin"   // likewise a draw
	CorrectionOfNoEnd Kind = "correction of no end" // a correction of an exchange that never began or ended
)

// Means says in a sentence what comes of a difference of that kind.
func (k Kind) Means() string { return meanings[k] }

var meanings = map[Kind]string{
	HourDiffers:       "Reports of that hour are off by the difference; the rows are what happened.",
	DayDiffers:        "Reports of that day are off by the difference, those of single hours are not.",
	SlotDiffers:       "After the next start the budget is off by the difference, for as long as that time counts.",
	ChargeDiffers:     "The budget was not charged what the exchange used; one of the two figures was changed, or never was right.",
	ReserveDiffers:    "The budget did not hold what the exchange could use; one of the two figures was changed, or never was right.",
	CostDiffers:       "The call was not charged what its usage costs at the price its row names: it was changed, or never was right.",
	NothingCosts:      "Its row says that nothing is charged for it, and has a figure all the same; one of the two was changed.",
	BasisDiffers:      "A row between the two is missing, or one was changed; hourly sums of unreported, counted and failed requests are off.",
	MonthDiffers:      "Every exchange of the month charged the budget, but not what it cost: look for the charges that differ.",
	TwoEnds:           "It may be charged twice; one of the rows does not belong there.",
	NeverEnds:         "It counts for no budget and in no report; its end row is gone, or was never written.",
	EndWithoutBegin:   "Nobody knows whose it is, so it is in no report; its begin row is gone.",
	DrawWithoutBegin:  "Nobody knows whose it is; its begin row is gone, or was lost while calls were served without the ledger.",
	CorrectionOfNoEnd: "Nobody knows what it corrects; the rows of its exchange are gone.",
}

// Difference is one thing that is wrong.
type Difference struct {
	Kind     Kind
	Exchange ID        // 0: it is about a sum
	At       time.Time // when the exchange began, or the hour, quarter of an hour or month did
	Key      string    // of the caller; empty: it is not known, or about a budget
	Names    Hour      // of an hourly sum: what it is told apart by; its model is empty where the sums of all are compared
	Budget   string    // empty: it is about no budget
	Figure   string    // which one differs: "cost", "requests", a budget's unit …; empty: it is about no figure
	Is       int64     // what the ledger says; nano-dollars for dollars and cost
	Should   int64     // what the rows come to
	Text     string    // more that there is to say; may be empty
}
