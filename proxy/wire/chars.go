package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// What a byte outside strings is.
const (
	otherByte uint8 = iota
	blankByte
	quoteByte
	literalByte // may stand in a number, true, false or null
	openByte
	closeByte
	colonByte
	commaByte
)

var byteClass = func() (class [256]uint8) {
	for _, set := range []struct {
		chars string
		class uint8
	}{
		{" \t\r\n", blankByte},
		{`"`, quoteByte},
		{"{[", openByte},
		{"}]", closeByte},
		{":", colonByte},
		{",", commaByte},
		{"+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", literalByte},
	} {
		for _, char := range []byte(set.chars) {
			class[char] = set.class
		}
	}
	return class
}()

// run is the number of bytes before the first that is x or y. Unlike two searches, each of which may go far beyond what
// the other found, it is linear however often they occur.
func run(b []byte, x, y byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	xs, ys := ones*uint64(x), ones*uint64(y)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		dx, dy := word^xs, word^ys // a zero byte where x or y is; the lowest one found is always a true one
		if zeros := ((dx-ones)&^dx | (dy-ones)&^dy) & tops; zeros != 0 {
			return i + bits.TrailingZeros64(zeros)/8
		}
	}
	for i < len(b) && b[i] != x && b[i] != y {
		i++
	}
	return i
}

// plainRun is the number of bytes before the first that does not stand for itself in a string: a quote, a backslash or a control
// character.
func plainRun(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		quote, slash := word^ones*'"', word^ones*'\\'
		if odd := ((quote-ones)&^quote | (slash-ones)&^slash | (word-ones*' ')&^word) & tops; odd != 0 { // as in run
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// quotedLength is how much of b, which begins behind a quote, comes before the quote that ends the string, and whether there are
// escapes in it. It ends before what JSON has no place for, too.
func quotedLength(b []byte) (n int, escaped bool) {
	for {
		n += plainRun(b[n:])
		rest := b[n:]
		switch {
		case len(rest) < 2 || rest[0] != '\\':
			return n, escaped
		case strings.IndexByte(`"\/bfnrt`, rest[1]) >= 0:
			n += 2
		case rest[1] == 'u' && len(rest) >= 6 && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]) && isHex(rest[5]):
			n += 6
		default:
			return n, escaped
		}
		escaped = true
	}
}

func isHex(c byte) bool {
	_, ok := hexDigit(c)
	return ok
}

// escape decodes the escapes of a JSON string, byte by byte. A lone surrogate becomes U+FFFD, and an escape that JSON
// does not know becomes the character behind the backslash.
type escape struct {
	state uint8 // 0: outside an escape; 1: behind the backslash; 2 to 5: that many less two digits of \u were read
	value rune
	high  rune // a high surrogate that waits for its other half; 0: none
}

// feed reads the next byte of an escape and appends what is complete.
func (e *escape) feed(dst []byte, c byte) []byte {
	if e.state == 1 {
		if c == 'u' {
			e.state, e.value = 2, 0
			return dst
		}
		e.state = 0
		return append(e.flush(dst), unescaped(c))
	}
	digit, ok := hexDigit(c)
	if !ok {
		e.state = 0
		return append(utf8.AppendRune(e.flush(dst), utf8.RuneError), c)
	}
	e.value = e.value<<4 | digit
	if e.state++; e.state < 6 {
		return dst
	}
	e.state = 0
	switch r := e.value; {
	case e.high != 0 && r >= 0xDC00 && r < 0xE000:
		r = utf16.DecodeRune(e.high, r)
		e.high = 0
		return utf8.AppendRune(dst, r)
	case r >= 0xD800 && r < 0xDC00:
		dst = e.flush(dst)
		e.high = r
		return dst
	default:
		return utf8.AppendRune(e.flush(dst), r) // a lone low surrogate is written as U+FFFD
	}
}

// flush appends what a high surrogate stands for that has no other half.
func (e *escape) flush(dst []byte) []byte {
	if e.high == 0 {
		return dst
	}
	e.high = 0
	return utf8.AppendRune(dst, utf8.RuneError)
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10, true
	default:
		return 0, false
	}
}

// appendUnescaped appends the decoded text of what stands between the quotes of a string.
func appendUnescaped(dst, s []byte) []byte {
	dst = slices.Grow(dst, len(s))
	var e escape
	for len(s) > 0 {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			dst = append(e.flush(dst), s[:n]...)
		}
		if s = s[n:]; len(s) == 0 {
			break
		}
		if e.high == 0 && len(s) > 1 && s[1] != 'u' { // nearly always
			dst, s = append(dst, unescaped(s[1])), s[2:]
			continue
		}
		e.state = 1
		for s = s[1:]; e.state != 0 && len(s) > 0; s = s[1:] {
			dst = e.feed(dst, s[0])
		}
	}
	return e.flush(dst)
}
