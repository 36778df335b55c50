package cost

// Image is what a request says about one image: its size in pixels, as far as its data says it, and how closely the
// model is to look. The zero value is an image nothing is known of.
type Image struct {
	Width, Height int64  // in pixels; 0: unknown
	Detail        Detail // as asked for
	HighFidelity  bool   // input_fidelity is high: only image generation has it
}

// Detail is how closely a model is asked to look at an image.
type Detail uint8

// The details a caller may ask for.
const (
	AutoDetail Detail = iota // as the provider thinks best: "auto", or nothing was said
	LowDetail
	HighDetail
	OriginalDetail
	OtherDetail // a word we do not know: the dearest of the others
)

// details is how many details there are that a model can be asked for.
const details = int(OtherDetail)

// DetailNamed reads a request's word for a detail.
func DetailNamed(word string) Detail {
	switch word {
	case "", "auto":
		return AutoDetail
	case "low":
		return LowDetail
	case "high":
		return HighDetail
	case "original":
		return OriginalDetail
	default:
		return OtherDetail
	}
}

// DefaultImageTokens is charged for an image where neither the model's formula nor its own figure is known: somewhat
// above the 4916 tokens that a full 2048 x 2048 image costs with most patch models (64 x 64 patches, 1.2 tokens each).
const DefaultImageTokens = 5_000

// tokens is what m charges for the image, and whether that follows from a published formula. Without a size, or without
// a formula for m, it is the flat figure: what m's images cost at most, or what the operator finds typical.
func (i Image) tokens(m Model) (n int64, formula bool) {
	flat := m.ImageTokens
	if flat <= 0 {
		flat = DefaultImageTokens
	}
	sized := i.Width > 0 && i.Height > 0
	if rule, ok := tileRuleFor(m); ok {
		switch {
		case i.Detail == LowDetail:
			return rule.base, true
		case sized:
			return rule.tokens(i), true
		}
	}
	if rule, ok := patchRuleFor(m); ok {
		if sized {
			return rule.tokens(i), true
		}
		if i.Detail == LowDetail { // a square as large as low detail leaves it
			side := rule.modes[LowDetail].side
			return min(flat, rule.tokens(Image{Width: side, Height: side, Detail: LowDetail})), false
		}
		if i.Detail < OtherDetail {
			return min(flat, rule.most(i.Detail)), false
		}
	}
	return flat, false
}
