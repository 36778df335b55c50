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

// QualityNamed reads a request's word for a quality.
func QualityNamed(word string) Quality {
	switch word {
	case "", "auto":
		return AutoQuality
	case "low":
		return LowQuality
	case "medium":
		return MediumQuality
	case "high":
		return HighQuality
	case "standard":
		return StandardQuality
	case "hd":
		return HDQuality
	default:
		return OtherQuality
	}
}

// What a picture takes where the request leaves it to the model: the most that its usual sizes come to, 1024 x 1536.
const (
	usualWidth  = 1024
	usualHeight = 1536

	perPreview = 100 // tokens (OpenAI's guide to image generation)
)

// tokens is what all pictures take as output. It is the table of OpenAI's guide to image generation as a formula: a row
// of tokens for each 64, 32 or 16 pixels of height, with a token at the end of each row.
func (p Pictures) tokens() int64 {
	w, h := min(p.Width, mostPixels), min(p.Height, mostPixels)
	if w <= 0 || h <= 0 {
		w, h = usualWidth, usualHeight
	}
	side := int64(16)
	switch p.Quality {
	case LowQuality:
		side = 64
	case MediumQuality:
		side = 32
	default:
	}
	each := saturatingMul(ceilDiv(h, side), ceilDiv(w, side)+1)
	each = saturatingAdd(each, saturatingMul(max(0, p.Partial), perPreview))
	return saturatingMul(max(0, p.N), each)
}
