package bpe

import (
	"encoding/binary"
	"sync"
)

// vocab is a vocabulary made ready for counting. Tokens are numbered in the
// order in which merging prefers them; the first 256 are the single bytes.
type vocab struct {
	bytes   []byte   // of all tokens, one after the other, and 8 more
	start   []uint32 // where each begins there, and at last where the last ends
	made    []made
	singles [256]uint32 // the tokens of single bytes

	twos   [1 << 16]uint32      // tokens of 2 bytes; 0: there is none
	begins filters              // of those of 3 to 8 bytes
	short  hashTable[shortSlot] // those themselves
	eight  bitFilter            // of the first 8 bytes of longer ones
	long   hashTable[longSlot]  // where in tails longer ones are, by their first 8 bytes
	tails  []tail               // those with the same 8 stand together, longest first
	met    bitFilter            // of the hashes in pairs
	pairs  hashTable[uint32]    // tokens by their halves; 0, a single byte, is a free slot

	memories sync.Pool // for long pieces
}

// made says what a token is made of: its left half, its right half, the longest
// other token that it begins with, in 18 bits each, and its length.
type made uint64

const tokenBits = 18

func (m made) left() uint32    { return uint32(m) & (1<<tokenBits - 1) }
func (m made) right() uint32   { return uint32(m>>tokenBits) & (1<<tokenBits - 1) }
func (m made) shorter() uint32 { return uint32(m>>(2*tokenBits)) & (1<<tokenBits - 1) }
func (m made) length() int     { return int(m >> (3 * tokenBits)) }

// of reports whether l and r are the halves.
func (m made) of(l, r uint32) bool { return (uint64(m)^halves(l, r))<<(64-2*tokenBits) == 0 }

func halves(l, r uint32) uint64 { return uint64(l) | uint64(r)<<tokenBits }

// eightBytes is a word that needs no alignment.
type eightBytes struct{ low, high uint32 }

func (b eightBytes) is(w uint64) bool { return uint64(b.low)|uint64(b.high)<<32 == w }

// shortSlot holds a token of 3 to 8 bytes.
type shortSlot struct {
	eightBytes        // its own
	token      uint32 // 16 times the token and its length; 0: the slot is free
}

// longSlot holds 8 bytes that tokens begin with.
type longSlot struct {
	eightBytes
	tails uint32 // 256 times the first of these in tails and their number; 0: the slot is free
}

// tail holds a token of more than 8 bytes.
type tail struct {
	eightBytes        // the next 8 of it, or what is left
	token      uint32 // 256 times the token and its length
}

func (t *tail) length() int { return int(t.token & 255) }

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
	clear(t.slots) // memory that is read before it is written costs the system two page faults
	return t
}

func (t *hashTable[S]) next(i uint64) uint64 { return (i + 1) & uint64(len(t.slots)-1) }

// newVocab builds the tables from what gen/vocab wrote: the first 256 tokens'
// bytes, and what all others are made of.
func newVocab(table string) *vocab {
	n := 256 + (len(table)-256)/7
	v := &vocab{
		start: make([]uint32, 1, n+1),
		made:  make([]made, n),
	}
	v.readMade(table)
	read := make(chan struct{})
	var beside sync.WaitGroup // whoever waits for the tables waits for half as long
	beside.Go(func() {
		v.addPairs()
		<-read
		v.addLong()
	})
	v.readBytes(table)
	close(read)
	v.addShort()
	beside.Wait()
	return v
}

// readMade reads what every token is made of.
func (v *vocab) readMade(table string) {
	at := uint32(0)
	for t := range v.made {
		length := 1
		if t < 256 {
			v.made[t] = made(halves(uint32(t), uint32(t)))
		} else {
			m := made(upTo(word(table, 256+7*(t-256)), 7))
			v.made[t], length = m, v.made[m.left()].length()+v.made[m.right()].length()
		}
		v.made[t] |= made(length) << (3 * tokenBits)
		at += uint32(length)
		v.start = append(v.start, at)
	}
}

// readBytes puts the bytes of every token together: those of its halves, which
// stand before it.
func (v *vocab) readBytes(table string) {
	all := make([]byte, v.start[len(v.made)]+8)
	put := func(at, token uint32) {
		binary.LittleEndian.PutUint64(all[at:], binary.LittleEndian.Uint64(all[v.start[token]:]))
		if n := v.made[token].length(); n > 8 { // seldom
			copy(all[at:], all[v.start[token]:][:n])
		}
	}
	for t, m := range v.made {
		at := v.start[t]
		if t < 256 {
			all[at] = table[t]
			v.singles[table[t]] = uint32(t)
			continue
		}
		put(at, m.left())
		put(at+uint32(v.made[m.left()].length()), m.right())
	}
	v.bytes = all
}

// text returns the bytes of a token.
func (v *vocab) text(token uint32) []byte { return v.bytes[v.start[token]:v.start[token+1]] }

// word returns up to 8 bytes of a token from its byte i on.
func (v *vocab) word(token uint32, i int) uint64 {
	w := binary.LittleEndian.Uint64(v.bytes[int(v.start[token])+i:])
	return upTo(w, min(v.made[token].length()-i, 8))
}

func (v *vocab) addShort() {
	v.short = newHashTable[shortSlot](len(v.made) * 5 / 8)
	t := &v.short
	for token := range uint32(len(v.made)) {
		n := v.made[token].length()
		if n == 1 || n > 8 {
			continue
		}
		w := v.word(token, 0)
		if n == 2 {
			v.twos[uint16(w)] = token
			continue
		}
		v.begins.add(w, n)
		i := shortHash(w, n) >> t.shift
		for t.slots[i].token != 0 {
			i = t.next(i)
		}
		t.slots[i] = shortSlot{bytesOf(w), token<<4 | uint32(n)}
	}
}

// addLong counts first how many begin with the same bytes, to know where they
// stand.
func (v *vocab) addLong() {
	v.long, v.eight = newHashTable[longSlot](len(v.made)/7), newBitFilter(len(v.made)/7)
	t := &v.long
	slots := make([]uint32, 0, len(v.made)/3) // of each long token
	for token, m := range v.made {
		if m.length() <= 8 {
			continue
		}
		w := v.word(uint32(token), 0)
		hash := mix(0, w)
		v.eight.add(hash)
		i := hash >> t.shift
		for t.slots[i].tails != 0 && !t.slots[i].is(w) {
			i = t.next(i)
		}
		t.slots[i].eightBytes = bytesOf(w)
		t.slots[i].tails++
		slots = append(slots, uint32(i))
	}
	first := uint32(0)
	for i := range t.slots {
		if n := t.slots[i].tails; n != 0 {
			t.slots[i].tails = first << 8
			first += n
		}
	}
	v.tails = make([]tail, first)
	for token, m := range v.made {
		n := m.length()
		if n <= 8 {
			continue
		}
		slot := &t.slots[slots[0]]
		slots = slots[1:]
		slot.tails++
		place := v.tails[slot.tails>>8:][:slot.tails&255]
		i := len(place) - 1
		for ; i > 0 && place[i-1].length() < n; i-- {
			place[i] = place[i-1]
		}
		place[i] = tail{bytesOf(v.word(uint32(token), 8)), uint32(token)<<8 | uint32(n)}
	}
}

func bytesOf(w uint64) eightBytes { return eightBytes{uint32(w), uint32(w >> 32)} }

func (v *vocab) addPairs() {
	v.pairs, v.met = newHashTable[uint32](len(v.made)), newBitFilter(len(v.made))
	t := &v.pairs
	for token := 256; token < len(v.made); token++ {
		hash := pairHash(v.made[token].left(), v.made[token].right())
		v.met.add(hash)
		i := hash >> t.shift
		for t.slots[i] != 0 {
			i = t.next(i)
		}
		t.slots[i] = tagged(uint32(token), hash)
	}
}
