package bpe

import "math/bits"

// shortToken returns the token of n bytes, from 3 to 8, which w has and nothing
// above them.
func (v *vocab) shortToken(w uint64, n int) (uint32, bool) {
	t := &v.short
	for i := shortHash(w, n) >> t.shift; ; i = t.next(i) {
		key := t.slots[i]
		if key != w && key != 0 {
			continue
		}
		switch token := v.shortTokens[i]; {
		case token == 0:
			return 0, false
		case key == w && int(token&15) == n:
			return token >> 4, true
		}
	}
}

// longToken returns the token that is the first n bytes of s, more than 8,
// with that hash.
func (v *vocab) longToken(s string, n int, hash uint64) (uint32, bool) {
	t := &v.long
	for i := hash >> t.shift; ; i = t.next(i) {
		slot := t.slots[i]
		if slot == 0 {
			return 0, false
		}
		if token := slot >> 14; hasTag(slot, hash) && v.text(token) == s[:n] {
			return token, true
		}
	}
}

// token returns the token that is all of the first n bytes of s.
func (v *vocab) token(s string, n int) (uint32, bool) {
	switch {
	case n == 1:
		return v.singles[s[0]], true
	case n == 2:
		token := v.twos[uint16(word(s, 0))]
		return token, token > 0
	case n <= 8:
		w := upTo(word(s, 0), n)
		if v.begins.lengths(w, n)>>(n-1) == 0 {
			return 0, false
		}
		return v.shortToken(w, n)
	case n > longestToken:
		return 0, false
	}
	return v.longToken(s, n, longHash(s, n))
}

// longest returns the longest token that is a beginning of the first n bytes of
// s, and its length.
func (v *vocab) longest(s string, n int) (uint32, int) {
	if n > 8 && v.eight.has(mix(0, word(s, 0))) {
		if token, length := v.longestLong(s, min(n, longestToken)); length > 0 {
			return token, length
		}
	}
	if n = min(n, 8); n > 1 {
		w := word(s, 0)
		for lengths := v.begins.lengths(w, n); lengths != 0; {
			length := bits.Len8(lengths)
			if token, ok := v.shortToken(upTo(w, length), length); ok {
				return token, length
			}
			lengths &^= 1 << (length - 1)
		}
		if token := v.twos[uint16(w)]; token > 0 {
			return token, 2
		}
	}
	return v.singles[s[0]], 1
}

// longestLong is longest for tokens of more than 8 bytes; length 0: there is
// none. How far any token begins like s it finds out first, by the levels.
func (v *vocab) longestLong(s string, n int) (token uint32, length int) {
	var c chain
	var lengths [len(levelLengths)]uint64
	level := 0
	for ; level < len(levelLengths) && levelLengths[level] < n; level++ {
		begin := levelLengths[level]
		c.reach(s, begin)
		all, ok := v.levels[level].lengths(c.hashes[begin/8])
		if !ok {
			break
		}
		lengths[level] = all & (1<<min(n-begin, begin) - 1)
	}
	c.reach(s, min(n-1, longestToken-1)&^7)
	for level--; level >= 0; level-- {
		for left := lengths[level]; left != 0; {
			length := levelLengths[level] + bits.Len64(left)
			if token, ok := v.longToken(s, length, c.hash(s, length)); ok {
				return token, length
			}
			left &^= 1 << (bits.Len64(left) - 1)
		}
	}
	return 0, 0
}

// lengths returns those of the tokens that begin with bytes of that hash.
func (t *levelTable) lengths(hash uint64) (uint64, bool) {
	for i := hash >> t.shift; ; i = t.next(i) {
		switch s := &t.slots[i]; {
		case s.lengths == 0:
			return 0, false
		case s.hash == hash:
			return s.lengths, true
		}
	}
}

// addLength notes a token that goes beyond the begin bytes of that hash.
func (t *levelTable) addLength(hash uint64, begin, length int) {
	i := hash >> t.shift
	for t.slots[i].lengths != 0 && t.slots[i].hash != hash {
		i = t.next(i)
	}
	t.slots[i].hash = hash
	if length > 2*begin {
		t.slots[i].lengths |= more
	} else {
		t.slots[i].lengths |= 1 << (length - begin - 1)
	}
}

// merged returns the token that two merge into.
func (v *vocab) merged(l, r uint32) (uint32, bool) {
	hash := pairHash(l, r)
	if !v.met.has(hash) {
		return 0, false
	}
	t := &v.pairs
	for i := hash >> t.shift; ; i = t.next(i) {
		slot := t.slots[i]
		if slot == 0 {
			return 0, false
		}
		if token := slot >> 14; hasTag(slot, hash) && v.halves[token] == [2]uint32{l, r} {
			return token, true
		}
	}
}
