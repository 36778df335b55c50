package bpe

// pieces returns the number of tokens of as many pieces of text, whose ends are known.
func (v *vocab) pieces(text string, pieces int, known *familiar, c *counting) int64 {
	tokens, strange := known.look(text, pieces)
	for _, i := range known.strange[:strange] {
		from := uint32(0)
		if i > 0 {
			from = known.ends[i-1]
		}
		tokens += int64(v.piece(text[from:], int(known.ends[i]-from), known, c))
	}
	return tokens
}

// piece returns the number of tokens of the first n bytes of s, which the
// pattern keeps together.
func (v *vocab) piece(s string, n int, known *familiar, c *counting) int {
	if n > mostFamiliar {
		return v.strange(s, n, c)
	}
	p := familiarOf(s, n)
	first, second := known.places(p)
	if first.is(p) {
		return first.count()
	}
	count := second.count()
	if !second.is(p) {
		count = v.strange(s, n, c)
	}
	*first, *second = familiarPiece{p.first, p.rest | uint64(count)<<familiarCount}, *first
	return count
}

// strange is piece for one that is not familiar.
func (v *vocab) strange(s string, n int, c *counting) int {
	switch { // most pieces are short, and most of these are tokens
	case n == 1:
		return 1
	case n == 2:
		if v.twos[uint16(s[0])|uint16(s[1])<<8] > 0 {
			return 1
		}
		return 2
	case n <= 8:
		if _, ok := v.shortToken(upTo(word(s, 0), n), n); ok {
			return 1
		}
	}
	token, length := v.longest(s, n)
	if length == n {
		return 1
	}
	token |= isLongest
	if n <= usualPiece {
		clear(c.dead[:])
		tokens, _, _ := v.merge(s, n, 0, token, length, c.tokens[:0], c.dead[:], nil)
		return len(tokens)
	}
	m, ok := v.memories.Get().(*memory)
	if !ok {
		m = newMemory(manyTokens)
	}
	defer v.memories.Put(m)
	return v.longPiece(s, n, token, length, m, c)
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
// Some tokens may be there already, up to a place, and the longest one behind
// them is given. merge returns where they end when there is room for no more, if
// not before; it fails if it had to take back the one that isFirst.
//
// The idea is from github.com/github/rust-gems, crates/bpe ("backtracking").
func (v *vocab) merge(
	s string, n, at int, token uint32, length int, tokens []uint32, dead []uint64, known *seams,
) (_ []uint32, end int, ok bool) {
	for {
		end := at + length
		fits := dead[end/64]>>(end%64)&1 == 0
		if fits && len(tokens) > 0 {
			switch last := tokens[len(tokens)-1]; {
			case last&token&isAgain != 0: // it goes with itself
			case token&isFitting != 0:
			default:
				fits = v.goTogether(last, token)
			}
		}
		switch {
		case fits:
			tokens = append(tokens, token)
			if at = end; at == n || len(tokens) == cap(tokens) {
				return tokens, at, true
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
		case length > 1 && known == nil:
			token = v.made[token&^flags].shorter()
			length = v.made[token].length()
		case length > 1:
			if token, length = known.shorter(v, tokens, token); length == 0 {
				dead[at/64] |= 1 << (at % 64) // which ends what was tried here
			}
		default:
			dead[at/64] |= 1 << (at % 64)
			token = tokens[len(tokens)-1]
			if token&isFirst != 0 {
				return nil, 0, false
			}
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
// Both have their flags. If l is the longest token where it stands, it has none
// in common with anything behind it.
func (v *vocab) goTogether(l, r uint32) bool {
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
		last := max(l, r)
		if last < 256 {
			token := v.twos[uint16(v.bytes[l])|uint16(v.bytes[r])<<8]
			return token == 0 || token >= before
		}
		if hash := pairHash(l, r); v.met.has(hash) && v.merged(l, r, hash) < before {
			return false
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

// What merge notes with a token: that it was tried again, being the one before;
// that it is the longest where it stands; that those before it were left behind;
// that it is known to go with the one before.
const (
	isAgain   = 1 << 31
	isLongest = 1 << 30
	isFirst   = 1 << 29
	isFitting = 1 << 28
	flags     = isAgain | isLongest | isFirst | isFitting
)
