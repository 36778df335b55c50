package bpe

// splitP50k is the splitter of p50k_base and r50k_base:
//
//	1  's|'t|'re|'ve|'m|'ll|'d
//	2   ?\p{L}+
//	3   ?\p{N}+
//	4   ?[^\s\p{L}\p{N}]+
//	5  \s+(?!\S)
//	6  \s+
func splitP50k(text string, i int) (end int) {
	if text[i] == '\'' {
		if end = skipLowerContraction(text, i); end > i {
			return end
		}
	}
	start := i
	if text[i] == ' ' && i+1 < len(text) {
		start++
	}
	c, size := classAt(text, start)
	switch {
	case c&classLetter != 0:
		return skipLetters(text, start+size, classLetter)
	case c == classNumber:
		return skip(text, start+size, classNumber)
	case c&classWhite == 0:
		return skip(text, start+size, classOther|classMark)
	default:
		return skipWhite(text, i, 0)
	}
}

// skipLowerContraction is `(?:'s|'t|'re|'ve|'m|'ll|'d)?`, for an apostrophe at i.
func skipLowerContraction(text string, i int) int {
	rest := text[i+1:]
	if rest == "" {
		return i
	}
	switch rest[0] {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(rest) > 1 && rest[1] == 'e' {
			return i + 3
		}
	case 'l':
		if len(rest) > 1 && rest[1] == 'l' {
			return i + 3
		}
	}
	return i
}
