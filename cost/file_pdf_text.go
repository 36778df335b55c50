package cost

import (
	"bytes"
	"strings"
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
			end := firstOf(rest, table.ends)
			if bytes.IndexByte(rest[:end], '%') >= 0 { // its end may be in a comment
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
	if !tidyTable(b) {
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

// tidyTable reports whether a table has nothing but strings in hexadecimal and lists of them: readers skip what else there is, and
// go on with what is a code there.
func tidyTable(b []byte) bool {
	for _, c := range b {
		if hexDigit[c] == 16 && bytes.IndexByte([]byte(pdfSpace+"<>[]"), c) < 0 {
			return false
		}
	}
	inside := false
	for _, c := range b {
		switch {
		case c == '<' || c == '>':
			inside = c == '<'
		case hexDigit[c] < 16 && !inside:
			return false
		}
	}
	return true
}

// glyphWidest is the most tokens that the glyph of a name may stand for: it may be made of several, as f_i, or of characters given
// by number, as uni00660069. One for names of letters, and those that are cast as one.
func glyphWidest(name string) (n int64) {
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "f_f", "f_i", "f_l", "f_f_i", "f_f_l", "f_t", "f_j", "t_t", "T_h", "c_t", "s_t":
		return 1
	}
	for part := range strings.SplitSeq(name, "_") {
		digits, uni := strings.CutPrefix(part, "uni")
		if !uni {
			digits, uni = strings.CutPrefix(part, "u")
			uni = uni && len(digits) > 3
		}
		if uni && strings.Trim(digits, "0123456789abcdefABCDEF") == "" {
			n += max(1, charactersWidest([]byte(digits)))
			continue
		}
		n++
	}
	return n
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
