package cost

import (
	"encoding/binary"
	"unicode/utf8"
)

// xlsText is what may be shown of a table in Excel's format before 2007 ([MS-XLS]), given the stream that it is: its bytes, and for
// each cell that has the number of a text in a list, that text. What readers may read in more than one way is unreadable.
func xlsText(stream []byte) int64 {
	const (
		head   = 4
		nested = 0x3c // goes on with the record before

		ends, encrypted, sheet, numbers, texts, label = 0x0a, 0x2f, 0x85, 0xbd, 0xfc, 0xfd
	)
	var cells sharedCells
	var listed []uint32 // where sheets begin, by their list
	var list [][]byte
	begin := map[uint32]bool{} // where parts begin that are in no other
	depth, last, more := 0, 0, int64(0)
	for at := 0; at+head <= len(stream); {
		kind := int(binary.LittleEndian.Uint16(stream[at:]))
		data := stream[at+head:]
		data = data[:min(len(data), int(binary.LittleEndian.Uint16(stream[at+2:])))]
		switch kind {
		case 0x809, 0x409, 0x209, 0x9:
			if depth == 0 {
				begin[uint32(at)] = true
			}
			depth++
		case ends:
			depth = max(0, depth-1)
		case encrypted:
			return unreadable // commonly with a password that all readers know
		case sheet:
			if len(data) < head {
				return unreadable
			}
			listed = append(listed, binary.LittleEndian.Uint32(data))
		case numbers:
			more += int64(len(data)) // a number of six bytes may have twice as many digits
		case texts:
			if list != nil {
				return unreadable
			}
			list = [][]byte{data}
		case nested:
			if last == texts {
				list, kind = append(list, data), texts
			}
		case label:
			const number = 6
			if len(data) < number+4 {
				return unreadable
			}
			cells.count(uint64(binary.LittleEndian.Uint32(data[number:])))
		}
		last = kind
		at += head + len(data)
	}
	for _, at := range listed {
		if !begin[at] {
			return unreadable // it is shown twice, or is something else as well
		}
		delete(begin, at)
	}
	if list != nil && !cells.readXLS(list) {
		return unreadable
	}
	return saturatingAdd(int64(len(stream))+more, cells.tokens())
}

// readXLS takes the list of texts, which is in pieces, and reports whether it could be read (SST and Continue, sections 2.4.265 and
// 2.4.58).
func (s *sharedCells) readXLS(list [][]byte) bool {
	const head, isWide, isExtended, isRich = 8, 1, 4, 8
	if len(list[0]) < head {
		return false
	}
	r := xlsList{list[0][head:], list[1:]}
	for n := 0; r.more(); n++ {
		at, rest := 3, 0 // behind its length and what it has
		if len(r.piece) < at {
			return false
		}
		flags := r.piece[2]
		if flags&isRich != 0 {
			if at += 2; len(r.piece) < at {
				return false
			}
			const run = 4
			rest = run * int(binary.LittleEndian.Uint16(r.piece[at-2:]))
		}
		if flags&isExtended != 0 {
			if at += 4; len(r.piece) < at {
				return false
			}
			rest += int(binary.LittleEndian.Uint32(r.piece[at-4:]))
		}
		left, length := int(binary.LittleEndian.Uint16(r.piece)), int64(0)
		wide := flags&isWide != 0
		for r.piece = r.piece[at:]; left > 0; {
			if len(r.piece) == 0 { // it goes on in the next piece, in one byte for each character or two
				if !r.more() {
					return false
				}
				wide, r.piece = r.piece[0]&isWide != 0, r.piece[1:]
			}
			took, shown := xlsLetters(r.piece, left, wide)
			if took == 0 && len(r.piece) > 0 {
				return false
			}
			left, length = left-took, length+shown
			if wide {
				took *= 2
			}
			r.piece = r.piece[took:]
		}
		for rest > 0 {
			if !r.more() {
				return false
			}
			took := min(rest, len(r.piece))
			rest, r.piece = rest-took, r.piece[took:]
		}
		s.text(n, length)
	}
	return true
}

// xlsList is a list of texts as far as it has not been read.
type xlsList struct {
	piece []byte
	next  [][]byte
}

// more reports whether anything is left, which piece then has the beginning of.
func (r *xlsList) more() bool {
	for len(r.piece) == 0 && len(r.next) > 0 {
		r.piece, r.next = r.next[0], r.next[1:]
	}
	return len(r.piece) > 0
}

// xlsLetters is how many characters stand here, up to so many, and how many bytes they have as UTF-8.
func xlsLetters(b []byte, most int, wide bool) (letters int, shown int64) {
	size := 1
	if wide {
		size = 2
	}
	letters = min(most, len(b)/size)
	for i := range letters {
		c := uint16(b[i*size])
		if wide {
			c |= uint16(b[i*size+1]) << 8
		}
		shown += int64(max(1, utf8.RuneLen(rune(c)))) // half of a surrogate pair is two bytes
		if c >= 0xd800 && c < 0xe000 {
			shown += 2
		}
	}
	return letters, shown
}
