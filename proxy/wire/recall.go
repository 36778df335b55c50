package wire

import "bytes"

// The events of a stream are nearly the same bytes again and again: everything up to the first text (the id, the model,
// the names) and most of what is behind it. recall remembers what these two stretches did to the scanner, so that it can
// jump over them: a comparison of 200 bytes costs a fiftieth of reading them. What the scanner finds is the same with
// and without it, since its state depends on the bytes alone and nothing is handed on from inside the stretches.
type recall struct {
	before  stretch // from the start of the value into the first text
	between stretch // from the end of the first text, in a value that began with before
}

// A stretch is some bytes and the state they lead to.
type stretch struct {
	bytes []byte
	after scanState
}

// maxStretch bounds what is remembered.
const maxStretch = 2 << 10

// recalled says where the value being read stands with regard to what is remembered.
type recalled uint8

const (
	notRecalled recalled = iota // the value did not begin with the stretch before
	inFirstText                 // it did, and its first text is being read
	pastFirstText
)

// A lesson is what may be learned from a piece.
type lesson struct {
	skip    int       // how much of the piece was recalled
	fresh   bool      // the piece is the beginning of a value not recalled
	textEnd int       // where the first text ended in this piece, if what follows is to be learned; else 0
	end     int       // up to where it may be learned
	after   scanState // the state there
}

// begin recalls the beginning of a value, if the piece is one.
func (s *scanner) begin(b []byte) (l lesson) {
	if s.phase != wantValue || s.depth > 0 {
		return l
	}
	if known := &s.known.before; len(known.bytes) > 0 && bytes.HasPrefix(b, known.bytes) {
		s.scanState = known.after
		l.skip = len(known.bytes)
		return l
	}
	l.fresh = true
	return l
}

// noteString is called where a string begins that is a value.
func (s *scanner) noteString(l *lesson, b []byte, i int) {
	switch {
	case l.fresh && s.kind == keepText && s.texts == 1 && i <= maxStretch:
		s.recalled = inFirstText
		s.known.before.keep(b[:i], s.scanState)
		s.known.between.bytes = s.known.between.bytes[:0]
	case l.textEnd > 0 && s.canSkip() && i-l.textEnd <= maxStretch:
		// The last string before the end is the best place to stop: it may be padding that differs.
		l.end, l.after = i, s.scanState
	}
}

// canSkip says whether what was read since the first text may be jumped over when it comes again: no other text has been
// handed on, and no usage object is half read.
func (s *scanner) canSkip() bool {
	return !s.inUsage && (s.texts == 1 || s.texts == 2 && s.kind == keepText && s.phase == inString)
}

// afterFirstText is called at the end of the first text, and returns how much was recalled of what follows.
func (s *scanner) afterFirstText(l *lesson, b []byte, i int) int {
	s.recalled = pastFirstText
	if known := &s.known.between; len(known.bytes) > 0 && bytes.HasPrefix(b[i:], known.bytes) {
		s.scanState = known.after
		return len(known.bytes)
	}
	l.textEnd, l.end = i, 0
	return 0
}

// learn remembers what this piece taught about what follows the first text.
func (s *scanner) learn(l *lesson, b []byte) {
	if l.textEnd == 0 {
		return
	}
	if l.end == 0 && s.phase == closed && s.canSkip() && len(b)-l.textEnd <= maxStretch {
		l.end, l.after = len(b), s.scanState
	}
	if l.end > 0 {
		s.known.between.keep(b[l.textEnd:l.end], l.after)
	}
}

func (s *stretch) keep(b []byte, after scanState) {
	s.bytes, s.after = append(s.bytes[:0], b...), after
}
