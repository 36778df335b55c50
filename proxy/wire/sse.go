package wire

import "bytes"

// sse splits a stream of server-sent events that arrives in pieces, in constant memory: whatever the length of a line,
// the data goes to the scanner as it comes. Lines end with LF, CR or CRLF (WHATWG HTML, section 9.2.6).
type sse struct {
	data *scanner // reads the data of the event

	line     lineState
	field    int  // how many bytes of the field's name were read; all are those of "data"
	mark     int  // how many bytes of a byte order mark at the start of the stream were read; -1: there is none
	afterCR  bool // a line ended with CR, so an LF belongs to its end
	inEvent  bool // a line other than a comment was begun since the last event ended
	lines    int  // how many data lines the event has
	from     int  // where the last of them has its data, in what was read last, if the event begins there, too; else -1
	doneRead int  // how many bytes of [DONE] the event's data began with; -1: it began otherwise
	done     bool // the stream said that it is complete
}

type lineState uint8

const (
	lineStart lineState = iota
	lineField           // in the name of a field
	lineColon           // behind the colon of data, where one space may be left out
	lineData
	lineOther // in a comment, or in a field other than data
	lineEmpty // at the end of an empty line
)

// A signal says why next returned.
type signal uint8

const (
	pieceEnd signal = iota // all was read
	lineEnd                // a line ended that belongs to no event
	eventEnd               // an event ended, its empty line included (of CRLF only the CR)
	lateLF                 // the LF was read of a CRLF whose CR ended something
)

const (
	dataField = "data"
	doneData  = "[DONE]"
	byteOrder = "\xef\xbb\xbf"
)

// next reads from b, which is not empty, up to the next thing worth a signal, and returns the length read.
func (s *sse) next(b []byte) (int, signal) {
	whole := s.fresh()
	s.from = -1
	for i := 0; i < len(b); {
		if s.afterCR {
			s.afterCR = false
			if b[i] == '\n' {
				i++
				if !s.inEvent {
					return i, lateLF
				}
				continue
			}
		}
		switch s.line {
		case lineStart:
			i += s.begin(b[i:])
			continue
		case lineField:
			i += s.fieldByte(b[i])
			continue
		case lineColon:
			s.line = lineData
			if b[i] == ' ' {
				i++
			}
			continue
		}
		n := lineLength(b[i:])
		if s.line == lineData {
			s.payload(b[i : i+n])
			if whole {
				s.from = i
			}
		}
		if i += n; i == len(b) {
			break
		}
		s.afterCR = b[i] == '\r'
		i++
		switch empty := s.line == lineEmpty; {
		case empty && s.inEvent:
			s.line, s.inEvent = lineStart, false
			return i, eventEnd
		case !s.inEvent:
			s.line = lineStart
			return i, lineEnd
		}
		s.line = lineStart
	}
	return len(b), pieceEnd
}

// fresh reports whether an event or a comment may begin with the next byte, and that byte is not the first of the stream.
func (s *sse) fresh() bool {
	return s.line == lineStart && !s.inEvent && !s.afterCR && s.mark < 0
}

// lineLength is the length of b up to the first line end. The search for an LF is bounded, so that a stream of lines
// that end with CR takes linear time.
func lineLength(b []byte) int {
	window := b[:min(len(b), 4<<10)]
	lf := bytes.IndexByte(window, '\n')
	if lf >= 0 {
		window = window[:lf]
	}
	if cr := bytes.IndexByte(window, '\r'); cr >= 0 {
		return cr
	}
	if lf >= 0 {
		return lf
	}
	return len(window) + run(b[len(window):], '\n', '\r')
}

// begin looks at the start of a line and returns the length read of it.
func (s *sse) begin(b []byte) int {
	if s.mark >= 0 && s.mark < len(byteOrder) {
		if b[0] == byteOrder[s.mark] {
			s.mark, s.inEvent = s.mark+1, true // the mark stays with the event it precedes
			return 1
		}
		if s.mark > 0 { // not a mark after all, but the beginning of some field
			s.mark, s.line = -1, lineOther
			return 0
		}
		s.mark = -1
	}
	switch b[0] {
	case '\n', '\r':
		s.line = lineEmpty
		return 0
	case ':':
		s.line = lineOther
		return 1
	}
	s.inEvent = true
	if len(b) > len(dataField) && string(b[:len(dataField)]) == dataField && b[len(dataField)] == ':' {
		s.beginData()
		s.line = lineColon
		return len(dataField) + 1
	}
	s.line, s.field = lineField, 0
	return 0
}

// fieldByte looks at a byte of a field's name and returns the length read of it.
func (s *sse) fieldByte(c byte) int {
	isData := s.field == len(dataField)
	switch {
	case isData && c == ':':
		s.beginData()
		s.line = lineColon
		return 1
	case isData && (c == '\n' || c == '\r'): // a field without a value has an empty one
		s.beginData()
		s.line = lineData
		return 0
	case !isData && c == dataField[s.field]:
		s.field++
		return 1
	default:
		s.line = lineOther
		return 0
	}
}

// beginData begins a data line. Several in one event are joined by line ends.
func (s *sse) beginData() {
	if s.lines++; s.lines > 1 {
		s.data.feed([]byte{'\n'})
		s.doneRead = -1
	}
}

func (s *sse) payload(b []byte) {
	for rest := b; s.doneRead >= 0 && s.doneRead < len(doneData) && len(rest) > 0; rest = rest[1:] {
		if rest[0] != doneData[s.doneRead] {
			s.doneRead = -1
			break
		}
		if s.doneRead++; s.doneRead == len(doneData) {
			s.done = true // every SDK looks at the beginning only
		}
	}
	s.data.feed(b)
}

// reset makes ready for the next event.
func (s *sse) reset() {
	s.lines, s.doneRead = 0, 0
	s.data.reset()
}
