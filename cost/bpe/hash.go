package bpe

import "math/bits"

// Hashes need not be secret: who makes texts whose tokens collide finds that
// there are only so many tokens.

const (
	odd1 = 0x9e3779b97f4a7c15
	odd2 = 0xd6e8feb86659fd93
)

func mix(hash, word uint64) uint64 {
	hi, lo := bits.Mul64(hash^word^odd1, odd2)
	return hi ^ lo
}

// word returns up to 8 bytes of s from i on, the first one lowest.
func word(s string, i int) uint64 {
	if len(s)-i >= 8 {
		return eight(s[i : i+8])
	}
	return lastWord(s[i:])
}

func eight(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func lastWord(s string) (w uint64) {
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return w
}

// upTo returns the first n bytes of a word, from 1 to 8.
func upTo(w uint64, n int) uint64 { return w << (64 - 8*n) >> (64 - 8*n) }

func shortHash(w uint64, n int) uint64 { return mix(w, uint64(n)*odd2) }

func pairHash(l, r uint32) uint64 { return mix(uint64(l)<<32|uint64(r), 0) }

// tagged is how tables keep a token, in 18 bits, together with 14 bits of the
// hash it was put there by: most of the others need not be looked at.
func tagged(token uint32, hash uint64) uint32 { return token<<14 | uint32(hash)&(1<<14-1) }

func hasTag(slot uint32, hash uint64) bool { return (slot^uint32(hash))&(1<<14-1) == 0 }
