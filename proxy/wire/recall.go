package wire

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// The events of a stream are nearly the same bytes again and again. recall remembers the last one that said nothing but a text, and
// where in it are the bytes that differ from event to event. One that is the same but for these does the same, so nothing of it need
// be read but its text: comparing costs a tenth of reading. What is found is the same with and without it, so what may be read
// differently by others (a broken escape, a number that is none) is not taken to be alike.
type recall struct {
	event  []byte
	gaps   [3]gap // in their order
	many   int    // of gaps
	output outputEvent

	// What was in the gaps of the event that was found to be alike last.
	text   []byte // decoded; good until the next look
	number int64  // -1: there is none
	buffer []byte // for texts with escapes
}

// A gap is where events differ.
type gap struct {
	span
	kind gapKind
}

type gapKind uint8

const (
	textGap   gapKind = iota // what the model said, between the quotes
	padGap                   // a string that means nothing to us, between the quotes
	numberGap                // the number of the event
)

// maxRecalled bounds what is remembered, in bytes.
const maxRecalled = 4 << 10

// marks are where in its first piece a value has what differs.
type marks struct{ text, pad, number span }

// again reads an event that is like the one before, if b begins with such, and returns its length; else 0.
func (a *Answer) again(b []byte) int {
	if !a.sse.fresh() {
		return 0
	}
	n := a.known.alike(b)
	if n == 0 {
		return 0
	}
	a.text.add(a.known.text)
	a.noteBehind(false)
	a.ends = false
	if a.cover != nil {
		a.unpaid = a.unpaid || a.text.fresh
		a.seen.keepHead(b[:n], &a.scan)
		a.noted, a.recalled = true, true
	}
	a.text.endEvent()
	a.sse.afterCR = b[n-1] == '\r'
	return n
}

// learn remembers an event that was just read, given what was read last of it, if that is all and others may be like it.
func (a *Answer) learn(b []byte) {
	if a.sse.from < 0 || a.sse.lines != 1 || len(b) > maxRecalled || !a.text.fresh || !a.scan.onlyText() {
		return
	}
	if a.redact != nil && (bytes.Contains(b, []byte("error")) || bytes.Contains(b, []byte("Error"))) { // what is like it is looked at, too
		return
	}
	if a.cover != nil && (!a.noted || a.seen.unreadable || !a.seen.output.isPiece()) {
		return
	}
	a.known.keep(b, a.sse.from, a.scan.marks)
	a.known.output = a.seen.output
}

// markString notes where a string begins that is a value.
func (s *scanner) markString(i int) {
	switch {
	case s.kind == keepText:
		s.marks.text.start = i
	case s.kind == skipString && s.texts > 0:
		s.marks.pad.start = i
	}
}

// markStringEnd notes where it ends.
func (s *scanner) markStringEnd(i int) {
	switch {
	case s.kind == keepText:
		s.marks.text.end = i
	case s.kind == skipString && s.texts > 0:
		s.marks.pad.end = i
	}
}

// onlyText reports whether the value was read that says one text, and nothing else that would have to be noted again.
func (s *scanner) onlyText() bool {
	return s.valid() && s.texts == 1 && s.marks.text.end > 0 && !s.usageObject && s.usageSeen == (usageSum{}) && !s.last && !s.reason && !s.failed
}

// keep remembers an event whose data stands from the byte at on.
func (r *recall) keep(event []byte, at int, m marks) {
	r.event = append(r.event[:0], event...)
	r.many = 0
	for _, g := range []gap{{m.text, textGap}, {m.pad, padGap}, {m.number, numberGap}} {
		if g.end > 0 {
			g.start, g.end = g.start+at, g.end+at
			r.gaps[r.many] = g
			r.many++
		}
	}
	slices.SortFunc(r.gaps[:r.many], func(a, b gap) int { return a.start - b.start })
}

// alike returns the length of the event with which b begins, if it is the one that is remembered but for what is in the gaps; else 0.
func (r *recall) alike(b []byte) int {
	if r.many == 0 {
		return 0
	}
	at, done := 0, 0 // in b, and in what is remembered
	r.number = -1
	escaped := false
	for _, g := range r.gaps[:r.many] {
		if !bytes.HasPrefix(b[at:], r.event[done:g.start]) {
			return 0
		}
		at, done = at+g.start-done, g.end
		n := 0
		switch rest := b[at:]; g.kind {
		case textGap:
			n, escaped = quotedLength(rest)
			if r.text = rest[:n]; !utf8.Valid(r.text) {
				return 0
			}
		case padGap:
			n = plainRun(rest)
		case numberGap:
			for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			var ok bool
			if r.number, ok = plainInteger(rest[:n]); !ok || n > 15 || n > 1 && rest[0] == '0' {
				return 0
			}
		}
		at += n
	}
	if !bytes.HasPrefix(b[at:], r.event[done:]) {
		return 0
	}
	if escaped {
		r.buffer = appendUnescaped(r.buffer[:0], r.text)
		r.text = r.buffer
	}
	return at + len(r.event) - done
}

// begun reports whether b has no whole event, but the beginning of one that is like the one that is remembered, as far as the first gap.
func (r *recall) begun(b []byte) bool {
	if r.many == 0 || len(b) > maxRecalled {
		return false
	}
	head, end := r.event[:r.gaps[0].start], r.event[len(r.event)-2:]
	n := min(len(head), len(b))
	return n > 0 && bytes.Equal(head[:n], b[:n]) && !bytes.Contains(b, end)
}
