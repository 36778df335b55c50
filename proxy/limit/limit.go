package limit

import "time"

// Unit is what a limit counts.
type Unit uint8

// The units. Tokens is the whole prompt, its cached part included, plus the whole
// output, reasoning included: what OpenAI calls TPM.
const (
	Tokens Unit = iota
	InputTokens
	UncachedInputTokens
	OutputTokens
	Requests
	Dollars
)

// Kind is how a limit relates its amount to time.
type Kind uint8

// The kinds, each with the words that select it.
const (
	Per        Kind = iota // "per P": a bucket that refills steadily
	InAny                  // "in any P": a sliding window
	Each                   // "each month": a calendar quota
	PerRequest             // "per request": a cap on every single call
	InTotal                // "in total": never refills
	AtOnce                 // "at once": requests that run at the same time
)

var kinds = [...]string{"per", "in any", "each", "per request", "in total", "at once"}

// String is the words of the grammar that select the kind, without a period.
func (k Kind) String() string { return kinds[k] }

// Period is the calendar period of an Each limit.
type Period uint8

// The calendar periods. A week begins on Monday, a quarter in January, April, July and October.
const (
	Hour Period = iota
	Day
	Week
	Month
	Quarter
)

// Limit is one parsed sentence. Its zero value is not a valid limit; Parse makes one.
type Limit struct {
	Text    string        // the sentence as it was written, trimmed
	Amount  int64         // in the unit; nano-dollars for Dollars; always > 0
	Unit    Unit          //
	Kind    Kind          //
	Every   time.Duration // Per and InAny: the period; otherwise 0
	Period  Period        // Each: the calendar period; otherwise Hour, and meaningless
	Models  []string      // globs of the models it counts, in the order written; empty: all
	Burst   int64         // Per: most that can be spent at once; 0: as much as Amount
	Observe bool          // count, never refuse
	Until   time.Time     // the instant from which it no longer holds; zero: for ever
}

// Capacity is the most a single call could ever be charged: the burst where one is given, else the amount.
func (l Limit) Capacity() int64 {
	if l.Burst > 0 {
		return l.Burst
	}
	return l.Amount
}

// Applies reports whether the limit counts a call that goes by any of the given model names
// (the name the caller used, the one the upstream knows). A limit without models always applies.
func (l Limit) Applies(models ...string) bool {
	if len(l.Models) == 0 {
		return true
	}
	for _, pattern := range l.Models {
		for _, m := range models {
			if Glob(pattern, m) {
				return true
			}
		}
	}
	return false
}
