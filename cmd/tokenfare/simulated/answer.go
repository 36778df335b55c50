package simulated

import (
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// answer is the text of one choice.
type answer struct {
	pieces []string // what one chunk of a stream carries: a word with the blank before it
	tokens int64    // of all pieces together
	finish string   // finish_reason: "stop" or "length"
}

// compose writes an answer to the question; the same question and seed give the same answer.
func compose(question string, seed uint64) answer {
	r := rand.New(rand.NewPCG(seed, 2))
	words := strings.Fields(question)
	topics := topicsOf(words)
	b := new(strings.Builder)
	b.WriteString(opening(len(words), topics, r))

	const perParagraph = 4
	order := r.Perm(len(sentences))
	for i, s := range order[:min(sentencesWanted(question), len(order))] {
		if i%perParagraph == perParagraph-1 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ReplaceAll(sentences[s], "{topic}", topics[i%len(topics)]))
	}
	return answer{pieces: split(b.String()), finish: "stop"}
}

func opening(words int, topics []string, r *rand.Rand) string {
	if words == 0 {
		return "You sent no words at all, so I will choose the subject myself."
	}
	count := strconv.Itoa(words) + " words"
	if words == 1 {
		count = "1 word"
	}
	return strings.NewReplacer("{words}", count, "{topic}", topics[0]).Replace(openings[r.IntN(len(openings))])
}

// sentencesWanted is how many sentences follow the opening.
func sentencesWanted(question string) int {
	q := strings.ToLower(question)
	for _, hint := range []string{"one word", "one sentence", "brief", "short", "say hello", "just say"} {
		if strings.Contains(q, hint) {
			return 1
		}
	}
	for _, hint := range []string{"long", "story", "essay", "detail", "poem", "everything"} {
		if strings.Contains(q, hint) {
			return len(sentences)
		}
	}
	return 5
}

// topicsOf picks up to three words the question seems to be about: its longest, the longest first.
func topicsOf(words []string) []string {
	const longest = 40 // bytes; what is longer is not a word
	var found []string
	for _, w := range words {
		w = strings.TrimFunc(w, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
		if utf8.RuneCountInString(w) >= 4 && len(w) <= longest && !slices.Contains(commonWords, strings.ToLower(w)) && !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return []string{"patience"}
	}
	slices.SortStableFunc(found, func(a, b string) int { return utf8.RuneCountInString(b) - utf8.RuneCountInString(a) })
	return found[:min(3, len(found))]
}

// split cuts a text before each blank and after each line's end. Encodings never merge tokens across those places, so the pieces'
// counts add up to the whole text's.
func split(text string) []string {
	var pieces []string
	start := 0
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' || text[i-1] == '\n' && text[i] != '\n' {
			pieces = append(pieces, text[start:i])
			start = i
		}
	}
	return append(pieces, text[start:])
}

// cut counts the answer and ends it at limit tokens, within a word if need be, as a model would be stopped.
func (a answer) cut(limit int64, count func(string) int64) answer {
	for i, piece := range a.pieces {
		n := count(piece)
		if n > limit-a.tokens {
			a.pieces, a.finish = a.pieces[:i], "length"
			if piece, n = beginning(piece, limit-a.tokens, count); n > 0 {
				a.pieces, a.tokens = append(a.pieces, piece), a.tokens+n
			}
			return a
		}
		a.tokens += n
	}
	return a
}

// beginning is the longest beginning of piece that counts at most limit tokens, and its count.
func beginning(piece string, limit int64, count func(string) int64) (string, int64) {
	for piece != "" && limit > 0 {
		_, size := utf8.DecodeLastRuneInString(piece)
		piece = piece[:len(piece)-size]
		if n := count(piece); n <= limit {
			return piece, n
		}
	}
	return "", 0
}

func newHash() hash.Hash64 { return fnv.New64a() }
