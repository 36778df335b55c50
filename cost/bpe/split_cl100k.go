package bpe

// splitCL100k is the splitter of cl100k_base:
//
//	1  (?i:'s|'t|'re|'ve|'m|'ll|'d)
//	2  [^\r\n\p{L}\p{N}]?\p{L}+
//	3  \p{N}{1,3}
//	4   ?[^\s\p{L}\p{N}]+[\r\n]*
//	5  \s*[\r\n]+
//	6  \s+(?!\S)
//	7  \s+
func splitCL100k(text string, i int) (end int) {
	if text[i] == '\'' {
		if end = skipContraction(text, i); end > i {
			return end
		}
	}
	c, size := classAt(text, i)
	switch {
	case c&classLetter != 0:
		return skipLetters(text, i+size, classLetter)
	case c == classNumber:
		return skipDigits(text, i, size)
	case c != classNewline && i+size < len(text):
		if next, nextSize := classAt(text, i+size); next&classLetter != 0 {
			return skipLetters(text, i+size+nextSize, classLetter)
		}
	}
	punctuation := i
	if text[i] == ' ' {
		punctuation++
	}
	if end = skip(text, punctuation, classOther|classMark); end == punctuation {
		return skipWhite(text, i, classNewline)
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
		end++
	}
	return end
}
