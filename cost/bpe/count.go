package bpe

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// Count returns the number of tokens of text. It takes time in proportion to
// len(text), allocates nothing if the text is valid UTF-8, and may be called
// from any number of goroutines.
func (e *Encoding) Count(text string) int64 {
	n, _ := e.CountContext(context.Background(), text, math.MaxInt64)
	return n
}

// CountUpTo is Count for callers to whom more than most tokens are too many: if
// there are, it returns some number above most, and may have left the rest of
// the text alone.
func (e *Encoding) CountUpTo(text string, most int64) int64 {
	n, _ := e.CountContext(context.Background(), text, most)
	return n
}

// CountContext is CountUpTo under a context: it looks at it now and then, for
// texts so long that counting takes milliseconds, and returns its error if it
// has ended.
func (e *Encoding) CountContext(ctx context.Context, text string, most int64) (int64, error) {
	if least := int64(len(text)+longestToken-1) / longestToken; least > most {
		return least, ctx.Err()
	}
	if !utf8.ValidString(text) {
		text = toValid(text)
	}
	c := counting{ctx: ctx}
	n, looked := int64(0), 0
	for at := 0; at < len(text) && n <= most; {
		if at-looked >= bytesBetween {
			if looked = at; c.ended() {
				break
			}
		}
		end := e.split(text, at)
		n += int64(e.vocab.piece(text[at:], end-at, &c))
		at = end
	}
	return n, c.err
}

// bytesBetween is how often the context is looked at.
const bytesBetween = 64 << 10

// counting is what one call knows of its context, and what merge needs for pieces
// that are not long.
type counting struct {
	ctx    context.Context
	err    error
	tokens [usualPiece]uint32
	dead   [usualPiece/64 + 1]uint64
}

// ended looks at the context.
func (c *counting) ended() bool {
	c.err = c.ctx.Err()
	return c.err != nil
}

// toValid puts U+FFFD in the place of each byte that is not UTF-8.
func toValid(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	valid := 0 // where what is not yet copied begins
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if r == utf8.RuneError && size == 1 {
			b.WriteString(text[valid:i])
			b.WriteString("\ufffd")
			valid = i + 1
		}
		i += size
	}
	b.WriteString(text[valid:])
	return b.String()
}
