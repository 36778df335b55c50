package wire

import (
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

const (
	maxPictures = 128    // OpenAI makes 10 at most
	maxPreviews = 16     // of each; OpenAI makes 3 at most
	maxSide     = 65_536 // pixels
)

var picturesDialect = dialect{
	shape: newBodyShape(
		nil,
		"model", "prompt", "n", "size", "quality", "partial_images", "stream", "background", "moderation", "output_format",
		"output_compression", "response_format", "style", "user", "service_tier", "store",
	),
	prompt: "prompt", plural: "what to draw, as a string",
	member: (*reader).picturesMember,
	end: func(r *reader) error {
		r.req.Cost.Pictures.N = max(1, r.req.Cost.Pictures.N)
		return r.withoutOutput() // of text
	},
}

// picturesMember reads the value of one member of a request to make pictures.
func (r *reader) picturesMember(name string) error {
	facts := &r.req.Cost.Pictures
	var err error
	switch name {
	case "prompt":
		return r.countText(cost.PartMessages)
	case "n":
		_, facts.N, err = r.integer(1, maxPictures)
		return err
	case "partial_images":
		_, facts.Partial, err = r.integer(0, maxPreviews)
		return err
	case "size":
		return r.choice(func(word string) error { return r.size(facts, word) })
	case "quality":
		return r.choice(func(word string) error {
			facts.Quality = cost.QualityNamed(word)
			return nil
		})
	case "background":
		return r.keyword(cost.PartOther, "auto", "transparent", "opaque")
	case "moderation":
		return r.keyword(cost.PartOther, "auto", "low")
	case "output_format":
		return r.keyword(cost.PartOther, "png", "jpeg", "webp")
	case "response_format":
		return r.keyword(cost.PartOther, "url", "b64_json")
	case "style":
		return r.keyword(cost.PartOther, "vivid", "natural")
	default:
		return r.member(name)
	}
}

// size reads how large a picture is to be: auto, or 1024x1536.
func (r *reader) size(p *cost.Pictures, word string) error {
	var ok bool
	if p.Width, p.Height, ok = parseSize(word); !ok {
		return r.fail(CodeInvalidValue, `%s must be "auto" or width x height in pixels, as in "1024x1536", each at most %d.`, maxSide)
	}
	return nil
}

// parseSize reads a size; zeros stand for auto.
func parseSize(word string) (width, height int64, ok bool) {
	if word == "" || word == "auto" {
		return 0, 0, true
	}
	across, down, _ := strings.Cut(word, "x")
	width, ok = plainInteger([]byte(across))
	height, okDown := plainInteger([]byte(down))
	if !ok || !okDown || width < 1 || height < 1 || width > maxSide || height > maxSide {
		return 0, 0, false
	}
	return width, height, true
}
