package bpe

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// countInvalid is count for all of a text that is not valid UTF-8. A part at a
// time, it puts U+FFFD in the place of each byte that is not.
//
// Where a part ends says nothing of where pieces do, so its last pieces are left
// for the next part. A splitter that reads up to the end of its text is at a run
// of white space or of letters, which make three pieces at most, or at an
// apostrophe with the last two bytes behind it.
func (e *Encoding) countInvalid(text string, most int64, c *counting) (n int64) {
	buffer, ok := buffers.Get().(*[]byte)
	if !ok {
		buffer = new(make([]byte, 0, 2*partSize))
	}
	part, size := (*buffer)[:0], partSize
	for n <= most {
		part, text = appendValid(part, text, size)
		if c.ended() {
			break
		}
		s := unsafe.String(unsafe.SliceData(part), len(part)) // nothing keeps it
		if text == "" {
			n += e.count(s, len(s), most-n, c)
			break
		}
		until := e.lastPieces(s)
		if until == 0 { // there is a piece that is longer
			size *= 2
			if least := n + int64(len(s)/longestToken); least > most {
				n = least
			}
			continue
		}
		if n += e.count(s, until, most-n, c); c.err != nil {
			break
		}
		part, size = part[:copy(part, part[until:])], partSize
	}
	if cap(part) <= 4*partSize {
		*buffer = part
		buffers.Put(buffer)
	}
	return n
}

const partSize = 32 << 10

var buffers sync.Pool // of parts

// appendValid appends text to part, with U+FFFD in the place of each byte that is
// not UTF-8, until part has size bytes or some more. It returns the rest of text.
func appendValid(part []byte, text string, size int) (_ []byte, rest string) {
	i, copied := 0, 0
	for i < len(text) && len(part)+i-copied < size {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, length := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && length == 1 {
			part = append(part, text[copied:i]...)
			part = utf8.AppendRune(part, utf8.RuneError)
			copied = i + 1
		}
		i += length
	}
	return append(part, text[copied:i]...), text[i:]
}

// lastPieces returns where the last 8 pieces of a text begin.
func (e *Encoding) lastPieces(text string) int {
	var starts [8]int
	i := 0
	for at := 0; at < len(text); i++ {
		starts[i%len(starts)] = at
		at = e.split(text, at)
	}
	return starts[i%len(starts)] // 0 if there are fewer
}
