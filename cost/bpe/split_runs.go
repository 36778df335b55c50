package bpe

// The splitters are written by hand from the split patterns of tiktoken. What can match at i follows from the class of
// one or two characters there, so no alternative is tried only to fail at length.
//
// A whole text splits in linear time: a splitter looks at no more than its piece and the few bytes behind it, except
// where its comment shows how often a byte can be looked at in vain.

// skip returns where the run of characters of the classes in set ends that begins at i.
func skip(text string, i int, set class) int {
	for i < len(text) {
		c := byteClasses[text[i]]
		if c&set != 0 {
			i++
			continue
		}
		if c != 0 {
			return i
		}
		c, size := wideClassAt(text[i:])
		if c&set == 0 {
			return i
		}
		i += size
	}
	return i
}

// skipDigits is `\p{N}{1,3}`; a number of size bytes stands at i.
func skipDigits(text string, i, size int) int {
	i += size
	for range 2 {
		if i == len(text) {
			break
		}
		c, size := classAt(text, i)
		if c != classNumber {
			break
		}
		i += size
	}
	return i
}

// skipWhite is `\s*[\r\n]+|\s+(?!\S)|\s+` if newline is classNewline, and lacks the first alternative if it is 0.
// White space stands at i.
//
// The first alternative takes a run of white space up to its last newline, and the second all but its last character
// (the third: its only one), which goes with the word behind it, unless the text ends there. So a run makes at most
// three pieces: up to the last newline, up to the last character, and that. The first two look at the whole rest of the
// run; no byte is looked at more than three times.
func skipWhite(text string, i int, newline class) int {
	end, last, lines := i, i, i
	for end < len(text) {
		c, size := classAt(text, end)
		if c&classWhite == 0 {
			break
		}
		last, end = end, end+size
		if c&newline != 0 {
			lines = end
		}
	}
	switch {
	case lines > i:
		return lines
	case end == len(text) || last == i:
		return end
	default:
		return last
	}
}

// skipContraction is `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`, for an apostrophe at i. Case folding makes U+017F, the long s, an
// s; the other letters have no forms outside ASCII.
func skipContraction(text string, i int) int {
	rest := text[i+1:]
	if rest == "" {
		return i
	}
	switch rest[0] {
	case 's', 'S', 't', 'T', 'm', 'M', 'd', 'D':
		return i + 2
	case 'r', 'R', 'v', 'V':
		if len(rest) > 1 && rest[1]|0x20 == 'e' {
			return i + 3
		}
	case 'l', 'L':
		if len(rest) > 1 && rest[1]|0x20 == 'l' {
			return i + 3
		}
	case "ſ"[0]:
		if len(rest) > 1 && rest[1] == "ſ"[1] {
			return i + 3
		}
	}
	return i
}
