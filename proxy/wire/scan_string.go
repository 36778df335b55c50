package wire

import "github.com/tokenfare/tokenfare/cost"

// A stringKind says what to do with a string.
type stringKind uint8

const (
	skipString   stringKind = iota
	keepName                // into name
	keepTier                // into name: the value of service_tier
	keepModel               // into served: the value of model
	keepObject              // into name: the value of object
	keepType                // into name: the value of type
	keepText                // into sink
	keepItemType            // into name: the value of an item's type
	keepItem                // into sink or aside
)

func (s *scanner) beginString() {
	s.escape, s.sealed = escape{}, false
	if s.isName = s.phase == wantName || s.phase == wantNameOrEnd; !s.isName {
		s.beginValue(false, false, false, inString)
		s.kind = skipString
		switch {
		case s.inItems():
			s.beginItemString()
		case s.inWords():
			s.beginWords()
		case s.depth == s.base+1 && s.top == tierMember:
			s.kind = keepTier
			s.name.n = 0
		case s.depth == 1 && s.top == objectMember:
			s.kind = keepObject
			s.name.n = 0
		case s.depth == 1 && s.top == typeMember:
			s.kind = keepType
			s.name.n = 0
		case s.depth == s.base+1 && s.top == modelMember && !s.servedRead:
			s.kind = keepModel
			s.served = s.served[:0]
		}
		return
	}
	s.phase, s.kind = inString, skipString
	if s.depth == s.base+1 {
		s.top = otherMember
	}
	if s.depth == s.base+1 || s.inWords() || s.inItems() {
		s.kind = keepName
		s.name.n = 0
	}
}

// feedString reads a piece that begins inside a string, as far as the string goes, and returns the length read.
func (s *scanner) feedString(b []byte) int {
	for i := 0; i < len(b); {
		if s.escape.state != 0 {
			if s.kind == skipString {
				s.escape.state = 0 // what is behind the backslash does not end the string: that is all we need
			} else {
				var buf [8]byte
				s.keep(s.escape.feed(buf[:0], b[i]))
			}
			i++
			continue
		}
		n := run(b[i:], '"', '\\')
		if n > 0 && s.kind != skipString {
			s.flushEscape()
			s.keep(b[i : i+n])
		}
		if i += n; i == len(b) {
			break
		}
		i++
		if b[i-1] == '"' {
			s.endString()
			return i
		}
		s.escape.state = 1
	}
	return len(b)
}

func (s *scanner) flushEscape() {
	if s.escape.high != 0 {
		var buf [8]byte
		s.keep(s.escape.flush(buf[:0]))
	}
}

func (s *scanner) keep(b []byte) {
	if s.sealed {
		if b = s.unseal(b); len(b) == 0 {
			return
		}
	}
	switch s.kind {
	case keepText:
		s.sink.add(b)
	case keepItem:
		s.keepItem(b)
	case keepModel:
		s.served = append(s.served, b[:min(len(b), maxModelName-len(s.served))]...)
	default:
		s.name.add(b)
	}
}

func (s *scanner) endString() {
	s.flushEscape()
	s.escape = escape{}
	if !s.isName {
		s.phase = afterValue
		if s.depth == 0 {
			s.phase = broken // an answer is an object
		}
		s.unseen = s.unseen || s.sealed && s.holds == filledPayload
		switch s.kind {
		case keepModel:
			s.servedRead = true
		case keepTier:
			s.tier = max(s.tier, cost.ParseTier(string(s.name.b[:s.name.n])))
		case keepObject:
			s.failed = s.failed || string(s.name.b[:s.name.n]) == "error"
		case keepType:
			s.last = s.is.ends(s.name.b[:s.name.n])
			s.failed = s.failed || string(s.name.b[:s.name.n]) == "error" // a response's
			s.goesOn = s.is.goesOn(s.name.b[:s.name.n])
			s.item.endType(s.name, s.is.finished)
		case keepItemType:
			s.item.kind = itemKindOf(s.name.b[:s.name.n])
		}
		return
	}
	s.phase = wantColon
	if s.kind != keepName {
		return
	}
	name := s.name.b[:s.name.n]
	if s.depth > s.base+1 {
		if s.inItems() {
			s.endItemName(name)
		} else {
			s.endWordsName(name)
		}
		return
	}
	if s.base == 0 {
		s.complaint = s.complaint.and(name)
	}
	switch string(name) {
	case "object":
		s.top = objectMember
	case "usage":
		s.top = usageMember
	case "error":
		s.top = errorMember
	case "service_tier":
		s.top = tierMember
	case "model":
		s.top = modelMember
	default:
		s.top = s.is.member(name, s.base)
		s.payload = noPayload
		if s.top == pieceMember {
			s.payload = s.payloadOf(name)
		}
	}
}

// nameBuffer holds the decoded name of a member. A name that does not fit is not one we look for: it is kept cut off,
// and the length of the buffer is more than that of any name we look for.
type nameBuffer struct {
	n int
	b [64]byte
}

func (n *nameBuffer) add(b []byte) { n.n += copy(n.b[n.n:], b) }
