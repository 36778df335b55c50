package bpe

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxRun is how many bytes of an unbroken run are counted as one stretch; longer runs are cut. A power of two,
	// because the vocabularies hold repeated characters in powers of two.
	MaxRun = 512

	// MaxPiece is the length in bytes that no piece handed to the engine exceeds: a run, one character that the
	// pattern may put before a word, and a contraction ('ll) behind it.
	MaxPiece = MaxRun + 8

	// maxDigits replaces MaxRun for digits. The newer patterns take digits three at a time, and 504 bytes hold a
	// multiple of three digits in every UTF-8 length, so that cutting there changes nothing.
	maxDigits = 504

	// blockSize bounds what the engine sees at once, since it makes about a hundred bytes of garbage for each byte.
	// From here on a part ends at the next place where every pattern ends a piece; at maxBlock it ends anywhere.
	blockSize = 8 << 10
	maxBlock  = 64 << 10
)

// parts cuts valid UTF-8 into the parts that the engine counts one by one. In order they are the text.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var current run
		start, prev := 0, none
		for i, r := range text {
			k, size := kindOf(r), utf8.RuneLen(r)
			forced := current.add(k, r, size)
			length := i - start
			if forced || length >= blockSize && (endsPiece(prev, k, r) || length >= maxBlock) {
				if !yield(text[start:i]) {
					return
				}
				start = i
			}
			prev = k
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// kind is what the patterns tell characters apart by.
type kind uint8

const (
	none kind = iota
	letter
	mark // in o200k a part of words, elsewhere punctuation
	digit
	space
	newline // CR and LF: whitespace that may also end a piece of punctuation
	other
)

// run follows the unbroken run that ends at the current character. It errs on the long side: whatever some pattern may
// keep in one piece is one run, but for the few bytes that MaxPiece allows for.
type run struct {
	kind  kind // letter, mark, digit, space or other
	bytes int
	// How many bytes at the end of the run are marks, or newlines behind punctuation. They may belong to what follows.
	marks, newlines int
}

// add takes the next character, r of kind k, and reports whether the run must be cut before it.
func (u *run) add(k kind, r rune, size int) (cut bool) {
	if !u.continues(k, r) {
		switch {
		case k == newline && u.marks == 0:
			*u = run{kind: space}
		case k == newline:
			*u = run{kind: other, bytes: u.marks} // to all but o200k the marks are punctuation, which newlines may end
		case k == space:
			*u = run{kind: k, bytes: u.newlines} // to p50k the newlines are no part of the punctuation before them
		default:
			*u = run{kind: k, bytes: u.marks} // words of o200k begin with marks, and so does punctuation elsewhere
		}
	}
	limit := MaxRun
	if u.kind == digit {
		limit = maxDigits
	}
	if u.bytes+size > limit {
		*u = run{kind: u.kind}
		cut = true
	}
	u.bytes += size
	u.marks, u.newlines = tail(u.marks, size, k == mark), tail(u.newlines, size, k == newline && u.kind == other)
	return cut
}

// continues reports whether the character may stand in one piece with the run before it.
func (u *run) continues(k kind, r rune) bool {
	switch k {
	case mark:
		return (u.kind == letter || u.kind == other || u.kind == mark) && u.newlines == 0
	case newline:
		return u.kind == other || u.kind == space
	case other:
		return u.kind == other && (u.newlines == 0 || r == '/') // o200k: [\r\n/]*
	default:
		return u.kind == k
	}
}

// tail grows a count of trailing bytes, or drops it.
func tail(bytes, size int, grows bool) int {
	if grows {
		return bytes + size
	}
	return 0
}

// endsPiece reports whether every pattern ends a piece between a character of kind prev and r, of kind k, whatever
// stands around them; then counting the two sides apart changes nothing.
func endsPiece(prev, k kind, r rune) bool {
	switch prev {
	case letter, digit:
		// An apostrophe may begin a contraction, and marks may continue a word.
		return k == space || k == newline || prev == letter && k == digit || k == other && r != '\''
	case other, mark:
		return k == space
	default:
		return false
	}
}

func kindOf(r rune) kind {
	if r < utf8.RuneSelf {
		return asciiKinds[r]
	}
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	default:
		return other
	}
}

// asciiKinds is kindOf for the characters that most text consists of.
var asciiKinds = func() (kinds [utf8.RuneSelf]kind) {
	for r := range kinds {
		switch {
		case 'a' <= r|0x20 && r|0x20 <= 'z':
			kinds[r] = letter
		case '0' <= r && r <= '9':
			kinds[r] = digit
		case r == '\r' || r == '\n':
			kinds[r] = newline
		case r == ' ' || r == '\t' || r == '\v' || r == '\f':
			kinds[r] = space
		default:
			kinds[r] = other
		}
	}
	return kinds
}()
