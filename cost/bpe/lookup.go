package bpe

import "math/bits"

// longest returns the longest token that is a beginning of the first n bytes of
// s, and its length.
func (v *vocab) longest(s string, n int) (uint32, int) {
	w := word(s, 0)
	if n > 8 {
		if hash := mix(0, w); v.eight.has(hash) {
			if token, length := v.longestLong(s, n, w, hash); length > 0 {
				return token, length
			}
		}
	}
	if n > 2 {
		for lengths := v.begins.lengths(w, n); lengths != 0; {
			length := bits.Len8(lengths)
			if token, ok := v.shortToken(upTo(w, length), length); ok {
				return token, length
			}
			lengths &^= 1 << (length - 1)
		}
	}
	if n > 1 {
		if token := v.twos[uint16(w)]; token > 0 {
			return token, 2
		}
	}
	return v.singles[s[0]], 1
}

// shortToken returns the token of n bytes, from 3 to 8, which w has and nothing
// above them.
func (v *vocab) shortToken(w uint64, n int) (uint32, bool) {
	t := &v.short
	for i := shortHash(w, n) >> t.shift; ; i = t.next(i) {
		switch slot := &t.slots[i]; {
		case slot.token == 0:
			return 0, false
		case slot.is(w) && int(slot.token&15) == n:
			return slot.token >> 4, true
		}
	}
}

// longestLong is longest for tokens of more than 8 bytes; length 0: there is
// none. The first 8 bytes are w, of that hash.
func (v *vocab) longestLong(s string, n int, w, hash uint64) (token uint32, length int) {
	t := &v.long
	for i := hash >> t.shift; ; i = t.next(i) {
		slot := &t.slots[i]
		if slot.tails == 0 {
			return 0, 0
		}
		if slot.is(w) {
			tails := v.tails[slot.tails>>8:][:slot.tails&255]
			if len(tails) > few && w == uint64(s[0])*eachByte {
				tails = ofRun(tails, s, n)
			}
			return v.longestTail(tails, s, n)
		}
	}
}

// ofRun leaves out tails, all of which have the first 8 bytes of s, that begin with
// a longer run than s, which are the first.
//
// Of spaces and dashes there are runs in dozens of lengths, alone and with
// something behind them. What has something behind them begins s only if its run
// is that of s, and what has nothing is shorter, so tails come by their run first.
func ofRun(tails []tail, s string, n int) []tail {
	key := highest(runOf(s, n), min(n, longestToken))
	first := 0
	for n := len(tails); n > 1; {
		half := n / 2
		if next := first + half; tails[next-1].key > key {
			first = next
		}
		n -= half
	}
	return tails[first:]
}

// few is how many tails are looked at one by one.
const few = 8

// longestTail finds the first of some tails, all of which have the first 8 bytes
// of s, that has the next, too.
func (v *vocab) longestTail(tails []tail, s string, n int) (token uint32, length int) {
	w := word(s, 8)
	for i := range tails {
		t := &tails[i]
		token, length = t.token(), t.length()
		if length <= n && t.is(upTo(w, min(length-8, 8))) && (length <= 16 || string(v.text(token)[16:]) == s[16:length]) {
			return token, length
		}
	}
	return 0, 0
}

// runOf returns the run of the first n bytes of s, which are more than 8.
func runOf(s string, n int) (run int) {
	w := word(s, 0)
	if w != uint64(s[0])*eachByte {
		return 0
	}
	most := min(n-7, longestRun)
	for run = 1; run < most; run += 8 {
		if others := w ^ word(s, 7+run); others != 0 {
			return min(run+bits.TrailingZeros64(others)/8, most)
		}
	}
	return most
}

// merged returns the token that two merge into, whose pairHash is given, or
// noToken.
func (v *vocab) merged(l, r uint32, hash uint64) uint32 {
	t := &v.pairs
	for i := hash >> t.shift; ; i = t.next(i) {
		slot := t.slots[i]
		if slot == 0 {
			return noToken
		}
		if token := slot >> 14; hasTag(slot, hash) && v.made[token].of(l, r) {
			return token
		}
	}
}

// noToken comes after all tokens.
const noToken = 1<<32 - 1
