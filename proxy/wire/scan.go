package wire

import "github.com/tokenfare/tokenfare/cost"

// scanner reads one JSON value that arrives in pieces, in constant memory and without looking back. It notices what an
// answer says at its top level (model, usage, service_tier, choices, error), or an event in the object that holds the answer, and hands
// on what the model said. It checks as much of the grammar as it takes to tell members from text that imitates them.
type scanner struct {
	scanState
	is    *reading
	sink  *textSink
	aside textSink // text of an item that counts or not, which is not known yet
	usage []byte   // the text of the usage object that is being read

	served     []byte // the first model named, as far as maxModelName
	servedRead bool

	spoken places // of the items that have come in pieces
}

// scanState is where the scanner stands: it depends on nothing but the bytes of the value so far.
type scanState struct {
	phase   phase
	depth   int
	base    int                       // 1 within the member of an event that holds the answer, else 0
	objects [maxScanDepth / 64]uint64 // a bit for every level: set for an object, clear for an array

	isName bool       // the string being read is the name of a member
	kind   stringKind // what to do with the string being read
	escape escape
	name   nameBuffer

	top     topMember // the member of the top-level object that is being read, or of the one that holds the answer
	payload payload   // what the name read last says that a string behind it holds, unless there are blanks in it
	sealed  bool      // that is the string being read, and none was found so far
	holds   payload   // what it holds
	prefix  uint8     // how much of it is the beginning of a data: URL
	unseen  bool      // something was made that is no text
	picture int16     // the depth of a member that holds pictures; 0: there is none
	hush    int16     // the depth of a member whose strings are not the model's; 0: there is none
	texts   int       // how many strings that are text have begun
	item    itemState // the item that is being read

	inUsage      bool      // the usage object is being read
	usageSeen    usageSum  // of the usage objects read so far
	tier         cost.Tier // the service tier it names
	usageObject  bool      // there was one
	choices      bool      // there is a member choices that is not null...
	choicesItems bool      // ...and not an empty array
	failed       bool      // there is an error that is not null, or it is called one
	complaint    complaint // what the names of its members say
	last         bool      // its type says that it ends the stream
	goesOn       bool      // its type says that more is to come

	numbered bool  // it has a number in its stream, in plain digits
	number   int64 // that is
	reason   bool  // it seems to say that a choice has ended

	marks marks
}

// Bounds of the scanner. A value beyond them is passed on all the same, but not understood.
const (
	maxScanDepth  = 256
	maxUsageBytes = 64 << 10
	maxModelName  = 128
)

// A phase says what may come next.
type phase uint8

const (
	wantValue phase = iota
	wantValueOrEnd
	wantName
	wantNameOrEnd
	wantColon
	afterValue
	inLiteral
	inString
	closed // the whole value was read
	broken // this is not JSON, or beyond the bounds
)

type topMember uint8

const (
	otherMember topMember = iota
	usageMember
	choicesMember
	errorMember
	tierMember
	modelMember
	objectMember
	typeMember
	answerMember // the answer as it is so far
	indexMember  // the place of an item
	numberMember // the number of the event
	contentMember
	summaryMember // the place of a part of an item
	wordsMember   // what the model said, in any form
	pieceMember   // the same, unless it was said before
	saidMember    // what the model said, in items
	itemMember    // an item
)

// reset makes the scanner ready for the next value.
func (s *scanner) reset() {
	s.scanState = scanState{}
	s.usage = s.usage[:0]
}

// mayFail reports whether there may be an error in what is still to come.
func (s *scanner) mayFail() bool {
	switch s.phase {
	case broken, closed:
		return false
	default:
		return s.depth == 0 && s.phase == wantValue || s.depth > 0 && s.objects[0]&1 != 0
	}
}

// valid reports whether exactly one JSON value was read.
func (s *scanner) valid() bool { return s.phase == closed }

// onlyUsage reports whether the value is the event that carries the usage of a stream and nothing else.
func (s *scanner) onlyUsage() bool {
	return s.valid() && s.usageObject && s.choices && !s.choicesItems && !s.failed
}

// feed reads the next piece.
func (s *scanner) feed(b []byte) {
	from := 0 // where the usage object begins in this piece
	for i := 0; i < len(b); {
		switch s.phase {
		case inString:
			i += s.feedString(b[i:])
			if s.phase != inString && !s.isName {
				s.markStringEnd(i - 1)
			}
			continue
		case inLiteral:
			begin := i
			for i < len(b) && byteClass[b[i]] == literalByte {
				i++
			}
			s.digits(b[begin:i])
			if i == len(b) {
				continue
			}
			s.phase = afterValue
			if s.top == numberMember && s.depth == 1 {
				s.marks.number.end = i
			}
		case broken:
			return
		}
		c := b[i]
		i++
		switch byteClass[c] {
		case blankByte:
		case quoteByte:
			s.beginString()
			if !s.isName {
				s.markString(i)
			}
		case literalByte:
			s.beginLiteral(c)
			if s.top == numberMember && s.depth == 1 {
				s.marks.number.start = i - 1
			}
		case openByte:
			s.open(c == '{')
			if s.depth == s.base+2 && c == '{' && s.top == usageMember {
				s.usage, s.inUsage, s.usageObject, from = s.usage[:0], true, true, i-1
			}
		case closeByte:
			s.close(c == '}')
			if s.inUsage && s.depth == s.base+1 {
				s.keepUsage(b[from:i])
				s.usageSeen.add(s.usage)
				s.inUsage = false
			}
		case colonByte:
			s.step(s.phase == wantColon, wantValue)
		case commaByte:
			next := wantValue
			if s.inObject() {
				next = wantName
			}
			s.step(s.phase == afterValue, next)
		default:
			s.phase = broken
		}
	}
	if s.inUsage {
		s.keepUsage(b[from:])
	}
}

// step goes on to the next phase if that is allowed.
func (s *scanner) step(allowed bool, next phase) {
	if !allowed {
		next = broken
	}
	s.phase = next
}

func (s *scanner) inObject() bool {
	level := uint(s.depth - 1)
	return s.depth > 0 && s.objects[level/64]&(1<<(level%64)) != 0
}

// beginValue notes that a value begins, and what its being there says at the top level.
func (s *scanner) beginValue(object, array, null bool, next phase) {
	s.step(s.phase == wantValue || s.phase == wantValueOrEnd, next)
	if s.depth > s.base+2 || null {
		return
	}
	switch {
	case s.top == usageMember && s.depth == s.base+1 && !object:
		s.usageSeen.invalid = true
	case s.top == choicesMember && s.depth == s.base+1:
		s.choices = true
		s.choicesItems = s.choicesItems || !array
	case s.top == choicesMember:
		s.choicesItems = true
	case s.top == errorMember:
		s.failed = true
	}
}

func (s *scanner) open(object bool) {
	next := wantValueOrEnd
	if object {
		next = wantNameOrEnd
	}
	s.beginValue(object, !object, false, next)
	if s.depth == maxScanDepth {
		s.phase = broken
	}
	if s.phase == broken {
		return
	}
	bit := uint64(1) << (uint(s.depth) % 64)
	if object {
		s.objects[s.depth/64] |= bit
	} else {
		s.objects[s.depth/64] &^= bit
	}
	s.depth++
	s.payload = noPayload
	if s.depth == 1 && !object && s.is.speaks() {
		s.top = wordsMember // no answer that we know, but what is in it may reach a reader
	}
	if s.depth == 2 && object && s.top == answerMember {
		s.base, s.top = 1, otherMember
	}
}

func (s *scanner) close(object bool) {
	empty := wantValueOrEnd
	if object {
		empty = wantNameOrEnd
	}
	if s.depth == 0 || s.inObject() != object || s.phase != afterValue && s.phase != empty {
		s.phase = broken
		return
	}
	s.depth--
	s.payload = noPayload
	if s.depth < int(s.hush) {
		s.hush = 0
	}
	if s.depth < int(s.picture) {
		s.picture = 0
	}
	s.phase = afterValue
	if s.depth == s.base && s.base > 0 {
		s.base, s.top = 0, otherMember
	}
	if s.top == saidMember && s.depth == s.itemDepth()-1 {
		s.takeItem()
		s.item = itemState{}
	}
	if s.depth == 0 {
		s.phase = closed
	}
}

func (s *scanner) beginLiteral(first byte) {
	s.beginValue(false, false, first == 'n', inLiteral)
	if s.depth == 1 {
		switch s.top {
		case indexMember:
			s.item.place, s.item.indexed = 0, true
		case contentMember, summaryMember:
			s.item.part, s.item.parted, s.item.summary = 0, true, s.top == summaryMember
		case numberMember:
			s.numbered, s.number = true, 0
		}
		s.digits([]byte{first})
	}
	if s.depth == 0 {
		s.phase = broken // an answer is an object
	}
}

// digits reads on in a number that matters.
func (s *scanner) digits(b []byte) {
	switch {
	case s.depth != 1:
	case s.top == indexMember:
		s.item.indexed = s.item.indexed && placeDigits(&s.item.place, b)
	case s.top == contentMember, s.top == summaryMember:
		s.item.parted = s.item.parted && placeDigits(&s.item.part, b)
	case s.top == numberMember:
		const most = 1e14 // of which there is one digit more
		for _, c := range b {
			if s.numbered = s.numbered && c >= '0' && c <= '9' && s.number < most; s.numbered {
				s.number = s.number*10 + int64(c-'0')
			}
		}
	}
}

// keepUsage keeps a part of the usage object. One that is too long is kept as an empty text, which is invalid.
func (s *scanner) keepUsage(b []byte) {
	if len(s.usage)+len(b) > maxUsageBytes {
		s.usageSeen.invalid = true
		b = nil
	}
	s.usage = append(s.usage, b...)
}
