package bpe

import "math/bits"

// Most of most texts is ASCII, and there the pieces of 64 bytes are found together: a bit for each byte says of which class it is, and
// arithmetic on these bits says where pieces begin (block_starts.go). A splitter, which goes from character to character, branches at
// each piece in ways that the processor cannot foresee; this does not.

const blockSize = 64

// block has a bit for each of 64 bytes of a text, the first one lowest. A piece begins at the first.
type block struct {
	letters, upper, digits, whites, newlines, spaces, apostrophes uint64

	wide uint64 // of characters that are longer, and whatever else blocks do not tell: a splitter is left to do it
}

// blockBits has for each byte what it adds to the fields of a block: a byte for each of them, in their order.
var blockBits = func() (all [256]uint64) {
	for i := range all {
		c := byteClasses[i]
		for field, is := range []bool{
			c&classLetter != 0, c == classUpper, c == classNumber, c&classWhite != 0, c == classNewline, i == ' ', i == '\'', c == 0,
		} {
			if is {
				all[i] |= 1 << (8 * field)
			}
		}
	}
	return all
}()

// readBlock reads the first 64 bytes of text, but for the first few of them, which were there before.
func readBlock(text string, but int) (b block) {
	_ = text[blockSize-1]
	// A row has eight bits of each field, and the fields have eight bits of each row.
	const low4, low2, low1 = 1<<32 - 1, 0x0000ffff_0000ffff, 0x00ff00ff_00ff00ff
	swap := func(a, b uint64, by int, low uint64) (_, _ uint64) {
		return a&low | b&low<<by, a>>by&low | b&^low
	}
	r0, r4 := swap(blockRow(text[0:8]), blockRow(text[32:40]), 32, low4)
	r1, r5 := swap(blockRow(text[8:16]), blockRow(text[40:48]), 32, low4)
	r2, r6 := swap(blockRow(text[16:24]), blockRow(text[48:56]), 32, low4)
	r3, r7 := swap(blockRow(text[24:32]), blockRow(text[56:64]), 32, low4)
	r0, r2 = swap(r0, r2, 16, low2)
	r1, r3 = swap(r1, r3, 16, low2)
	r4, r6 = swap(r4, r6, 16, low2)
	r5, r7 = swap(r5, r7, 16, low2)
	b.letters, b.upper = swap(r0, r1, 8, low1)
	b.digits, b.whites = swap(r2, r3, 8, low1)
	b.newlines, b.spaces = swap(r4, r5, 8, low1)
	b.apostrophes, b.wide = swap(r6, r7, 8, low1)
	if but > 0 {
		b.letters, b.upper, b.digits, b.whites = b.letters>>but, b.upper>>but, b.digits>>but, b.whites>>but
		b.newlines, b.spaces, b.apostrophes = b.newlines>>but, b.spaces>>but, b.apostrophes>>but
		b.wide = b.wide>>but | ^(^uint64(0) >> but)
	}
	return b
}

// blockRow adds up eight bytes.
func blockRow(t string) uint64 { return halfRow(t[4:8])<<4 + halfRow(t[:4]) }

func halfRow(t string) uint64 {
	_ = t[3]
	return blockBits[t[0]] + blockBits[t[1]]<<1 + (blockBits[t[2]]+blockBits[t[3]]<<1)<<2
}

// sure leaves those of starts that do not depend on what is at the first wide character or behind it: white space before that may go
// on there, and an apostrophe may begin a contraction.
func (b *block) sure(starts uint64) uint64 {
	before := b.wide&-b.wide - 1 // all, if there is none
	last := 63 - bits.LeadingZeros64(before&^b.whites|1)
	return starts & (before >> 1) & (2<<last - 1)
}
