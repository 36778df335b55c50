package bpe

// Filters say quickly that something is not in a table. They are small enough
// for a processor's nearest caches, which the tables are not, and most answers
// are no.

// filters knows how long the tokens of 3 to 8 bytes are that a text may begin
// with: bit i is for i + 1 bytes.
type filters struct {
	three [1 << 16]uint8 // length 3, by a hash of three bytes
	four  [1 << 17]uint8 // lengths 4 to 8, by a hash of the first four
	six   [1 << 17]uint8 // lengths 6 to 8, by a hash of the first six; four bytes are but one character of Hindi
}

func threeHash(w uint64) uint64 { return w << 40 * odd1 >> (64 - 16) }

func fourHash(w uint64) uint64 { return uint64(uint32(w)) * odd1 >> (64 - 17) }

func sixHash(w uint64) uint64 { return w << 16 * odd1 >> (64 - 17) }

func (f *filters) add(w uint64, n int) {
	if n == 3 {
		f.three[threeHash(w)] = 1 << 2
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
	return (f.three[threeHash(w)] | f.four[fourHash(w)]&(f.six[sixHash(w)]|belowSix)) & (1<<n - 1)
}

// bitFilter has a bit for each hash that was added, and few others. Its length is
// a power of two.
type bitFilter []uint64

func (f bitFilter) add(hash uint64) { f[hash>>6&uint64(len(f)-1)] |= 1 << (hash & 63) }

func (f bitFilter) has(hash uint64) bool { return f[hash>>6&uint64(len(f)-1)]>>(hash&63)&1 != 0 }

// newBitFilter returns one of which n hashes fill a tenth or so.
func newBitFilter(n int) bitFilter {
	size := 1
	for size*64 < 8*n {
		size *= 2
	}
	return make(bitFilter, size)
}
