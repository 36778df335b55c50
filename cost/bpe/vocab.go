package bpe

import (
	"slices"
	"sync"
)

// vocab is a vocabulary made ready for counting. Tokens are numbered in the
// order in which merging prefers them; the first 256 are the single bytes.
type vocab struct {
	bytes   []byte      // of all tokens, one after the other
	start   []uint32    // where each begins there, and at last where the last ends
	halves  [][2]uint32 // what each is merged from; a single byte has itself twice
	singles [256]uint32 // the tokens of single bytes
	shorter []uint8     // the length of the longest other token that each begins with

	twos   [1 << 16]uint32      // tokens of 2 bytes; 0: there is none
	short  hashTable[shortSlot] // tokens of 3 to 8 bytes
	long   hashTable[uint32]    // longer ones; 0, a single byte, is a free slot
	pairs  hashTable[uint32]    // tokens by their halves, likewise
	met    bitFilter            // of the hashes in pairs
	eight  bitFilter            // of the hashes in the first level
	begins filters
	levels [len(levelLengths)]levelTable
}

// shortSlot is free if its length is 0. The bytes themselves are the key.
type shortSlot struct {
	word   uint64
	token  uint32
	length uint32
}

// levelTable says how long the tokens are that begin with the same 8, 16, 32 or
// 64 bytes and are at most twice as long: bit i is for i + 1 more. Only a hash
// of those bytes is kept; should two share one, each gets the other's lengths,
// too, which costs a needless look.
type levelTable struct{ hashTable[levelSlot] }

type levelSlot struct{ hash, lengths uint64 }

// more is the bit for tokens that are longer than that; the last level, which
// has use for all 64 bits, has none.
const more = 1 << 63

var levelLengths = [...]int{8, 16, 32, 64}

const longestToken = 128

// hashTable is an open hash table with room to spare; searches start at the
// high bits of a hash and go on slot by slot.
type hashTable[S any] struct {
	slots []S
	shift uint
}

// newHashTable returns a table of which n entries fill at most half.
func newHashTable[S any](n int) hashTable[S] {
	t := hashTable[S]{shift: 64 - 4}
	for 1<<(64-t.shift) < 2*n {
		t.shift--
	}
	t.slots = make([]S, 1<<(64-t.shift))
	return t
}

func (t *hashTable[S]) next(i uint64) uint64 { return (i + 1) & uint64(len(t.slots)-1) }

// newVocab builds the tables from what gen/vocab wrote: the first 256 tokens'
// bytes, and the halves of all others.
func newVocab(table string) *vocab {
	n := 256 + (len(table)-256)/7
	v := &vocab{
		bytes:   make([]byte, 0, 7*n),
		start:   make([]uint32, 1, n+1),
		halves:  make([][2]uint32, n),
		shorter: make([]uint8, n),
		pairs:   newHashTable[uint32](n),
		short:   newHashTable[shortSlot](n * 5 / 8),
		long:    newHashTable[uint32](n / 3),
		met:     newBitFilter(n),
		eight:   newBitFilter(n / 7),
	}
	for i := range v.levels {
		v.levels[i] = levelTable{newHashTable[levelSlot](n / 7 >> (2 * i))}
	}
	v.read(table)
	var rest sync.WaitGroup // whoever waits for the tables waits for half as long
	rest.Go(v.addPairs)
	for t := range uint32(n) {
		v.addToken(t)
	}
	rest.Wait()
	return v
}

// read reads what every token is made of, and puts its bytes together.
func (v *vocab) read(table string) {
	for t := range uint32(len(v.halves)) {
		if t < 256 {
			v.bytes = append(v.bytes, table[t])
			v.halves[t] = [2]uint32{t, t}
			v.singles[table[t]] = t
		} else {
			h := table[256+7*(t-256):][:7]
			l := uint32(h[0]) | uint32(h[1])<<8 | uint32(h[2])<<16
			r := uint32(h[3]) | uint32(h[4])<<8 | uint32(h[5])<<16
			v.halves[t], v.shorter[t] = [2]uint32{l, r}, h[6]
			v.bytes = append(v.bytes, v.bytes[v.start[l]:v.start[l+1]]...)
			v.bytes = append(v.bytes, v.bytes[v.start[r]:v.start[r+1]]...)
		}
		v.start = append(v.start, uint32(len(v.bytes)))
	}
}

func (v *vocab) string(token uint32) string { return string(v.bytes[v.start[token]:v.start[token+1]]) }

func (v *vocab) length(token uint32) int { return int(v.start[token+1] - v.start[token]) }

func (v *vocab) addToken(token uint32) {
	s := v.string(token)
	switch n := len(s); {
	case n == 1:
	case n == 2:
		v.twos[uint16(word(s, 0))] = token
	case n <= 8:
		w := word(s, 0)
		v.begins.add(w, n)
		t, i := &v.short, shortHash(w, n)>>v.short.shift
		for t.slots[i].length != 0 {
			i = t.next(i)
		}
		t.slots[i] = shortSlot{w, token, uint32(n)}
	default:
		hash := uint64(0)
		for i := 8; i < n; i += 8 {
			if hash = mix(hash, word(s, i-8)); i == 8 {
				v.eight.add(hash)
			}
			if level := slices.Index(levelLengths[:], i); level >= 0 {
				v.levels[level].addLength(hash, i, n)
			}
		}
		addTo(&v.long, longHash(s, n), token)
	}
}

func (v *vocab) addPairs() {
	for t := 256; t < len(v.halves); t++ {
		hash := pairHash(v.halves[t][0], v.halves[t][1])
		v.met.add(hash)
		addTo(&v.pairs, hash, uint32(t))
	}
}

func addTo(t *hashTable[uint32], hash uint64, token uint32) {
	i := hash >> t.shift
	for t.slots[i] != 0 {
		i = t.next(i)
	}
	t.slots[i] = tagged(token, hash)
}
