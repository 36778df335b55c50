package proxy

import (
	"context"
)

// Output says what is done about the output limits of a key's calls.
type Output uint8

const (
	// DrawOutput gives a limit to calls that set none, unless they are streamed: streams draw what they say as they go.
	DrawOutput Output = iota
	// StrictOutput gives one to streams, too: nothing is ever produced beyond what is reserved, hidden reasoning included.
	StrictOutput
	// FitOutput is DrawOutput, and lowers a limit that the caller sets to what is left, where the call would be refused.
	FitOutput
)

// leastFit is how far a caller's limit may be lowered, in tokens: an answer cut shorter helps nobody.
const leastFit = 1024

// fitTries is how often a limit is lowered again, when others have taken what was left.
const fitTries = 3

// fitted is the output bound of a call that sets one, all choices together: its own, or if that is not to be had now, what is
// left. What is left to an upstream lowers it only where there is no other that may have more.
func (x *exchange) fitted(ctx context.Context, counted draws) (int64, error) {
	asked := x.estimate.MaxOutput
	x.inserts, x.inserted = false, 0
	minds := func(b *budget) bool { return len(x.routes) == 0 || !b.ofUpstream() }
	fit, binding := x.outputThatFits(minds)
	if !binding || x.member == "" || asked == 0 {
		return asked, nil
	}
	if len(counted.charges) > 0 {
		left, err := x.outputLeft(ctx, counted, minds)
		if err != nil {
			return 0, err
		}
		fit = min(fit, left)
	}
	each := asked / x.choices
	lowered := fit / x.choices
	if lowered >= each || lowered < max(x.least, min(leastFit, each)) {
		return asked, nil
	}
	x.inserts = true
	return lowered * x.choices, nil
}
