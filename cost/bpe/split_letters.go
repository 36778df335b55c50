package bpe

import "math/bits"

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// skipLetters is skip for a set that has the lower-case letters. Most words are shorter than eight letters, and eight
// bytes are looked at as one number: that saves the branch per letter, whose end the processor cannot foresee.
func skipLetters(text string, i int, set class) int {
	var toLower uint64
	if set&classUpper != 0 {
		toLower = 0x20 * eachByte
	}
	for i+8 <= len(text) {
		n := leadingLetters(eight(text[i:i+8]), toLower)
		i += n
		if n == 8 {
			continue
		}
		if c := byteClasses[text[i]]; c != 0 && c&set == 0 {
			return i
		}
		break // at a longer character, perhaps a letter
	}
	return skip(text, i, set)
}

// leadingLetters returns how many of eight bytes come before the first that is none of a to z, once the bits of toLower
// are set in it. The first byte is the lowest.
func leadingLetters(bytes, toLower uint64) int {
	// Without its high bit, a byte carries nothing into the next when it is raised to make the bit tell where it stands.
	low := (bytes | toLower) &^ highBits
	fromA, beyondZ := low+(0x80-'a')*eachByte, low+(0x80-'z'-1)*eachByte
	letters := fromA &^ beyondZ &^ bytes & highBits
	return bits.TrailingZeros64(letters^highBits) / 8
}
