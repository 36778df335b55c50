package bpe

// memory is what merge needs for a piece that is long: room for its last tokens,
// and a bit for each place they can reach.
type memory struct {
	tokens []uint32
	dead   []uint64
	seams  seams
}

func newMemory(tokens int) *memory {
	return &memory{tokens: make([]uint32, 0, tokens), dead: make([]uint64, (tokens+1)*longestToken/64+1)}
}

// usualPiece is how long a piece may be that needs no such memory.
const usualPiece = 64

// manyTokens are far more than merge was ever seen to take back, which is five.
const manyTokens = 1024

// longPiece is piece for a long one that begins with a token of that length.
// Whenever the memory is full, it leaves the older half of the tokens behind, and
// asks whether to stop.
func (v *vocab) longPiece(s string, n int, token uint32, length int, m *memory, c *counting) int {
	tokens := m.tokens
	for from, at, left := 0, 0, 0; ; {
		var ok bool
		clear(m.dead[:min((n-from)/64+1, len(m.dead))])
		tokens, at, ok = v.merge(s[from:], n-from, at, token, length, tokens, m.dead, &m.seams)
		if !ok { // though no such text is known
			token, length = v.longest(s, n)
			tokens, _, _ = v.merge(s, n, 0, token|isLongest, length, make([]uint32, 0, n), make([]uint64, n/64+1), nil)
			return len(tokens)
		}
		if from+at == n || c.ended() {
			return left + len(tokens)
		}
		newer := tokens[len(tokens)/2:]
		left += len(tokens) - len(newer)
		bytes := 0
		for _, token := range newer {
			bytes += v.made[token&^flags].length()
		}
		from, at = from+at-bytes, bytes
		tokens = tokens[:copy(tokens, newer)]
		tokens[0] |= isFirst
		token, length = v.longest(s[from+at:], n-from-at)
		token |= isLongest
	}
}

// seams holds which token comes next, of those that are tried behind another,
// each a beginning of the one before: a longer one was in vain. Where a long piece
// is hard to merge, the same ones are tried again and again.
type seams [1 << seamsBits]uint64 // both tokens, and the one that comes next

const (
	seamsBits = 12
	noShorter = 1<<tokenBits - 1 // more than tokens are numbered
)

// shorter returns the longest beginning of token r, but r itself, that is a token
// and goes with the last of tokens, and its length; length 0: there is none.
func (s *seams) shorter(v *vocab, tokens []uint32, r uint32) (token uint32, length int) {
	r &^= flags
	if len(tokens) == 0 {
		token = v.made[r].shorter()
		return token, v.made[token].length()
	}
	l := tokens[len(tokens)-1]
	pair := halves(l&^flags, r) << (64 - 2*tokenBits)
	seam := &s[pair>>(64-2*tokenBits)*odd1>>(64-seamsBits)]
	if (*seam^pair)>>(64-2*tokenBits) != 0 {
		*seam = pair | uint64(v.shorter(l, r))
	}
	if token = uint32(*seam) & noShorter; token == noShorter {
		return 0, 0
	}
	return token | isFitting, v.made[token].length()
}

// shorter is that of seams without them; noShorter: there is none.
func (v *vocab) shorter(l, r uint32) uint32 {
	for v.made[r].length() > 1 {
		if r = v.made[r].shorter(); v.goTogether(l, r) {
			return r
		}
	}
	return noShorter
}
