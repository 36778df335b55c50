package bpe

import (
	"context"
	"math"
	"unicode/utf8"
)

// Count returns the number of tokens of text. It takes time in proportion to
// len(text) and may be called from any number of goroutines. It allocates nothing
// in the steady state: the memory for long pieces and for what is not valid UTF-8
// is used again.
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
	c := counting{ctx: ctx}
	if !utf8.ValidString(text) {
		return e.countInvalid(text, most, &c), c.err
	}
	return e.count(text, len(text), most, &c), c.err
}

// count counts the pieces that begin before the place until.
func (e *Encoding) count(text string, until int, most int64, c *counting) (n int64) {
	known, ok := e.vocab.familiar.Get().(*familiar)
	if !ok {
		known = new(familiar)
	}
	defer e.vocab.familiar.Put(known)
	for at, looked := 0, 0; at < until && n <= most; {
		if at-looked >= bytesBetween {
			if looked = at; c.ended() {
				break
			}
		}
		pieces := known.ends.split(e, text[at:], until-at)
		n += e.vocab.pieces(text[at:], pieces, known, c)
		at += int(known.ends[pieces-1])
	}
	return n
}

// bytesBetween is how often the context is looked at. No more are split before they are counted, but for the last piece.
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
