package limit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence bounds the work one sentence can cause, in bytes.
const maxSentence = 1024

// word is one blank-separated part of a sentence; text keeps its case.
type word struct {
	text string
	off  int
}

func (w word) is(s string) bool { return strings.EqualFold(w.text, s) }

// oneOf returns the index of the string the word equals, or -1.
func (w word) oneOf(list ...string) int {
	for i, s := range list {
		if w.is(s) {
			return i
		}
	}
	return -1
}

// clauses splits a sentence at its commas, and each part at its blanks. A comma between two digits belongs to the
// number ("1,000"), so that the complaint is about the number. A part between two commas may be empty.
func clauses(sentence string) ([][]word, *Error) {
	if len(sentence) > maxSentence {
		return nil, &Error{Length: maxSentence, Msg: "this sentence is longer than 1000 characters", Fix: "split it into several limits"}
	}
	parts := [][]word{nil}
	start := -1
	end := func(i int) {
		if start >= 0 {
			last := &parts[len(parts)-1]
			*last = append(*last, word{text: sentence[start:i], off: start})
			start = -1
		}
	}
	for i, r := range sentence {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r):
			return nil, &Error{Offset: i, Length: 1, Msg: "the sentence holds a character that cannot be printed", Fix: "remove it; " + examples}
		case unicode.IsSpace(r):
			end(i)
		case r == ',' && !(i > 0 && digit(sentence[i-1]) && i+1 < len(sentence) && digit(sentence[i+1])):
			end(i)
			parts = append(parts, nil)
		case start < 0:
			start = i
		}
	}
	end(len(sentence))
	return parts, nil
}

func digit(b byte) bool { return '0' <= b && b <= '9' }
