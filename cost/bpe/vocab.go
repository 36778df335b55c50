package bpe

import (
	"encoding/binary"
	"sync"
)

// vocab is a vocabulary made ready for counting. Tokens are numbered in the
// order in which merging prefers them; the first 256 are the single bytes.
type vocab struct {
	bytes   []byte   // of all tokens, one after the other, and 8 more
	start   []uint32 // where each begins there, and at last where the last ends
	made    []made
	singles [256]uint32 // the tokens of single bytes

	twos   *[1 << 16]uint32     // tokens of 2 bytes; 0: there is none
	begins *filters             // of those of 3 to 8 bytes
	short  hashTable[shortSlot] // those themselves
	eight  bitFilter            // of the first 8 bytes of longer ones
	long   hashTable[longSlot]  // where in tails longer ones are, by their first 8 bytes
	tails  []tail               // those with the same 8 stand together, in the order in which they are tried
	met    bitFilter            // of the hashes in pairs
	pairs  hashTable[uint32]    // tokens by their halves; 0, a single byte, is a free slot

	memories sync.Pool // for long pieces
	familiar sync.Pool // of pieces that were there of late
}

// made says what a token is made of: its left half, its right half, the longest
// other token that it begins with, in 18 bits each, and its length.
type made uint64

const tokenBits = 18

func (m made) left() uint32    { return uint32(m) & (1<<tokenBits - 1) }
func (m made) right() uint32   { return uint32(m>>tokenBits) & (1<<tokenBits - 1) }
func (m made) shorter() uint32 { return uint32(m>>(2*tokenBits)) & (1<<tokenBits - 1) }
func (m made) length() int     { return int(m >> (3 * tokenBits)) }

// of reports whether l and r are the halves.
func (m made) of(l, r uint32) bool { return (uint64(m)^halves(l, r))<<(64-2*tokenBits) == 0 }

func halves(l, r uint32) uint64 { return uint64(l) | uint64(r)<<tokenBits }

// eightBytes is a word that needs no alignment.
type eightBytes struct{ low, high uint32 }

func bytesOf(w uint64) eightBytes { return eightBytes{uint32(w), uint32(w >> 32)} }

func (b eightBytes) is(w uint64) bool { return uint64(b.low)|uint64(b.high)<<32 == w }

// shortSlot holds a token of 3 to 8 bytes.
type shortSlot struct {
	eightBytes        // its own
	token      uint32 // 16 times the token and its length; 0: the slot is free
}

// longSlot holds 8 bytes that tokens begin with.
type longSlot struct {
	eightBytes
	tails uint32 // 256 times the first of these in tails and their number; 0: the slot is free
}

// tail holds a token of more than 8 bytes.
type tail struct {
	eightBytes        // the next 8 of it, or what is left
	key        uint32 // its run, its length and the token, the last in 18 bits
}

func newTail(run, length int, token uint32, next uint64) tail {
	return tail{bytesOf(next), uint32(run)<<26 | uint32(length)<<tokenBits | token}
}

func (t *tail) token() uint32 { return t.key & (1<<tokenBits - 1) }
func (t *tail) length() int   { return int(t.key>>tokenBits) & 255 }

// highest returns the highest key of a tail with that run and length.
func highest(run, length int) uint32 {
	return uint32(run)<<26 | uint32(length)<<tokenBits | (1<<tokenBits - 1)
}

// longestRun is the longest run that is told from longer ones. A text that begins
// with 8 equal bytes or more has a run of 1 or more; all others have 0.
const longestRun = 1<<6 - 1

const longestToken = 128

// hashTable is an open hash table with room to spare; searches start at the
// high bits of a hash and go on slot by slot.
type hashTable[S any] struct {
	slots []S
	shift uint
}

func (t *hashTable[S]) next(i uint64) uint64 { return (i + 1) & uint64(len(t.slots)-1) }

// text returns the bytes of a token.
func (v *vocab) text(token uint32) []byte { return v.bytes[v.start[token]:v.start[token+1]] }

// word returns up to 8 bytes of a token from its byte i on.
func (v *vocab) word(token uint32, i int) uint64 {
	w := binary.LittleEndian.Uint64(v.bytes[int(v.start[token])+i:])
	return upTo(w, min(v.made[token].length()-i, 8))
}
