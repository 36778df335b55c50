package bpe

// familiar remembers pieces, and how many tokens they have. Most of a text are words that were there before, and the vocabulary's
// tables are larger than a processor's caches: in a program that does other things, too, nearly each look into them waits for the
// memory. What was looked at of late fits into 256 kB. Each has two places by a hash, one line of a cache, and gives way to the
// second piece that comes there after it was looked at.
//
// It is for one goroutine at a time, and has room for the pieces that are counted together.
type familiar struct {
	pieces  [1 << familiarBits]familiarPiece
	ends    pieceEnds
	strange [len(pieceEnds{})]uint16
}

const familiarBits = 14

// familiarPiece is a piece of at most mostFamiliar bytes: the first 8, and the others with its length and its count above them.
type familiarPiece struct{ first, rest uint64 }

const (
	mostFamiliar  = 15
	familiarCount = 60 // where the count is: there are no more tokens than bytes
)

// familiarOf is what is known of the first n bytes of s once their count is added.
func familiarOf(s string, n int) familiarPiece {
	if n <= 8 {
		return familiarPiece{upTo(word(s, 0), n), uint64(n) << (familiarCount - 4)}
	}
	return familiarPiece{word(s, 0), upTo(word(s, 8), n-8) | uint64(n)<<(familiarCount-4)}
}

// places are those of p, which has no count yet. The first is of the one that was looked at last.
func (f *familiar) places(p familiarPiece) (first, second *familiarPiece) {
	place := (p.first*odd1 + p.rest*odd2) >> (64 - familiarBits) &^ 1
	return &f.pieces[place], &f.pieces[place|1]
}

// is reports whether p is the piece of, which has no count.
func (p *familiarPiece) is(of familiarPiece) bool {
	return p.first^of.first|(p.rest^of.rest)<<(64-familiarCount) == 0
}

func (p *familiarPiece) count() int { return int(p.rest >> familiarCount) }

// look returns how many tokens of text are in pieces that are familiar, of those that f.ends says, and how many pieces are not: which
// is in f.strange.
func (f *familiar) look(text string, pieces int) (tokens int64, strange int) {
	from := 0
	for i, end := range f.ends[:pieces] {
		start, n := from, int(end)-from
		from = int(end)
		if n <= mostFamiliar && start+16 <= len(text) {
			s, mask := text[start:start+16], &familiarMasks[n&mostFamiliar]
			p := familiarPiece{eight(s[:8]) & mask.first, eight(s[8:])&mask.rest | uint64(n)<<(familiarCount-4)}
			first, second := f.places(p)
			if first.is(p) {
				tokens += int64(first.count())
				continue
			}
			if second.is(p) {
				tokens += int64(second.count())
				*first, *second = *second, *first
				continue
			}
		}
		f.strange[strange] = uint16(i)
		strange++
	}
	return tokens, strange
}

// familiarMasks has the bytes of a piece by its length.
var familiarMasks = func() (masks [mostFamiliar + 1]familiarPiece) {
	for n := 1; n <= mostFamiliar; n++ {
		masks[n].first = upTo(^uint64(0), min(n, 8))
		if n > 8 {
			masks[n].rest = upTo(^uint64(0), n-8)
		}
	}
	return masks
}()
