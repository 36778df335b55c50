package cost

import (
	"bytes"
	"unicode/utf16"
)

// pdfStrings is how many bytes the strings have in what is shown, as letters in parentheses and as hexadecimal digits. Nothing
// that a reader sees as a string is left out, whatever stands before it: where it begins, this is either outside of strings, too,
// or within one that goes on.
func pdfStrings(b []byte) (n int64) {
	depth, digits, hexed, literal := 0, int64(0), false, int64(0)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if depth > 0 {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			case '\\':
				i++
				literal++
			}
			literal++
			continue
		}
		switch {
		case c == '(':
			depth = 1
		case c == '<':
			hexed = true
		case c == '>':
			hexed = false
		case hexed && hexDigit[c] < 16:
			digits++
		}
	}
	return literal + (digits+1)/2
}

// pdfWidest is the most tokens that a byte of text may stand for by the tables that say what characters the codes of a font are:
// one for Latin letters and what goes with them, the bytes of UTF-8 for others, the sum where a code is several.
func pdfWidest(b []byte) (most int64) {
	most = 1
	for _, table := range []struct {
		begins, ends string
		every        int // string is a character, the others are codes
	}{{"beginbfchar", "endbfchar", 2}, {"beginbfrange", "endbfrange", 3}} {
		for rest := b; ; {
			i := bytes.Index(rest, []byte(table.begins))
			if i < 0 {
				break
			}
			rest = rest[i+len(table.begins):]
			end := bytes.Index(rest, []byte(table.ends))
			if end < 0 {
				end = len(rest)
			}
			most = max(most, tableWidest(rest[:end], table.every))
			rest = rest[end:]
		}
	}
	return most
}

// tableWidest is pdfWidest for one table.
func tableWidest(b []byte, every int) (most int64) {
	if bytes.IndexByte(b, '(') >= 0 {
		return int64(len(b))
	}
	if bytes.IndexByte(b, '%') >= 0 {
		every = 1
	}
	list, nth := false, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[':
			list = true
		case ']':
			list, nth = false, 0
		case '<':
			end := bytes.IndexByte(b[i:], '>')
			if end < 0 {
				end = len(b) - i
			}
			if nth++; list || nth == every {
				most = max(most, charactersWidest(b[i:i+end]))
				if !list {
					nth = 0
				}
			}
			i += end
		}
	}
	return most
}

// charactersWidest is how many tokens the characters may be that are given in hexadecimal UTF-16.
func charactersWidest(digits []byte) (n int64) {
	var units []uint16
	unit, have := uint16(0), 0
	for _, c := range digits {
		if hexDigit[c] == 16 {
			continue
		}
		unit = unit<<4 | uint16(hexDigit[c])
		if have++; have%4 == 0 {
			units = append(units, unit)
		}
	}
	if have%4 != 0 {
		units = append(units, unit)
	}
	runes := utf16.Decode(units)
	switch string(runes) {
	case "ff", "fi", "fl", "ffi", "ffl": // letters that are cast as one
		return 1
	}
	for _, r := range runes {
		switch {
		case r < 0x180, r >= 0x2010 && r <= 0x2026, r == 0x20ac:
			n++
		case r < 0x800:
			n += 2
		case r < 0x10000:
			n += 3
		default:
			n += 4
		}
	}
	return n
}
