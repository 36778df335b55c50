package cost

// Pictures are what a request asks an image model to make. The zero value asks for none.
type Pictures struct {
	N             int64   // how many; negative is read as 0
	Width, Height int64   // in pixels; 0: as the model likes
	Quality       Quality // as asked for
	Partial       int64   // previews to be streamed of each; negative is read as 0
}

// Quality is how well a picture is to be made.
type Quality uint8

// The qualities a caller may ask for.
const (
	AutoQuality Quality = iota // as the model likes: "auto", or nothing was said
	LowQuality
	MediumQuality
	HighQuality
	StandardQuality // of dall-e, which knows this one and HDQuality alone
	HDQuality
	OtherQuality // a word we do not know: the dearest of the others
)

var qualityNames = [...]string{"auto", "low", "medium", "high", "standard", "hd"}

// QualityNamed reads a request's word for a quality.
func QualityNamed(word string) Quality {
	if word == "" {
		return AutoQuality
	}
	for i, name := range qualityNames {
		if name == word {
			return Quality(i)
		}
	}
	return OtherQuality
}

// String is the quality's word in requests and price lists.
func (q Quality) String() string {
	if int(q) < len(qualityNames) {
		return qualityNames[q]
	}
	return "other"
}

// among picks the figure that belongs to the quality. What is neither low nor medium is, or may be, high.
func (q Quality) among(low, medium, high int64) int64 {
	switch q {
	case LowQuality:
		return low
	case MediumQuality:
		return medium
	default:
		return high
	}
}

const (
	perPreview = 100 // tokens for each (OpenAI's guide to image generation)

	// mostSide bounds the sides of a picture, in pixels, so that nothing overflows: no model makes one a tenth as large.
	mostSide = 1 << 16
)

// usualSizes are those that a model chooses among where the request leaves it to the model.
var usualSizes = [...]struct{ width, height int64 }{{1024, 1024}, {1024, 1536}, {1536, 1024}}

// tokens is what all pictures take as output when m makes them, and whether that follows from a formula for m. Where it
// does not, it is the most that a formula of another model says.
func (p Pictures) tokens(m Model) (n int64, formula bool) {
	var each int64
	switch baseName(withoutDate(m.Name)) {
	case "gpt-image-1", "gpt-image-1.5":
		each, formula = p.dearestSize(p.byRow), true
	case "gpt-image-2":
		each, formula = p.dearestSize(p.byArea), true
	default:
		each = max(p.dearestSize(p.byRow), p.dearestSize(p.byArea))
	}
	each = saturatingAdd(each, saturatingMul(max(0, p.Partial), perPreview))
	return saturatingMul(max(0, p.N), each), formula
}

// dearestSize is the tokens of a picture of the size asked for, or of the dearest that the model may choose.
func (p Pictures) dearestSize(tokens func(w, h int64) int64) (most int64) {
	if p.Width > 0 && p.Height > 0 {
		return tokens(min(p.Width, mostSide), min(p.Height, mostSide))
	}
	for _, size := range usualSizes {
		most = max(most, tokens(size.width, size.height))
	}
	return most
}

// byRow is the table of OpenAI's guide to image generation as a formula, which meets all of its nine figures: a row of
// tokens for each 64, 32 or 16 pixels of height, with a token at the end of each row.
func (p Pictures) byRow(w, h int64) int64 {
	side := p.Quality.among(64, 32, 16)
	return ceilDiv(h, side) * (ceilDiv(w, side) + 1)
}

// byArea is what the calculator on OpenAI's pages says of gpt-image-2, as community.openai.com took it apart (topic
// 1382699): a grid whose longer side has 16, 48 or 96 tokens and whose shorter side has its share of them, rounded;
// times one half, and a half for each two million pixels.
func (p Pictures) byArea(w, h int64) int64 {
	long := p.Quality.among(16, 48, 96)
	short := (2*long*min(w, h) + max(w, h)) / (2 * max(w, h))
	return ceilDiv(long*short*(2_000_000+w*h), 4_000_000)
}
