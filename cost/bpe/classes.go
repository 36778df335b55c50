package bpe

import "unicode/utf8"

//go:generate go run ./gen/classes -download

// A class is what the split patterns tell characters apart by. Each character has exactly one; a set of classes is
// their sum. The tables are of Unicode 16.0, as the models' tokenizer has them; Go's own are of another edition.
type class uint8

// The generator knows this order.
const (
	classOther    class = 1 << iota // punctuation, symbols, controls, unassigned, and U+FEFF, which is no white space
	classUpper                      // Lu, Lt
	classLower                      // Ll
	classCaseless                   // Lm, Lo
	classMark                       // M: in o200k a part of words, elsewhere punctuation
	classNumber                     // N
	classSpace                      // White_Space but for CR and LF
	classNewline                    // CR, LF

	classLetter = classUpper | classLower | classCaseless
	classWhite  = classSpace | classNewline
)

// byteClasses holds the classes of ASCII, and 0 for the bytes of longer characters: most text needs no other table.
var byteClasses = func() (classes [256]class) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = classOf(r)
	}
	return classes
}()

// classOf returns the class of any r that is not negative.
func classOf(r rune) class {
	block := int(r) >> classBlockBits
	if block >= len(classIndex) {
		return classOther
	}
	return 1 << (classBlocks[int(classIndex[block])<<classBlockBits|int(r)&(1<<classBlockBits-1)] & 7)
}

// classAt returns the class and the length of the character at text[i].
func classAt(text string, i int) (c class, size int) {
	c, size = byteClasses[text[i]], 1
	if c == 0 {
		c, size = wideClassAt(text[i:])
	}
	return
}

// wideClassAt is classAt for characters of more than one byte. It decodes without checking, because text is valid;
// were it not, the class would be wrong but the length still within text.
func wideClassAt(b string) (c class, size int) {
	switch {
	case len(b) >= 2 && b[0] < 0xe0:
		return classOf(rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f)), 2
	case len(b) >= 3 && b[0] < 0xf0:
		return classOf(rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)), 3
	case len(b) >= 4:
		return classOf(rune(b[0]&0x07)<<18 | rune(b[1]&0x3f)<<12 | rune(b[2]&0x3f)<<6 | rune(b[3]&0x3f)), 4
	default:
		return classOther, len(b)
	}
}
