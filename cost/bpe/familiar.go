package bpe

// familiar remembers pieces, and how many tokens they have. Most of a text are words that were there before, and the vocabulary's
// tables are larger than a processor's caches: in a program that does other things, too, nearly each look into them waits for the
// memory. What was looked at of late fits into 128 kB. Each has its place by a hash, and gives way to the next one there.
//
// It is for one goroutine at a time.
type familiar [1 << familiarBits]familiarPiece

const familiarBits = 13

// familiarPiece is a piece of at most mostFamiliar bytes: the first 8, and the others with its length and its count above them.
type familiarPiece struct{ first, rest uint64 }

const (
	leastFamiliar = 2
	mostFamiliar  = 15
	familiarCount = 60 // where the count is: there are no more tokens than bytes
)

// familiarOf is what is known of the first n bytes of s once their count is added, and where.
func familiarOf(s string, n int) (p familiarPiece, place uint64) {
	if n <= 8 {
		p = familiarPiece{upTo(word(s, 0), n), uint64(n) << (familiarCount - 4)}
	} else {
		p = familiarPiece{word(s, 0), upTo(word(s, 8), n-8) | uint64(n)<<(familiarCount-4)}
	}
	return p, (p.first*odd1 + p.rest*odd2) >> (64 - familiarBits)
}

// count is the number of tokens of p, which has none yet; 0: it is not known.
func (p *familiarPiece) count(of familiarPiece) int {
	if p.first == of.first && (p.rest^of.rest)<<(64-familiarCount) == 0 {
		return int(p.rest >> familiarCount)
	}
	return 0
}
