package bpe

// Filters say quickly that something is not in a table. They are small enough
// for a processor's nearest caches, which the tables are not, and most answers
// are no.

// filters knows how long the tokens of 3 to 8 bytes are that a text may begin
// with: bit i is for i + 1 bytes.
type filters struct {
	three [1 << 13]uint64 // length 3, a bit for each hash of three bytes
	four  [1 << 18]uint8  // lengths 4 to 8, by a hash of the first four
	six   [1 << 17]uint8  // lengths 6 to 8, by a hash of the first six; four bytes are but one character of Hindi
}

func threeHash(w uint64) uint64 { return w << 40 * odd1 >> (64 - 19) }

func fourHash(w uint64) uint64 { return uint64(uint32(w)) * odd1 >> (64 - 18) }

func sixHash(w uint64) uint64 { return w << 16 * odd1 >> (64 - 17) }

func (f *filters) add(w uint64, n int) {
	if n == 3 {
		h := threeHash(w)
		f.three[h/64] |= 1 << (h % 64)
		return
	}
	f.four[fourHash(w)] |= 1 << (n - 1)
	if n >= 6 {
		f.six[sixHash(w)] |= 1 << (n - 1)
	}
}

// lengths returns those that may be found within the first n bytes of a word.
func (f *filters) lengths(w uint64, n int) uint8 {
	const belowSix = 1<<5 - 1
	h := threeHash(w)
	three := uint8(f.three[h/64]>>(h%64)&1) << 2
	return (three | f.four[fourHash(w)]&(f.six[sixHash(w)]|belowSix)) & (1<<n - 1)
}

// bitFilter has two bits for each hash that was added, and few others have both.
type bitFilter struct {
	words []uint64
	shift uint
}

func (f *bitFilter) add(hash uint64) { f.words[hash>>f.shift] |= twoBits(hash) }

func (f *bitFilter) has(hash uint64) bool { return twoBits(hash)&^f.words[hash>>f.shift] == 0 }

func twoBits(hash uint64) uint64 { return 1<<(hash&63) | 1<<(hash>>6&63) }

// newBitFilter returns one of which n hashes fill a fifth or so.
func newBitFilter(n int) bitFilter {
	f := bitFilter{shift: 64}
	for 64<<(64-f.shift) < 8*n {
		f.shift--
	}
	f.words = take[uint64](1 << (64 - f.shift))
	return f
}
