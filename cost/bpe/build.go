package bpe

import (
	"encoding/binary"
	"sync"
)

// newVocab builds the tables from what gen/vocab wrote: the first 256 tokens'
// bytes, and what all others are made of.
func newVocab(table string) *vocab {
	n := 256 + (len(table)-256)/7
	v := &vocab{
		start: take[uint32](n + 1)[:1],
		made:  take[made](n),
		twos:  (*[1 << 16]uint32)(take[uint32](1 << 16)),

		begins: &take[filters](1)[0],
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
	all := take[byte](int(v.start[len(v.made)]) + 8)
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
	v.tails = take[tail](int(first))
	for token, m := range v.made {
		n := m.length()
		if n <= 8 {
			continue
		}
		slot := &t.slots[slots[0]]
		slots = slots[1:]
		slot.tails++
		place := v.tails[slot.tails>>8:][:slot.tails&255]
		t := newTail(runOf(string(v.text(uint32(token))), n), n, uint32(token), v.word(uint32(token), 8))
		i := len(place) - 1
		for ; i > 0 && place[i-1].key < t.key; i-- {
			place[i] = place[i-1]
		}
		place[i] = t
	}
}

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

// newHashTable returns a table of which n entries fill at most half.
func newHashTable[S any](n int) hashTable[S] {
	t := hashTable[S]{shift: 64 - 4}
	for 1<<(64-t.shift) < 2*n {
		t.shift--
	}
	t.slots = take[S](1 << (64 - t.shift))
	clear(t.slots) // memory that is read before it is written costs the system two page faults
	return t
}
