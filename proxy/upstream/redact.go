package upstream

import (
	"bytes"
	"io"
)

// mostEvent is how much of an event is kept to tell whether it carries an error. What is longer passes as it is.
const mostEvent = 1 << 20

// RedactErrors returns a stream of server-sent events as it is read from body, with what Redact takes out taken out of those events
// that hold it and carry an error, as isError says of a whole event. All others pass byte for byte, and as soon as they are there:
// what is held back is the end of a piece that may be the beginning of such, and an event from there on. The stream may be of another
// length than body.
func (u *Upstream) RedactErrors(body io.ReadCloser, isError func(event []byte) bool) io.ReadCloser {
	return &redacted{ReadCloser: body, find: u.find, isError: isError}
}

type redacted struct {
	io.ReadCloser
	find    *finder
	isError func(event []byte) bool

	event  []byte // what was read of an event that has not ended
	passed int    // how much of it has passed
	odd    bool   // its beginning was forgotten
	out    []byte // what is to pass first
	err    error  // after that
}

func (r *redacted) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.out) == 0 && r.err == nil {
		n, err := r.ReadCloser.Read(p)
		piece := p[:n]
		if r.passed == len(r.event) && err == nil && r.find.at(piece) == n {
			r.keep(piece)
			return n, nil
		}
		r.out = r.out[:0]
		r.err = err
		r.sift(piece)
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) > 0 {
		return n, nil
	}
	r.out = nil
	return n, r.err
}

// keep remembers what has passed of the event that goes on behind a piece.
func (r *redacted) keep(piece []byte) {
	if end := lastEnd(r.event, piece); end >= 0 {
		r.event, r.odd, piece = r.event[:0], false, piece[end:]
	}
	r.event = append(r.event, piece...)
	r.passed = len(r.event)
	r.forget()
}

// sift looks at a piece that may hold what is sought, or a part of it.
func (r *redacted) sift(piece []byte) {
	for len(piece) > 0 {
		end := firstEnd(r.event, piece)
		if end < 0 {
			r.event = append(r.event, piece...)
			break
		}
		r.event = append(r.event, piece[:end]...)
		piece = piece[end:]
		r.finish()
	}
	if r.err != nil {
		r.finish() // nothing more of it comes
		return
	}
	hold := r.find.at(r.event[r.passed:])
	r.out = append(r.out, r.event[r.passed:r.passed+hold]...)
	r.passed += hold
	r.forget()
}

// finish passes the rest of an event that has ended.
func (r *redacted) finish() {
	rest := r.event[r.passed:]
	if !r.odd && len(rest) > 0 && r.find.at(rest) < len(rest) && r.isError(r.event) {
		rest = r.find.redact(r.event)[r.passed:] // nothing that is sought begins in what has passed
	}
	r.out = append(r.out, rest...)
	r.event, r.passed, r.odd = r.event[:0], 0, false
}

// forget lets go of an event that is too long, but for what may belong to its end.
func (r *redacted) forget() {
	if len(r.event) <= mostEvent {
		return
	}
	r.out = append(r.out, r.event[r.passed:]...)
	r.event = bytes.Clone(r.event[len(r.event)-longestEnd+1:])
	r.passed, r.odd = len(r.event), true
}
