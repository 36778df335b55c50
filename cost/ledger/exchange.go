package ledger

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// Series is who calls and where to: what many exchanges have in common.
type Series struct {
	Key      string // the caller's name
	Groups   string // those the key was in at the time, in order, with commas between them
	Endpoint string
	Upstream string
}

// Budget is the counter of one limit: its name, as the limiter knows it, and its unit. Names that are no good for a ledger are
// changed, see [BudgetName].
type Budget struct{ Name, Unit string }

// Charge is what an exchange takes from one budget, in the budget's unit.
type Charge struct {
	Budget Budget
	N      int64 // dated to the exchange's beginning: what is reserved, and of what was used no more than that
	Late   int64 // dated to its end: what was drawn, or used beyond N; for a budget that only observes, all of it
}

// Begin is the row with which an exchange begins. Its ID was made when the reservation was.
type Begin struct {
	Exchange ID
	Series   Series
	Model    string // as the caller named it
	Label    string // the caller's own, at most 64 characters; empty: none
	Retry    int    // how often the client says it has tried this before
	Stream   bool
	Estimate cost.Estimate
	Most     cost.Usage   // all that is reserved, as a usage
	Reserved cost.NanoUSD // the most it can cost
	Price    string       // the version of the price that costs come from, see [PriceCard]; empty: there is none
	Charges  []Charge
}

// Draw is the row of an answer that needs more than was reserved. It is durable before the bytes it covers leave.
type Draw struct {
	Exchange ID
	Step     int // 1, 2, 3 …
	More     cost.Usage
	Reserved cost.NanoUSD
	Charges  []Charge
}

// End is the row with which an exchange ends: what it was charged.
type End struct {
	Exchange   ID
	Seq        ID     // the row's own, set by the writer: ends sort by when they were recorded
	Status     int    // of the upstream's answer; 0: there was none
	Ending     string // how it ended
	Basis      string // what the charge rests on, one of the constants
	Served     string // the model that the answer names, if another than asked for
	Usage      cost.Usage
	Cost       cost.NanoUSD
	Took       time.Duration
	FirstToken time.Duration // from the exchange's beginning to the first byte of the answer; 0: there was none
	UpstreamID string        // the upstream's own id of the request
	Charges    []Charge
}

// What a charge rests on.
const (
	Nothing    = "nothing"    // nothing was charged
	Reported   = "reported"   // the upstream's own usage
	Counted    = "counted"    // counted prompt and counted output
	Unreported = "unreported" // the whole reservation: more may have happened than was seen
	Distrusted = "distrusted" // what was counted or what was reserved, whichever is more, as the report cannot be true
	Corrected  = "corrected"  // a cost that somebody has set by hand; only corrections have it
)

// Crashed is the ending of an exchange whose process died before it ended.
const Crashed = "crashed"

// Exchange is what the ledger knows of one: its begin row, its draws, and its end row, nil while it has none.
type Exchange struct {
	Begin Begin
	Draws []Draw
	End   *End
}

// Crash is the end row of an exchange that will never have one of its own: it is charged all it had reserved, where it began, and
// all it had drawn since. That is how it counts while nobody has ended it, too, so no budget changes with the row.
func (x *Exchange) Crash() *End {
	end := &End{Exchange: x.Begin.Exchange, Ending: Crashed, Basis: Unreported, Usage: x.Begin.Most, Cost: x.Begin.Reserved}
	for _, c := range x.Begin.Charges {
		end.Charges = append(end.Charges, Charge{Budget: c.Budget, N: saturatingAdd(c.N, c.Late)})
	}
	for _, d := range x.Draws {
		end.Usage = sumOf(end.Usage, d.More)
		end.Cost = cost.NanoUSD(saturatingAdd(int64(end.Cost), int64(d.Reserved)))
		end.Charges = addCharges(end.Charges, d.Charges)
	}
	end.bound()
	return end
}

// addCharges adds up what is charged to each budget.
func addCharges(list, more []Charge) []Charge {
next:
	for _, c := range more {
		for i := range list {
			if list[i].Budget == c.Budget {
				list[i].N = saturatingAdd(list[i].N, c.N)
				list[i].Late = saturatingAdd(list[i].Late, c.Late)
				continue next
			}
		}
		list = append(list, c)
	}
	return list
}

// sumOf adds the figures that draws have.
func sumOf(a, b cost.Usage) cost.Usage {
	a.Input = saturatingAdd(a.Input, b.Input)
	a.Output = saturatingAdd(a.Output, b.Output)
	a.Images = saturatingAdd(a.Images, b.Images)
	a.Milliseconds = saturatingAdd(a.Milliseconds, b.Milliseconds)
	a.Characters = saturatingAdd(a.Characters, b.Characters)
	a.Fees = cost.NanoUSD(saturatingAdd(int64(a.Fees), int64(b.Fees)))
	return a
}

// Correction changes what an exchange was charged, after its end. Its figures are added to those of the end row, and may be
// negative.
type Correction struct {
	Exchange ID
	Seq      ID // set by the writer
	Series   Series
	Model    string
	Served   string
	Label    string
	Basis    string // what the charge rests on from now on
	Was      string // what it rested on until then
	Usage    cost.Usage
	Cost     cost.NanoUSD
	Charges  []Charge // Late is 0: a correction counts where the exchange began
	Reason   string
}

// Refusal counts requests that a budget refused in one hour. They have no rows of their own.
type Refusal struct {
	Hour       int64 // its beginning, in Unix seconds
	Key, Model string
	Code       string // of the error: rate_limit_exceeded, insufficient_quota, request_exceeds_budget …
	N          int64
}

// PriceCard is a price by its version, so that a row's cost can be worked out again.
type PriceCard struct {
	Version string
	Card    string // JSON
}

func saturatingAdd(a, b int64) int64 {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum
	}
	if a > 0 {
		return 1<<63 - 1
	}
	return -1 << 63
}
