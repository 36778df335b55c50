package bpe

import "math/bits"

// Hashes are of eight bytes at a time, so that those of all beginnings of a
// text come out of one walk along it. They need not be secret: who makes texts
// whose tokens collide finds that there are only so many tokens.

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
		b := s[i : i+8]
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	}
	return lastWord(s[i:])
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

// longHash is the hash of the first n bytes of s, more than 8.
func longHash(s string, n int) uint64 {
	hash, i := uint64(0), 0
	for ; i < n-8; i += 8 {
		hash = mix(hash, word(s, i))
	}
	return lastHash(hash, s, i, n)
}

// lastHash is longHash from the hash of the first i bytes on; 1 to 8 are left.
func lastHash(hash uint64, s string, i, n int) uint64 {
	return mix(hash, upTo(word(s, i), n-i)) + uint64(n)*odd1
}

// chain has the hashes of the beginnings of a text that are whole words long.
type chain struct {
	hashes [longestToken/8 + 1]uint64
	words  int
}

// reach extends the chain to all whole words within n bytes, at most
// longestToken.
func (c *chain) reach(s string, n int) {
	for ; c.words < n/8; c.words++ {
		c.hashes[c.words+1] = mix(c.hashes[c.words], word(s, 8*c.words))
	}
}

// hash returns that of the first n bytes, which the chain reaches but for the
// last one to eight.
func (c *chain) hash(s string, n int) uint64 {
	whole := (n - 1) / 8
	return lastHash(c.hashes[whole], s, 8*whole, n)
}

// tagged is how tables keep a token, in 18 bits, together with 14 bits of the
// hash it was put there by: most of the others need not be looked at.
func tagged(token uint32, hash uint64) uint32 { return token<<14 | uint32(hash)&(1<<14-1) }

func hasTag(slot uint32, hash uint64) bool { return (slot^uint32(hash))&(1<<14-1) == 0 }
