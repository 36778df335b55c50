package bpe

import "math/bits"

// blocks says by which pattern blocks are split.
type blocks uint8

const (
	noBlocks blocks = iota // by none: all is left to the splitter
	o200kBlocks
	cl100kBlocks
)

// starts returns where pieces begin behind the first, as far as sure says. The text is that of the block and what follows it.
func (b *block) starts(how blocks, text string) uint64 {
	if how == o200kBlocks {
		return b.sure(b.o200kStarts(text)) &^ 1
	}
	return b.sure(b.cl100kStarts(text)) &^ 1
}

// o200kStarts is as splitO200k. In ASCII, letters are split only where a capital follows a small one. The character before them goes
// with them, unless it is a newline, a digit, or punctuation that goes with some before it.
func (b *block) o200kStarts(text string) (starts uint64) {
	others := b.others()
	eaten := b.eaten(others)
	for slashes := eaten << 1 & others; slashes != 0; slashes &= slashes - 1 {
		if i := bits.TrailingZeros64(slashes); text[i] == '/' { // which is eaten, too, and what follows it may be
			b.wide |= 1 << i
			break
		}
	}
	punctuation := others &^ (others << 1) &^ (b.spaces << 1)
	words := b.letters & ((b.digits | b.newlines | others&^punctuation) << 1)
	words |= b.upper & ((b.letters &^ b.upper) << 1)
	starts = punctuation | words | b.whiteStarts(eaten) | b.digitStarts()
	end := 0
	for quotes := b.apostrophes & (b.letters << 1) & (b.letters >> 1); quotes != 0; quotes &= quotes - 1 {
		i := bits.TrailingZeros64(quotes)
		if i == end { // there is no word before it, but another contraction
			continue
		}
		if behind := skipContraction(text, i); behind > i {
			end = behind
			starts = starts&^(1<<end-1<<i) | 1<<end
		}
	}
	return starts
}

// cl100kStarts is as splitCL100k: letters are never split, and a contraction is a piece of its own wherever one begins.
func (b *block) cl100kStarts(text string) (starts uint64) {
	others := b.others()
	punctuation := others &^ (others << 1) &^ (b.spaces << 1)
	words := b.letters & ((b.digits | b.newlines | others&^punctuation) << 1)
	starts = punctuation | words | b.whiteStarts(b.eaten(others)) | b.digitStarts()
	for quotes := b.apostrophes & punctuation & (b.letters >> 1); quotes != 0; quotes &= quotes - 1 {
		i := bits.TrailingZeros64(quotes)
		if end := skipContraction(text, i); end > i {
			starts |= 1 << end
		}
	}
	return starts
}

// others is punctuation and the like.
func (b *block) others() uint64 { return ^(b.letters | b.digits | b.whites | b.wide) }

// eaten is the newlines that go with punctuation before them. Adding the first of a run to it carries through the whole run.
func (b *block) eaten(others uint64) uint64 {
	return b.newlines &^ (b.newlines + b.newlines&(others<<1))
}

// whiteStarts is skipWhite: a piece begins with a run, behind its last newline, and with its last character, which goes with what
// follows it if that can be, unless that is a newline.
func (b *block) whiteStarts(eaten uint64) (starts uint64) {
	whites, newlines := b.whites&^eaten, b.newlines&^eaten
	blanks := whites &^ newlines
	starts = whites&^(whites<<1) | blanks&^(b.whites>>1)
	indents := blanks & (newlines << 1)
	// Adding the beginning of an indent carries to where it ends. If a newline is there, the one before it was not the last.
	for again := (blanks + indents) &^ blanks & newlines; again != 0; again &= again - 1 {
		before := indents & (again&-again - 1)
		indents ^= 1 << (63 - bits.LeadingZeros64(before))
	}
	return starts | indents
}

// digitStarts is skipDigits: three at a time.
func (b *block) digitStarts() (starts uint64) {
	fourth := b.digits & (b.digits << 1) & (b.digits << 2) // if a piece begins three before it
	for next := b.digits &^ (b.digits << 1); next != 0; next = next << 3 & fourth {
		starts |= next
	}
	return starts
}
