package bpe

import "math/bits"

// Pieces are split off by the hundred before they are counted: what either does is then at hand, for the processor's memory of
// branches as for its caches, and while the tables are waited for in one place, the next are looked for.

// mostPieces is how many are split off at once.
const mostPieces = 512

// pieceEnds says where pieces end. It has room for what a block has more than mostPieces, and for add.
type pieceEnds [mostPieces + blockSize + 4]uint32

// split finds the pieces of text that begin before until, up to mostPieces or some more, and returns how many there are. The
// first begins at 0, and there is at least one.
func (p *pieceEnds) split(e *Encoding, text string, until int) (n int) {
	for at := 0; at < until && n < mostPieces && at < bytesBetween; {
		if base := min(at, until-blockSize); base >= 0 && e.blocks != noBlocks && word(text, at)&highBits == 0 {
			b := readBlock(text[base:base+blockSize], at-base)
			if starts := b.starts(e.blocks, text[at:]); starts != 0 {
				p.add(n, at, starts)
				n += bits.OnesCount64(starts)
				at += bits.Len64(starts) - 1
				continue
			}
		}
		at = e.split(text, at)
		p[n] = uint32(at)
		n++
	}
	return n
}

// add puts behind n ends those at the bits of starts, which are counted from at on. It goes by fours, as it is foreseen more often how
// many of these there are.
func (p *pieceEnds) add(n, at int, starts uint64) {
	for starts != 0 {
		ends := p[n : n+4]
		ends[0] = uint32(at + bits.TrailingZeros64(starts))
		starts &= starts - 1
		ends[1] = uint32(at + bits.TrailingZeros64(starts))
		starts &= starts - 1
		ends[2] = uint32(at + bits.TrailingZeros64(starts))
		starts &= starts - 1
		ends[3] = uint32(at + bits.TrailingZeros64(starts))
		starts &= starts - 1
		n += 4
	}
}
