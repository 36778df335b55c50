package reconcile

import (
	"fmt"
	"math"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// Date is a day in UTC: the number of days since 1970-01-01.
type Date int32

const secondsOfDay = 24 * 60 * 60

// DateOf is the day in UTC that holds an instant of the years 1970 to 9999.
func DateOf(t time.Time) Date { return Date(t.Unix() / secondsOfDay) }

// ParseDate reads a day such as 2026-08-31.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1970 {
		return 0, fmt.Errorf("%.40q is not a day: write it like 2026-08-31", s)
	}
	return DateOf(t), nil
}

// Start is midnight UTC, at which the day begins.
func (d Date) Start() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// String prints the day as 2026-08-31.
func (d Date) String() string { return d.Start().Format(time.DateOnly) }

// MarshalText writes the day as String does.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Day is what one model used on one day. Token counts hold every kind of token: Input the cached part, Output the
// reasoning.
type Day struct {
	Date  Date
	Model string  // the name that this side knows it by; AllModels for the sum of a day
	Known Figures // which of the figures are known; the others are zero and say nothing

	Requests    int64 // calls that were answered
	Input       int64 // tokens
	CachedInput int64 // tokens of Input that were read from the provider's cache
	Output      int64 // tokens
	Cost        cost.NanoUSD

	// Of a ledger alone, each a part of the figures above.

	Unreported Share        // calls charged at their whole reservation, because nobody said what they used: broken off, no answer, a crash
	Counted    Share        // calls whose tokens the proxy counted itself, because the provider did not report them
	Fees       cost.NanoUSD // the part of Cost for tools that the provider ran

	// Of an export alone.

	Batch int64 // requests in batch jobs, which never pass a proxy
	Fee   bool  // Model is not a model but what the provider calls a fee: "web search tool calls"
}

// Share is a part of a day.
type Share struct {
	Requests, Input, Output int64
	Cost                    cost.NanoUSD
}

// AllModels stands for the model where an export has only the sum of a day.
const AllModels = "(all models)"

// Figures is a set of the figures of a Day.
type Figures uint8

// The figures.
const (
	Requests Figures = 1 << iota
	Input
	CachedInput
	Output
	Cost

	Usage = Requests | Input | CachedInput | Output
)

// figureNames are in the order in which figures are printed.
var figureNames = [...]struct {
	figure Figures
	name   string // for people
	key    string // for programs
}{
	{Requests, "requests", "requests"},
	{Input, "input tokens", "input_tokens"},
	{CachedInput, "of them cached", "cached_input_tokens"},
	{Output, "output tokens", "output_tokens"},
	{Cost, "cost", "cost"},
}

// figure is the amount of one figure: requests, tokens or nano-dollars.
func (d *Day) figure(f Figures) int64 {
	switch f {
	case Requests:
		return d.Requests
	case Input:
		return d.Input
	case CachedInput:
		return d.CachedInput
	case Output:
		return d.Output
	default:
		return int64(d.Cost)
	}
}

// plus adds to the amount of one figure.
func (d *Day) plus(f Figures, n int64) {
	switch f {
	case Requests:
		d.Requests = plus(d.Requests, n)
	case Input:
		d.Input = plus(d.Input, n)
	case CachedInput:
		d.CachedInput = plus(d.CachedInput, n)
	case Output:
		d.Output = plus(d.Output, n)
	default:
		d.Cost = plus(d.Cost, cost.NanoUSD(n))
	}
}

// share is the amount of one figure of a part. What was cached is not known of parts.
func (s *Share) figure(f Figures) int64 {
	switch f {
	case Requests:
		return s.Requests
	case Input:
		return s.Input
	case Output:
		return s.Output
	case Cost:
		return int64(s.Cost)
	default:
		return 0
	}
}

// add adds the figures of another day; what only one of them knows is not known of the sum.
func (d *Day) add(o *Day) {
	d.Known &= o.Known
	d.sum(o)
}

// sum adds the figures of another day and leaves alone which are known.
func (d *Day) sum(o *Day) {
	d.Requests = plus(d.Requests, o.Requests)
	d.Input = plus(d.Input, o.Input)
	d.CachedInput = plus(d.CachedInput, o.CachedInput)
	d.Output = plus(d.Output, o.Output)
	d.Cost = plus(d.Cost, o.Cost)
	d.Unreported.add(o.Unreported)
	d.Counted.add(o.Counted)
	d.Fees = plus(d.Fees, o.Fees)
	d.Batch = plus(d.Batch, o.Batch)
}

// larger takes the larger of each figure: one call may be in two tables of a provider, such as a picture in that of
// completions and in that of images, and is one call.
func (d *Day) larger(o *Day) {
	d.Known |= o.Known
	d.Requests = max(d.Requests, o.Requests)
	d.Input = max(d.Input, o.Input)
	d.CachedInput = max(d.CachedInput, o.CachedInput)
	d.Output = max(d.Output, o.Output)
	d.Batch = max(d.Batch, o.Batch)
	if o.Known&Cost != 0 {
		d.Cost = o.Cost
	}
	d.Fee = d.Fee || o.Fee
}

func (s *Share) add(o Share) {
	s.Requests = plus(s.Requests, o.Requests)
	s.Input = plus(s.Input, o.Input)
	s.Output = plus(s.Output, o.Output)
	s.Cost = plus(s.Cost, o.Cost)
}

// empty reports whether nothing at all was used.
func (d *Day) empty() bool {
	return d.Requests == 0 && d.Input == 0 && d.Output == 0 && d.CachedInput == 0 && d.Cost == 0
}

// plus adds, and stays at the largest or least number rather than wrap: files may hold any.
func plus[N ~int64](a, b N) N {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// minus subtracts, and saturates.
func minus[N ~int64](a, b N) N {
	if b == math.MinInt64 {
		return plus(plus(a, math.MaxInt64), 1)
	}
	return plus(a, -b)
}
