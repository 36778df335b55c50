package cost

import (
	"context"
	"math"
)

// Basis says how far an Estimate can be trusted.
type Basis uint8

// The bases, from the firmest to the weakest. An estimate has the weakest that applies.
const (
	Exact       Basis = iota // text counted with the model's own vocabulary, output limited by the caller
	Formula                  // some parts follow a formula that is published or well measured: functions, images of known size
	Approximate              // the vocabulary is a guess, or nobody has published how some part is counted: schemas, files
	Assumed                  // the caller gave no output limit, so MaxOutput is an assumption
)

// String names the basis as it appears in logs and in answers.
func (b Basis) String() string {
	switch b {
	case Exact:
		return "exact"
	case Formula:
		return "formula"
	case Approximate:
		return "approximate"
	default:
		return "assumed"
	}
}

// Estimate is what a call may use, before it is made.
type Estimate struct {
	Input     int64        // input tokens
	MaxOutput int64        // the most output tokens that the limit allows, all choices together
	Beyond    int64        // output tokens besides, which no limit bounds: a prediction that does not come true, an echo of the prompt
	Basis     Basis        // how far the tokens can be trusted
	ByPart    [Parts]int64 // Input by the part it comes from; sums to Input
	BasisOf   [Parts]Basis // how far each part can be trusted

	Pictures     int64   // to be made
	Milliseconds int64   // of audio to be written down
	Characters   int64   // to be spoken
	HostedCalls  int64   // how often the provider may run tools, of those that it may run more than once
	HostedFee    NanoUSD // for each of HostedCalls
	HostedTokens int64   // that each of HostedCalls finds, at most
	Fees         NanoUSD // for all that the provider runs
}

// Bound is the most that the call may consume, by the estimate.
func (e Estimate) Bound() Bound {
	return Bound{
		Input: e.Input, Output: saturatingAdd(e.MaxOutput, e.Beyond),
		Images: e.Pictures, Milliseconds: e.Milliseconds, Characters: e.Characters, Fees: e.Fees,
	}
}

// Estimate is what r may use when it is sent to m. Text is counted with m's vocabulary, and multiplied by m.Ratio; chat
// overhead follows the provider's published formula; functions count as the types that the provider makes of them, and
// schemas as their compact JSON; images of known size follow the formula of m's family, others cost m.ImageTokens; audio
// counts by its length, files by their size; tools that the provider runs count by what their results commonly add, and by
// what is read again with them. Output is the caller's limit for each choice, or m.DefaultOutput where there is none;
// pictures and speech follow from what is asked for. Sums saturate. It is safe for concurrent use and takes time in
// proportion to the text.
func (e *Estimator) Estimate(r Request, m Model) Estimate {
	est, _ := e.EstimateUpTo(context.Background(), r, m, math.MaxInt64)
	return est
}

// EstimateUpTo is Estimate for requests so long that counting takes milliseconds. It stops when the context has ended, whose
// error it returns, and when the text alone has more than most tokens: then the input is some number above most, and less
// than there may be.
func (e *Estimator) EstimateUpTo(ctx context.Context, r Request, m Model, most int64) (Estimate, error) {
	var est Estimate
	counter := e.counter(ctx, m.Encoding)
	counter.left = m.Ratio.within(most)
	for _, text := range r.Text {
		basis := Exact
		if !m.KnownEncoding || text.Part == PartSchema {
			basis = Approximate
		}
		est.add(text.Part, counter.Count(text.S), basis)
	}
	if !m.KnownEncoding {
		for _, id := range r.CallIDs {
			est.add(PartMessages, counter.Count(id), Approximate)
		}
	}
	est.tools(r, m, counter)
	est.scale(m.Ratio)
	est.add(PartMessages, r.PromptIDs, Exact)
	est.add(PartOther, r.TokenIDs, Exact)
	counter.goOn()
	n, basis := overhead(r, counter)
	est.add(PartOverhead, n, basis)
	for _, image := range r.Images {
		n, formula := image.tokens(m)
		est.add(PartImages, n, formulaIf(formula))
	}
	for _, audio := range r.heard(m) {
		est.add(PartAudio, audio.tokens(), formulaIf(audio.Measured))
	}
	est.add(PartFiles, r.Files(m), Approximate)
	est.add(PartMessages, r.Sealed, Approximate)
	est.add(PartStored, r.Stored, Formula)
	est.hosted(r, m)
	est.output(r, m)
	est.units(r)
	return est, counter.err
}

// maxTokens is where token counts saturate: far above any call, and the sum of input and output still fits an int64.
const maxTokens = 1 << 61

// add counts n tokens to a part; what is nothing leaves its basis alone.
func (e *Estimate) add(p Part, n int64, b Basis) {
	if n <= 0 {
		return
	}
	if int(p) >= Parts {
		p = PartOther
	}
	n = min(n, maxTokens-e.Input) // keeps the parts' sum equal to Input when it saturates
	e.ByPart[p] += n
	e.Input += n
	e.BasisOf[p] = max(e.BasisOf[p], b)
	e.Basis = max(e.Basis, b)
}

// scale multiplies what was counted so far.
func (e *Estimate) scale(r Ratio) {
	e.Input = 0
	for p, n := range e.ByPart {
		n = min(r.Of(n), maxTokens-e.Input)
		e.ByPart[p] = n
		e.Input += n
	}
}

// output bounds the output.
func (e *Estimate) output(r Request, m Model) {
	most := max(0, m.DefaultOutput)
	switch {
	case r.Pictures.N > 0:
		tokens, formula := r.Pictures.tokens(m)
		e.made(tokens, formulaIf(formula), m)
	case r.Speech.Characters > 0:
		e.made(r.Speech.tokens(), Approximate, m)
	case r.Transcribes:
		e.made(max(most, m.MaxOutput), Formula, m)
	case r.HasMaxOutput:
		e.MaxOutput = min(maxTokens, saturatingMul(max(0, r.MaxOutput), max(1, r.Choices)))
	default:
		if most > 0 { // models without output need no limit
			e.Basis = Assumed
		}
		e.MaxOutput = min(maxTokens, saturatingMul(most, max(1, r.Choices)))
	}
	e.Beyond = e.ByPart[PartPrediction]
	if r.Echo {
		e.Beyond = e.Input
	}
	e.Beyond = min(maxTokens, saturatingMul(e.Beyond, max(1, r.Choices)))
}

// made bounds the output of models that make something else than text. Those that are billed by what they make have none.
func (e *Estimate) made(tokens int64, basis Basis, m Model) {
	if m.DefaultOutput > 0 {
		e.MaxOutput = min(maxTokens, tokens)
		e.Basis = max(e.Basis, basis)
	}
}

// units counts what some models are billed for instead of tokens.
func (e *Estimate) units(r Request) {
	e.Pictures, e.Characters = max(0, r.Pictures.N), max(0, r.Speech.Characters)
	if r.Transcribes {
		for _, audio := range r.Audio {
			e.Milliseconds = saturatingAdd(e.Milliseconds, max(0, audio.Milliseconds))
		}
	}
}

func formulaIf(follows bool) Basis {
	if follows {
		return Formula
	}
	return Approximate
}
