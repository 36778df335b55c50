package upstream_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
)

// plainlyRedacted is what RedactErrors does, written without regard to what it costs: it searches each piece for the key, and for
// each of the ends that events have. What is sought it finds by spelling out all that may stand for a character.
type plainlyRedacted struct {
	io.Reader
	sought  []string
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
		if r.passed == len(r.event) && err == nil && r.at(piece) == n {
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
	hold := r.at(r.event[r.passed:])
	r.out = append(r.out, r.event[r.passed:r.passed+hold]...)
	r.passed += hold
	r.forget()
}

func (r *plainlyRedacted) finish() {
	rest := r.event[r.passed:]
	if !r.odd && r.isError(r.event) {
		rest = accountID.ReplaceAll(r.event, []byte("${1}${2}…"))
		rest = r.whole().ReplaceAll(rest, []byte("[key]"))[r.passed:]
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

// at is where something begins that is sought, or may begin at the end of b.
func (r *plainlyRedacted) at(b []byte) int {
	for i := range b {
		for _, text := range r.sought {
			if spelled(text).Match(b[i:]) {
				return i
			}
		}
	}
	return len(b)
}

// spelled is a pattern of all that stands for a text at the beginning, or for the beginning of it at the end.
func spelled(text string) *regexp.Regexp {
	if p, ok := patterns[text]; ok {
		return p
	}
	pattern := ""
	for i := len(text) - 1; i >= 0; i-- {
		raw := `\\*`
		if i == 0 {
			raw = ""
		}
		code := fmt.Sprintf("00%02x", text[i])
		char := fmt.Sprintf(`(?:%s%s|\\+u(?i:%s))`, raw, regexp.QuoteMeta(text[i:i+1]), code)
		begun := fmt.Sprintf(`\\+(?:u(?:%s(?:%s(?:%s)?)?)?)?$`, `[0-9a-fA-F]`, `[0-9a-fA-F]`, `[0-9a-fA-F]`)
		if i < len(text)-1 {
			char += "(?:$|" + pattern + ")"
		}
		pattern = "(?:" + char + "|" + begun + ")"
	}
	patterns[text] = regexp.MustCompile("^" + pattern)
	return patterns[text]
}

var patterns = map[string]*regexp.Regexp{}

// whole is a pattern of all that stands for the first of what is sought, anywhere.
func (r *plainlyRedacted) whole() *regexp.Regexp {
	pattern := ""
	for i, c := range r.sought[0] {
		raw := `\\*`
		if i == 0 {
			raw = ""
		}
		pattern += fmt.Sprintf(`(?:%s%s|\\+u(?i:00%02x))`, raw, regexp.QuoteMeta(string(c)), c)
	}
	return regexp.MustCompile(pattern)
}

// accountID is how names of accounts are told whose beginning is not escaped.
var accountID = regexp.MustCompile(`(^|\\[a-z]|[^A-Za-z0-9_])(org-|proj_)(?:[A-Za-z0-9_-]|\\+u00(?i:2d|3[0-9]|4[1-9a-f]|5[0-9a]|5f|6[1-9a-f]|7[0-9a])){6,}`)

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
