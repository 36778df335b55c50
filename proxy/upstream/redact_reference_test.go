package upstream_test

import (
	"bytes"
	"io"
)

// plainlyRedacted is what RedactErrors does, written without regard to what it costs: it searches each piece for the key, and for
// each of the ends that events have.
type plainlyRedacted struct {
	io.Reader
	key     []byte
	isError func(event []byte) bool

	event  []byte // what was read of an event that has not ended
	passed int    // how much of it has passed
	odd    bool   // its beginning was forgotten
	out    []byte // what is to pass first
	err    error  // after that
}

func (r *plainlyRedacted) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		n, err := r.Reader.Read(p)
		piece := p[:n]
		if r.passed == len(r.event) && !bytes.Contains(piece, r.key) && err == nil && r.beginningAt(piece) == n {
			r.keep(piece)
			return n, nil
		}
		r.out, r.err = r.out[:0], err
		r.sift(piece)
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) > 0 {
		return n, nil
	}
	r.out = nil
	return n, r.err
}

func (r *plainlyRedacted) keep(piece []byte) {
	last := r.seam(piece)
	for _, end := range plainEnds {
		if i := bytes.LastIndex(piece, []byte(end)); i >= 0 {
			last = max(last, i+len(end))
		}
	}
	if last >= 0 {
		r.event, r.odd, piece = r.event[:0], false, piece[last:]
	}
	r.event = append(r.event, piece...)
	r.passed = len(r.event)
	r.forget()
}

func (r *plainlyRedacted) sift(piece []byte) {
	for len(piece) > 0 {
		first := r.seam(piece)
		for _, end := range plainEnds {
			if i := bytes.Index(piece, []byte(end)); i >= 0 && (first < 0 || i+len(end) < first) {
				first = i + len(end)
			}
		}
		if first < 0 {
			r.event = append(r.event, piece...)
			break
		}
		r.event = append(r.event, piece[:first]...)
		piece = piece[first:]
		r.finish()
	}
	if r.err != nil {
		r.finish()
		return
	}
	hold := bytes.Index(r.event[r.passed:], r.key)
	if hold < 0 {
		hold = r.beginningAt(r.event[r.passed:])
	}
	r.out = append(r.out, r.event[r.passed:r.passed+hold]...)
	r.passed += hold
	r.forget()
}

func (r *plainlyRedacted) finish() {
	rest := r.event[r.passed:]
	if bytes.Contains(rest, r.key) && !r.odd && r.isError(r.event) {
		rest = bytes.ReplaceAll(rest, r.key, []byte("[key]"))
	}
	r.out = append(r.out, rest...)
	r.event, r.passed, r.odd = r.event[:0], 0, false
}

func (r *plainlyRedacted) forget() {
	if len(r.event) <= 1<<20 {
		return
	}
	r.out = append(r.out, r.event[r.passed:]...)
	r.event = bytes.Clone(r.event[len(r.event)-3:])
	r.passed, r.odd = len(r.event), true
}

func (r *plainlyRedacted) beginningAt(b []byte) int {
	for i := range b {
		if bytes.HasPrefix(r.key, b[i:]) {
			return i
		}
	}
	return len(b)
}

var plainEnds = [...]string{"\r\n\r\n", "\n\n", "\r\r"}

// seam is where an event ends in a piece, whose end began before it; -1: nowhere.
func (r *plainlyRedacted) seam(piece []byte) int {
	for _, end := range plainEnds {
		for n := 1; n < len(end); n++ {
			if bytes.HasSuffix(r.event, []byte(end[:n])) && bytes.HasPrefix(piece, []byte(end[n:])) {
				return len(end) - n
			}
		}
	}
	return -1
}
