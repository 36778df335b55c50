package bpe

import "sync"

// piece returns the number of tokens of the first n bytes of s, which the
// pattern keeps together.
func (v *vocab) piece(s string, n int, c *counting) int {
	if 2 < n && n <= 8 { // most pieces are short, and most of these are tokens
		if _, ok := v.shortToken(upTo(word(s, 0), n), n); ok {
			return 1
		}
	}
	token, length := v.longest(s, n)
	if length == n {
		return 1
	}
	if n <= usualPiece {
		clear(c.dead[:])
		return len(v.merge(s, n, token|isLongest, length, c.tokens[:0], c.dead[:], c))
	}
	m := memories.Get().(*memory)
	defer m.free()
	m.tokens = v.merge(s, n, token|isLongest, length, m.tokens[:0], m.deadFor(n), c)
	return len(m.tokens)
}

// merge returns what merging makes of the first n bytes of s, without merging.
//
// Merging always joins the two neighbours whose token comes first in the
// vocabulary. What it ends with can be told without doing it: of all ways to
// write a text as tokens it is the only one in which every two neighbours are
// what merging makes of those two alone. So merge goes from left to right and
// takes the longest token that goes with the one before it; finding none, it
// takes back that one, and tries a shorter one in its place. A place at which it
// had to take one back is never tried again, so the time is linear.
//
// Where the text repeats the token before, that one is tried first, again: there
// are dashes in dozens of lengths, and of a line of them the longest is not what
// merging makes.
//
// The idea is from github.com/github/rust-gems, crates/bpe ("backtracking").
func (v *vocab) merge(s string, n int, token uint32, length int, tokens []uint32, dead []uint64, c *counting) []uint32 {
	for at, steps := 0, 0; ; {
		end := at + length
		switch {
		case dead[end/64]>>(end%64)&1 == 0 && (len(tokens) == 0 || v.goTogether(tokens[len(tokens)-1], token)):
			tokens = append(tokens, token)
			if at = end; at == n {
				return tokens
			}
			if steps++; steps%stepsBetween == 0 && c.ended() {
				return tokens
			}
			if end = at + length; end <= n && s[end-1] == s[at-1] && s[at:end] == s[at-length:at] {
				token = token&^flags | isAgain
			} else {
				token, length = v.longest(s[at:], n-at)
				token |= isLongest
			}
		case token&isAgain != 0:
			token, length = v.longest(s[at:], n-at)
			token |= isLongest
		case length > 1:
			token = v.made[token&^flags].shorter()
			length = v.made[token].length()
		default:
			dead[at/64] |= 1 << (at % 64)
			token = tokens[len(tokens)-1]
			tokens = tokens[:len(tokens)-1]
			length = v.made[token&^flags].length()
			at -= length
		}
	}
}

// goTogether reports whether merging the bytes of two tokens, one after the
// other, makes these two of them. It undoes their merges from the last to the
// first and looks at the two that then meet: had they a token in common that
// comes before the one just undone, merging would have made that.
//
// If l is the longest token where it stands, it has none in common with anything
// behind it. Both have their flags.
func (v *vocab) goTogether(l, r uint32) bool {
	if l&r&isAgain != 0 { // l goes with l
		return true
	}
	r &^= flags
	before := uint32(noToken)
	if l&isLongest != 0 {
		l &^= flags
		for r >= max(l, 256) {
			r = v.made[r].left()
		}
		if l < 256 {
			return true
		}
		before, l = l, v.made[l].right()
	}
	l &^= flags
	for {
		if hash := pairHash(l, r); v.met.has(hash) && v.merged(l, r, hash) < before {
			return false
		}
		last := max(l, r)
		if last < 256 {
			return true
		}
		m := v.made[last]
		before = last
		if l > r {
			l = m.right()
		} else {
			before, r = last+1, m.left()
		}
	}
}

// What merge notes with a token: that it was tried again, being the one before,
// or that it is the longest where it stands.
const (
	isAgain   = 1 << 31
	isLongest = 1 << 30
	flags     = isAgain | isLongest
)

// usualPiece is how long a piece may be that needs no memory of its own.
const usualPiece = 64

// stepsBetween is how often a long piece asks whether to stop.
const stepsBetween = 1 << 13

// memory is what a long piece needs: its tokens so far, and a bit for each
// place that is dead.
type memory struct {
	tokens []uint32
	dead   []uint64
}

var memories = sync.Pool{New: func() any { return new(memory) }}

func (m *memory) deadFor(n int) []uint64 {
	words := n/64 + 1
	if cap(m.dead) < words {
		m.dead = make([]uint64, words)
	}
	m.dead = m.dead[:words]
	clear(m.dead)
	return m.dead
}

// free gives the memory back, unless it is more than most texts need.
func (m *memory) free() {
	if cap(m.tokens) <= 1<<20 {
		memories.Put(m)
	}
}
