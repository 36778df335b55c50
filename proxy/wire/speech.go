package wire

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost"
)

var speechDialect = dialect{
	shape: newBodyShape(
		nil,
		"model", "input", "voice", "instructions", "response_format", "speed", "stream_format", "user", "service_tier", "store",
	),
	prompt: "input", plural: "what to say, as a string",
	member: (*reader).speechMember,
	end: func(r *reader) error {
		if facts := &r.req.Cost.Speech; r.instructed {
			facts.Slowed = 2 * max(100, facts.Slowed)
		}
		return r.withoutOutput() // of text
	},
}

// speechMember reads the value of one member of a request for speech.
func (r *reader) speechMember(name string) error {
	switch name {
	case "input":
		if r.next() != '"' {
			return r.wrongType("a string")
		}
		at, err := r.scalar()
		if err != nil {
			return err
		}
		text := r.text(at)
		facts := &r.req.Cost.Speech
		facts.Characters, facts.Bytes = int64(utf8.RuneCountInString(text)), int64(len(text))
		for _, c := range text {
			if unicode.IsDigit(c) || unicode.IsSymbol(c) || strings.ContainsRune("@#%&*/\\_", c) {
				facts.Signs++
			}
		}
		r.count(cost.PartMessages, text)
		return nil
	case "instructions": // may ask for long pauses
		r.instructed = r.next() == '"'
		return r.countText(cost.PartMessages)
	case "voice":
		if r.next() == '"' {
			return r.id()
		}
		return r.countAll(cost.PartOther)
	case "response_format":
		return r.keyword(cost.PartOther, "mp3", "opus", "aac", "flac", "wav", "pcm")
	case "stream_format":
		return r.keyword(cost.PartOther, "sse", "audio")
	case "speed":
		return r.speed()
	default:
		return r.member(name)
	}
}

// speed reads how fast the text is to be said: from a quarter of the usual speed to four times as fast.
func (r *reader) speed() error {
	const slowest, fastest = 0.25, 4
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '0' {
		return r.wrongType("a number or null")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	speed, err := strconv.ParseFloat(string(r.body[at.start:at.end]), 64)
	if err != nil || speed < slowest || speed > fastest {
		return r.fail(CodeInvalidValue, "%s must be a number from %v to %v.", slowest, fastest)
	}
	r.req.Cost.Speech.Slowed = int64(math.Ceil(100 / speed))
	return nil
}
