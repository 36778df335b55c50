package cost

import (
	"bytes"
	"slices"
)

// sharedCells finds what the cells of a spreadsheet say that have no text of their own but the number of one in a list: a long
// text may be in every cell.
type sharedCells struct {
	lengths []int64          // of the texts, by number; in several lists the longest
	longest int64            // of them all
	named   map[uint64]int64 // how many cells have a number
	odd     int64            // cells that may have any
	unsure  bool             // it is not known which text has which number
}

// read takes what a part has of either. Comments, and text that is marked as such, may have anything in them: then every cell may
// have every text.
func (s *sharedCells) read(b []byte) {
	clear := !bytes.Contains(b, []byte("<!")) && bytes.LastIndex(b, []byte("<?")) <= bytes.IndexByte(b, '<')
	n, begins, lists := 0, 0, false
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			break
		}
		at += i + 1
		name, end := elementName(b[at:])
		end += at
		switch {
		case end < len(b) && b[end] == '/' && string(name) == "si": // it is empty
			s.text(n, 0)
			n++
		case b[min(at, len(b)-1)] != '/':
			clear = clear && (string(name) != "si" || end < len(b) && b[end] == '>') // it may be empty
		case string(name) == "v" && clear:
			s.cell(b[:at-1])
		case string(name) == "v":
			s.odd++
		case string(name) == "si":
			s.text(n, xmlText(b[begins:at-1]))
			n, begins, lists = n+1, end, true
		}
	}
	if lists && !clear {
		s.longest, s.unsure = max(s.longest, xmlText(b)), true
	}
}

// elementName is the name of the element whose tag goes on here, behind its <, without a prefix, and where what is behind it
// begins.
func elementName(b []byte) (name []byte, end int) {
	begins := 0
	if len(b) > 0 && b[0] == '/' {
		begins = 1
	}
	end = begins
	for ; end < len(b); end++ {
		switch b[end] {
		case ':':
			begins = end + 1
		case ' ', '\t', '\r', '\n', '/', '>', '<':
			name = b[begins:end]
			for end < len(b) && bytes.IndexByte([]byte(" \t\r\n"), b[end]) >= 0 {
				end++
			}
			return name, end
		}
	}
	return nil, end
}

// text takes the next text of a list.
func (s *sharedCells) text(n int, length int64) {
	if n == len(s.lengths) {
		s.lengths = append(s.lengths, 0)
	}
	s.lengths[n] = max(s.lengths[n], length)
	s.longest = max(s.longest, length)
}

// cell takes the value that ends where b does.
func (s *sharedCells) cell(b []byte) {
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
	s.count(number)
}

// count takes a cell that has the text of that number.
func (s *sharedCells) count(number uint64) {
	if s.named == nil {
		s.named = map[uint64]int64{}
	}
	s.named[number]++
}

// ownValue reports whether the cell whose value begins behind b says nothing of a type, or of one that has its own value: then it
// has no number of a text.
func ownValue(b []byte) bool {
	const mostTag = 256
	b = b[max(0, len(b)-mostTag):]
	i := bytes.LastIndex(b, []byte("<c "))
	if i < 0 {
		return false
	}
	tag, rest, ends := bytes.Cut(b[i+len("<c "):], []byte(">"))
	if !ends || bytes.ContainsAny(tag, "\t\r\n&'<") {
		return false
	}
	if formula, is := bytes.CutPrefix(rest, []byte("<f")); is {
		head, behind, _ := bytes.Cut(formula, []byte(">"))
		if !bytes.HasSuffix(head, []byte("/")) {
			_, behind, _ = bytes.Cut(behind, []byte("</f>"))
		}
		if len(formula)-len(behind) != len(head)+1 && bytes.Count(formula[:len(formula)-len(behind)], []byte("<")) != 1 {
			return false
		}
		rest = behind
	}
	if !bytes.HasPrefix(rest, []byte("<v")) || bytes.IndexByte(rest[1:], '<') >= 0 {
		return false
	}
	for attribute := range bytes.SplitSeq(tag, []byte(" ")) {
		switch name, value, _ := bytes.Cut(attribute, []byte("=")); string(name) {
		case "t":
			return slices.Contains([]string{`"n"`, `"str"`, `"b"`, `"e"`, `"d"`, `"inlineStr"`}, string(value))
		case "r", "s", "", "cm", "vm", "ph", "spans":
		default:
			return false
		}
	}
	return true
}

// tokens is how many bytes all cells may show.
func (s *sharedCells) tokens() (n int64) {
	for number, cells := range s.named {
		if s.unsure {
			n = saturatingAdd(n, saturatingMul(cells, s.longest))
		} else if number < uint64(len(s.lengths)) {
			n = saturatingAdd(n, saturatingMul(cells, s.lengths[number]))
		}
	}
	return saturatingAdd(n, saturatingMul(s.odd, s.longest))
}
