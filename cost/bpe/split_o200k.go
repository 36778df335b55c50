package bpe

const (
	o200kStart = classUpper | classCaseless | classMark // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	o200kRest  = classLower | classCaseless | classMark // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
)

// splitO200k is the splitter of o200k_base:
//
//	1  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	2  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	3  \p{N}{1,3}
//	4   ?[^\s\p{L}\p{N}]+[\r\n/]*
//	5  \s*[\r\n]+
//	6  \s+(?!\S)
//	7  \s+
func splitO200k(text string, i int) (end int) {
	c, size := classAt(text, i)
	if c&(classNumber|classNewline) == 0 {
		end = o200kWord(text, i, c, size)
		if end > i && end < len(text) && text[end] == '\'' {
			return skipContraction(text, end)
		}
		if end > i {
			return end
		}
	}
	punctuation := i
	switch {
	case c == classNumber:
		return skipDigits(text, i, size)
	case text[i] == ' ':
		punctuation++
	}
	// A mark is a word of its own at i, but behind another character it is punctuation.
	if end = skip(text, punctuation, classOther|classMark); end == punctuation {
		return skipWhite(text, i, classNewline)
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '/') {
		end++
	}
	return end
}

// o200kWord is alternatives 1 and 2 without the contraction, for a character of class c, neither number nor newline,
// at i. It returns i if neither matches.
//
// The word begins at i, or behind the character there if that is no letter. Let the run be all of [\p{Lu}…]* from there.
// If a lower-case letter follows, alternative 1 takes the run and all of [\p{Ll}…]+. If none follows, alternative 1
// needs a last character from the run: it gives back upper-case letters until one that is also in [\p{Ll}…] is the last.
// If there is none, a mark at i can still be the word; else alternative 2 takes the whole run.
//
// What is given back was looked at in vain, but it is nothing but upper-case letters, up to the end of the run: they are
// the next piece, by alternative 2. No byte is looked at more than twice here.
func o200kWord(text string, i int, c class, size int) (end int) {
	start := i
	if c&classLetter == 0 {
		start += size
	}
	end, last := start, i // last is the end of the last character in the run that may end a word
	for end < len(text) {
		c, size := classAt(text, end)
		if c == classLower {
			return skipLetters(text, end+size, o200kRest)
		}
		if c&o200kStart == 0 {
			break
		}
		end += size
		if c != classUpper {
			last = end
		}
	}
	switch {
	case last > i:
		return last
	case c == classMark:
		return start
	case end > start:
		return end
	default:
		return i
	}
}
