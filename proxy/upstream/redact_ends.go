package upstream

import (
	"bytes"
	"slices"
)

// Events end with two line ends, which are LF, CR or CRLF (WHATWG HTML, section 9.2.6); longestEnd is how long two can be.
const longestEnd = 4

// firstEnd is where the first event ends in a piece that goes on where before ended; -1: nowhere.
func firstEnd(before, piece []byte) int {
	lf := -1 // the next one: looked for again for each CR, it would take quadratic time
	for at := 0; at < len(piece); at++ {
		if lf < at {
			if lf = bytes.IndexByte(piece[at:], '\n'); lf < 0 {
				lf = len(piece)
			} else {
				lf += at
			}
		}
		if cr := bytes.IndexByte(piece[at:lf], '\r'); cr >= 0 {
			at += cr
		} else {
			at = lf
		}
		if at < len(piece) && endsAt(before, piece, at) {
			return at + 1
		}
	}
	return -1
}

// lastEnd is where the last event ends in such a piece; -1: nowhere.
func lastEnd(before, piece []byte) int {
	if bytes.IndexByte(piece, '\n') < 0 && bytes.IndexByte(piece, '\r') < 0 {
		return -1 // in the middle of a long line
	}
	for i, c := range slices.Backward(piece) { // in most pieces it is there at once
		if (c == '\n' || c == '\r') && endsAt(before, piece, i) {
			return i + 1
		}
	}
	return -1
}

// endsAt reports whether the byte at piece[i], which is LF or CR, is the last one of an event.
func endsAt(before, piece []byte, i int) bool {
	behind := func(n int) byte {
		if i >= n {
			return piece[i-n]
		}
		if at := len(before) + i - n; at >= 0 {
			return before[at]
		}
		return 0
	}
	return behind(1) == piece[i] || piece[i] == '\n' && behind(1) == '\r' && behind(2) == '\n' && behind(3) == '\r'
}
