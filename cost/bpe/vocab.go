package bpe

import (
	"slices"
	"sync"
)

// vocab is a vocabulary made ready for counting. Tokens are numbered in the
// order in which merging prefers them; the first 256 are the single bytes.
type vocab struct {
	bytes   string      // of all tokens, one after the other
	start   []uint32    // where each begins there, and at last where the last ends
	halves  [][2]uint32 // what each is merged from; a single byte has itself twice
	singles [256]uint32 // the tokens of single bytes
	shorter []uint8     // the length of the longest other token that each begins with

	twos        [1 << 16]uint32   // tokens of 2 bytes; 0: there is none
	short       hashTable[uint64] // tokens of 3 to 8 bytes, by these bytes
	shortTokens []uint32          // and what they are: 16 times the token and its length; 0: the slot is free
	long        hashTable[uint32] // longer ones; 0, a single byte, is a free slot
	pairs       hashTable[uint32] // tokens by their halves, likewise
	met         bitFilter         // of the hashes in pairs
	eight       bitFilter         // of the hashes in the first level
	begins      filters
	levels      [len(levelLengths)]levelTable
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
		start:   make([]uint32, 1, n+1),
		halves:  make([][2]uint32, n),
		shorter: make([]uint8, n),
		pairs:   newHashTable[uint32](n),
		short:   newHashTable[uint64](n * 5 / 8),
		long:    newHashTable[uint32](n / 3),
		met:     newBitFilter(n),
		eight:   newBitFilter(n / 7),
	}
	v.shortTokens = make([]uint32, len(v.short.slots))
	for i := range v.levels {
		v.levels[i] = levelTable{newHashTable[levelSlot](n / 7 >> (2 * i))}
	}
	v.read(table)
	var beside sync.WaitGroup // whoever waits for the tables waits for half as long
	beside.Go(func() {
		v.addPairs()
		v.addLong()
	})
	v.addShort()
	beside.Wait()
	return v
}

// read reads what every token is made of, and puts its bytes together.
func (v *vocab) read(table string) {
	n := len(v.halves)
	all := make([]byte, 0, 7*n)
	for t := range uint32(n) {
		if t < 256 {
			all = append(all, table[t])
			v.halves[t] = [2]uint32{t, t}
			v.singles[table[t]] = t
		} else {
			h := table[256+7*(t-256):][:7]
			l := uint32(h[0]) | uint32(h[1])<<8 | uint32(h[2])<<16
			r := uint32(h[3]) | uint32(h[4])<<8 | uint32(h[5])<<16
			v.halves[t], v.shorter[t] = [2]uint32{l, r}, h[6]
			all = append(all, all[v.start[l]:v.start[l+1]]...)
			all = append(all, all[v.start[r]:v.start[r+1]]...)
		}
		v.start = append(v.start, uint32(len(all)))
	}
	v.bytes = string(all)
}

// text returns the bytes of a token.
func (v *vocab) text(token uint32) string { return v.bytes[v.start[token]:v.start[token+1]] }

func (v *vocab) length(token uint32) int { return int(v.start[token+1] - v.start[token]) }

func (v *vocab) addShort() {
	t := &v.short
	for token := range uint32(len(v.halves)) {
		s := v.text(token)
		w, n := word(s, 0), len(s)
		switch {
		case n == 1 || n > 8:
			continue
		case n == 2:
			v.twos[uint16(w)] = token
			continue
		}
		v.begins.add(w, n)
		i := shortHash(w, n) >> t.shift
		for v.shortTokens[i] != 0 {
			i = t.next(i)
		}
		t.slots[i], v.shortTokens[i] = w, token<<4|uint32(n)
	}
}

func (v *vocab) addLong() {
	for token := range uint32(len(v.halves)) {
		s := v.text(token)
		n := len(s)
		hash := uint64(0)
		for i := 8; i < n; i += 8 {
			if hash = mix(hash, word(s, i-8)); i == 8 {
				v.eight.add(hash)
			}
			if level := slices.Index(levelLengths[:], i); level >= 0 {
				v.levels[level].addLength(hash, i, n)
			}
		}
		if n > 8 {
			addTo(&v.long, longHash(s, n), token)
		}
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
