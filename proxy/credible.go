package proxy

import (
	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// credible reports whether a reported usage can be true: not zero when output was seen, and no more than the model can hold.
func (x *exchange) credible(report wire.Report) bool {
	const holds = 1 << 24 // tokens; for models whose size is unknown: more than any has
	context, output := x.facts.Context, x.facts.MaxOutput
	if context == 0 || output == 0 {
		context, output = holds, holds
	}
	u := report.Usage
	switch {
	case u.Milliseconds > x.longest():
		return false
	case u.Milliseconds > 0 && u.Input == 0 && u.Output == 0 && !report.Invalid: // a recording that is billed by its length
		return true
	case report.Invalid || u.Input <= 0 || u.Output < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output:
		return false
	case u.Output == 0 && report.SawOutput:
		return false
	case x.endpoint == wire.Embeddings && u.Input > x.length: // every token is at least a byte of some input
		return false
	default:
		prompts, readings := x.contexts()
		return u.Input/prompts/readings <= context && u.Output/x.choices/readings <= context+output
	}
}

// longest is the longest that a recording can be said to be, in milliseconds. What was reserved is no measure of it, for that
// rests on what the file's headers say: what goes beyond is debt. Silence may take next to no bytes, so a day is believed of
// any upload, and of large ones what they have at the slowest rate of any speech.
func (x *exchange) longest() int64 {
	const day = 24 * 60 * 60 * 1000
	return max(day, cost.LongestAudio(x.length), x.bound(0).Milliseconds)
}

// contexts are how many prompts there are in the request, and how often each is read: again with what each tool has found that
// the provider runs. Every one may be as long as the model can hold.
func (x *exchange) contexts() (prompts, readings int64) {
	prompts, readings = 1, 1
	if x.endpoint == wire.Completions {
		prompts = x.choices
	}
	if x.estimate.ByPart[cost.PartHosted] > 0 {
		readings = x.estimate.HostedCalls + 2 // one tool may run once besides
	}
	return prompts, readings
}
