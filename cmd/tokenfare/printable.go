package main

import (
	"strconv"
	"strings"
	"unicode"
)

// printable writes out what would not be seen, as Go does: \x1b, \u202e. Labels and names of models are the callers' own words,
// and a terminal takes some characters for commands, or shows text in another order than it has.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			b.WriteString(hexEscape(s[i]))
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// hexEscape writes a byte as \x1b.
func hexEscape(c byte) string {
	const digits = "0123456789abcdef"
	return `\x` + string(digits[c>>4]) + string(digits[c&15])
}

// cells is how wide a terminal shows a text that is printable: marks stand on the character before them, and those of East Asia
// take two cells.
func cells(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case r >= 0x1100 && unicode.Is(wide, r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wide are the ranges that Unicode's EastAsianWidth.txt calls wide or fullwidth, rounded to whole blocks.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xa960, 0xa97c, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}
