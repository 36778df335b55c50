package cost

// Basis says how far an Estimate can be trusted.
type Basis uint8

// The bases, from the firmest to the weakest. An estimate has the weakest that applies.
const (
	Exact       Basis = iota // text only, counted with the model's own vocabulary, output limited by the caller
	Approximate              // the vocabulary is a guess, or some parts (tools, schemas, images, audio, files) have no published count
	Assumed                  // the caller gave no output limit, so MaxOutput is an assumption
)

// String names the basis as it appears in logs and in answers.
func (b Basis) String() string {
	switch b {
	case Exact:
		return "exact"
	case Approximate:
		return "approximate"
	default:
		return "assumed"
	}
}

// Estimate is what a call may use, before it is made.
type Estimate struct {
	Input     int64        // input tokens
	MaxOutput int64        // the most output tokens, all choices together
	Basis     Basis        // how far the two can be trusted
	ByPart    [Parts]int64 // Input by the part it comes from; sums to Input
}

// DefaultImageTokens is charged for an image where the model's own figure is unknown: somewhat above the 4916 tokens
// that a full 2048 x 2048 image costs with the current patch models (64 x 64 patches, 1.2 tokens each).
const DefaultImageTokens = 5_000

// What the provider's rendering adds to a chat. The first three are from the OpenAI cookbook,
// How_to_count_tokens_with_tiktoken: each message is <|start|>role<|message|>content<|end|>, a name takes one token more,
// and the reply is primed with three. The tool figures are the same source's constants for the gpt-4o family; its
// per-property constants are covered by the tools' JSON text, which is longer than the form the provider counts.
const (
	replyPriming   = 3
	perMessage     = 3
	perName        = 1
	perTool        = 7 + 3 // func_init, prop_init
	oncePerToolSet = 12    // func_end
)

// Estimate is what r may use when it is sent to m. Text is counted with m's vocabulary; chat overhead follows the
// provider's published formula; tools and schemas count as their compact JSON; an image costs m.ImageTokens; audio and
// files are bounded by their size (a token for four characters of audio, for each character of a file). Output is the caller's limit for each choice, or m.DefaultOutput where there is none.
// Sums saturate. It is safe for concurrent use and takes time in proportion to the text.
func (e *Estimator) Estimate(r Request, m Model) Estimate {
	var est Estimate
	add := func(p Part, n int64) {
		if int(p) >= Parts {
			p = PartOther
		}
		n = min(max(0, n), maxTokens-est.Input) // keeps the parts' sum equal to Input when it saturates
		est.ByPart[p] += n
		est.Input += n
	}
	counter := e.counter(m.Encoding)
	for _, text := range r.Text {
		add(text.Part, counter.Count(text.S))
	}
	add(PartOther, r.TokenIDs)
	add(PartOverhead, overhead(r))
	add(PartImages, saturatingMul(int64(max(0, r.Images)), imageTokens(m)))
	add(PartAudio, audioTokens(r.AudioBytes))
	add(PartFiles, r.FileBytes)

	choices, output := max(1, r.Choices), max(0, m.DefaultOutput)
	if r.HasMaxOutput {
		output = max(0, r.MaxOutput)
	}
	est.MaxOutput = min(maxTokens, saturatingMul(output, choices))
	est.Basis = basis(r, m, est)
	return est
}

// maxTokens is where token counts saturate: far above any call, and the sum of input and output still fits an int64.
const maxTokens = 1 << 61

func overhead(r Request) int64 {
	var n int64
	if r.Messages > 0 {
		n = saturatingAdd(replyPriming, saturatingMul(int64(r.Messages), perMessage))
	}
	n = saturatingAdd(n, saturatingMul(int64(max(0, r.Names)), perName))
	if r.Tools > 0 {
		n = saturatingAdd(n, saturatingAdd(oncePerToolSet, saturatingMul(int64(r.Tools), perTool)))
	}
	return n
}

func imageTokens(m Model) int64 {
	if m.ImageTokens > 0 {
		return m.ImageTokens
	}
	return DefaultImageTokens
}

// audioTokens bounds the tokens of inline audio by its size: one for each four characters of base64, which are three
// bytes. Audio takes 10 tokens a second (20 in an assistant's message), so even the tightest codecs stay far below.
func audioTokens(chars int64) int64 {
	if chars <= 0 {
		return 0
	}
	return (chars-1)/4 + 1
}

func basis(r Request, m Model, est Estimate) Basis {
	hasOutput := r.HasMaxOutput || m.DefaultOutput <= 0 // models without output need no limit
	flat := est.ByPart[PartTools] + est.ByPart[PartSchema] + est.ByPart[PartImages] + est.ByPart[PartAudio] + est.ByPart[PartFiles]
	switch {
	case !hasOutput:
		return Assumed
	case !m.KnownEncoding || flat > 0 || r.Tools > 0:
		return Approximate
	default:
		return Exact
	}
}
