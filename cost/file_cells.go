package cost

import "bytes"

// sharedCells finds what the cells of a spreadsheet say that have no text of their own but the number of one in a list: a long
// text may be in every cell.
type sharedCells struct {
	lengths []int64          // of the texts, by number; in several lists the longest
	longest int64            // of them all
	named   map[uint64]int64 // how many cells have a number
	odd     int64            // cells that may have any
}

// read takes what a part has of either.
func (s *sharedCells) read(b []byte) {
	s.list(b)
	for rest, at := b, 0; ; {
		i := bytes.Index(rest, []byte("v>"))
		if i < 0 {
			return
		}
		at += i
		if closes(b[:at]) {
			s.cell(b[:at])
		}
		at += len("v>")
		rest = b[at:]
	}
}

// closes reports whether the name of an element that ends here follows a slash, with a prefix or without.
func closes(b []byte) bool {
	const mostPrefix = 64
	b = b[max(0, len(b)-mostPrefix):]
	i := bytes.LastIndexByte(b, '<')
	return i >= 0 && i+1 < len(b) && b[i+1] == '/' && (i+2 == len(b) || b[len(b)-1] == ':')
}

// list reads a list of texts.
func (s *sharedCells) list(b []byte) {
	n, begins := 0, 0
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("si>"))
		if i < 0 {
			return
		}
		at += i
		if closes(b[:at]) {
			length := xmlText(b[begins:at])
			if n == len(s.lengths) {
				s.lengths = append(s.lengths, 0)
			}
			s.lengths[n] = max(s.lengths[n], length)
			s.longest = max(s.longest, length)
			n++
			begins = at + len("si>")
		}
		at += len("si>")
	}
}

// cell takes the value that ends with what is before b's end.
func (s *sharedCells) cell(b []byte) {
	b = b[:bytes.LastIndexByte(b, '<')]
	i := bytes.LastIndexByte(b, '>')
	value := b[i+1:]
	if i < 0 || ownValue(b[:i]) {
		return
	}
	const mostDigits = 10
	number := uint64(0)
	for _, c := range value {
		if c < '0' || c > '9' || len(value) > mostDigits {
			if !bytes.ContainsAny(value, ".eE-") { // or it is no number of a text
				s.odd++
			}
			return
		}
		number = number*10 + uint64(c-'0')
	}
	if s.named == nil {
		s.named = map[uint64]int64{}
	}
	s.named[number]++
}

// ownValue reports whether the cell whose value begins behind b says nothing of a type: then it is a number.
func ownValue(b []byte) bool {
	const mostTag = 256
	b = b[max(0, len(b)-mostTag):]
	i := bytes.LastIndex(b, []byte("<c "))
	if i < 0 {
		return false
	}
	b = b[i+2:]
	end := bytes.IndexByte(b, '>')
	return end >= 0 && !bytes.ContainsAny(b[:end], "t\t\r\n&")
}

// tokens is how many bytes all cells may show.
func (s *sharedCells) tokens() (n int64) {
	for number, cells := range s.named {
		if number < uint64(len(s.lengths)) {
			n = saturatingAdd(n, saturatingMul(cells, s.lengths[number]))
		}
	}
	return saturatingAdd(n, saturatingMul(s.odd, s.longest))
}
