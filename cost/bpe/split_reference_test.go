package bpe

import (
	"slices"
	"unicode"
)

// A matcher is a regular expression in its plainest form: it tries to match text from i on and calls next with each
// place where the match may end, the preferred one first, until next is content. It backtracks as tiktoken's engine does
// and takes whatever time that takes. The patterns below are those of openai/tiktoken, alternative by alternative.
type matcher func(text []rune, i int, next func(end int) bool) bool

var (
	aLetter = is(classLetter)
	aNumber = is(classNumber)
	aSpace  = is(classWhite)
	aStart  = is(classUpper | classCaseless | classMark)
	aRest   = is(classLower | classCaseless | classMark)

	prefix      = isNot(classNewline | classLetter | classNumber)
	punctuation = plus(isNot(classWhite | classLetter | classNumber))
	gap         = alt(seq(plus(aSpace), noWordNext), plus(aSpace)) // \s+(?!\S)|\s+

	contraction = alt(fold("'s"), fold("'t"), fold("'re"), fold("'ve"), fold("'m"), fold("'ll"), fold("'d"))

	references = map[string]matcher{
		"o200k": alt(
			seq(opt(prefix), star(aStart), plus(aRest), opt(contraction)),
			seq(opt(prefix), plus(aStart), star(aRest), opt(contraction)),
			seq(aNumber, opt(aNumber), opt(aNumber)),
			seq(opt(among(" ")), punctuation, star(among("\r\n/"))),
			seq(star(aSpace), plus(among("\r\n"))),
			gap,
		),
		"cl100k": alt(
			contraction,
			seq(opt(prefix), plus(aLetter)),
			seq(aNumber, opt(aNumber), opt(aNumber)),
			seq(opt(among(" ")), punctuation, star(among("\r\n"))),
			seq(star(aSpace), plus(among("\r\n"))),
			gap,
		),
		"p50k": alt(
			lit("'s"), lit("'t"), lit("'re"), lit("'ve"), lit("'m"), lit("'ll"), lit("'d"),
			seq(opt(among(" ")), plus(aLetter)),
			seq(opt(among(" ")), plus(aNumber)),
			seq(opt(among(" ")), punctuation),
			gap,
		),
	}

	splitters = map[string]func(text string, i int) int{"o200k": splitO200k, "cl100k": splitCL100k, "p50k": splitP50k}
)

func referenceSplit(m matcher, text string) (pieces []string) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		end := i
		m(runes, i, func(e int) bool { end = e; return true })
		if end == i {
			panic("BUG: no alternative matches")
		}
		pieces = append(pieces, string(runes[i:end]))
		i = end
	}
	return pieces
}

func splitAll(split func(string, int) int, text string) (pieces []string) {
	for i := 0; i < len(text); {
		end := split(text, i)
		if end <= i || end > len(text) {
			return append(pieces, "BUG: no piece")
		}
		pieces = append(pieces, text[i:end])
		i = end
	}
	return pieces
}

func one(ok func(r rune) bool) matcher {
	return func(text []rune, i int, next func(int) bool) bool {
		return i < len(text) && ok(text[i]) && next(i+1)
	}
}

func is(set class) matcher    { return one(func(r rune) bool { return classOf(r)&set != 0 }) }
func isNot(set class) matcher { return one(func(r rune) bool { return classOf(r)&set == 0 }) }

func among(chars string) matcher {
	return one(func(r rune) bool { return slices.Contains([]rune(chars), r) })
}

func lit(word string) matcher {
	var ms []matcher
	for _, r := range word {
		ms = append(ms, among(string(r)))
	}
	return seq(ms...)
}

// fold is lit for (?i:word), with all simple case foldings of Unicode.
func fold(word string) matcher {
	var ms []matcher
	for _, r := range word {
		ms = append(ms, among(folds(r)))
	}
	return seq(ms...)
}

func folds(r rune) string {
	all := string(r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all += string(f)
	}
	return all
}

func seq(ms ...matcher) matcher {
	if len(ms) == 0 {
		return func(_ []rune, i int, next func(int) bool) bool { return next(i) }
	}
	first, others := ms[0], seq(ms[1:]...)
	return func(text []rune, i int, next func(int) bool) bool {
		return first(text, i, func(end int) bool { return others(text, end, next) })
	}
}

func alt(ms ...matcher) matcher {
	return func(text []rune, i int, next func(int) bool) bool {
		return slices.ContainsFunc(ms, func(m matcher) bool { return m(text, i, next) })
	}
}

func opt(m matcher) matcher { return alt(m, seq()) }

func star(m matcher) matcher {
	return func(text []rune, i int, next func(int) bool) bool {
		return m(text, i, func(end int) bool { return star(m)(text, end, next) }) || next(i)
	}
}

func plus(m matcher) matcher { return seq(m, star(m)) }

// noWordNext is (?!\S).
func noWordNext(text []rune, i int, next func(int) bool) bool {
	return (i == len(text) || classOf(text[i])&classWhite != 0) && next(i)
}
