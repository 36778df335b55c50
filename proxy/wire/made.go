package wire

import (
	"cmp"
	"slices"
)

// mostMade is how many ids of parts a [Made] notes, and of containers: 64 kB at most of each. What is beyond it cannot be named
// later.
const mostMade = 512

// Made notices, in an answer that goes by, the ids of what the provider has stored: of the answer as a whole, of its parts, and of containers.
// It reads pieces of any size, holds some 128 kB at most, and finds the same however the bytes are cut. An id is one at its own
// place in the answer only, whatever the model says in a text.
type Made struct {
	ID         string   // of the whole; empty as long as there is none
	Parts      []string // the ids of its parts, each once
	Containers []string // the ids of the containers that its code ran in, each once

	stream bool
	line   madeLine
	json   idScan
}

// A madeLine is where a stream of events stands.
type madeLine struct {
	at      int // bytes of the line read so far, as far as they matter
	data    bool
	other   bool
	afterCR bool
}

// NewMade makes one for an answer of that endpoint, or, where e is empty, for an object or a list of objects.
func NewMade(e Endpoint, stream bool) *Made {
	m := &Made{stream: stream}
	switch {
	case e == Responses && stream:
		m.json.paths = streamedResponse
	case e == Responses:
		m.json.paths = wholeResponse
	case e == "":
		m.json.paths = objects
	default:
		m.json.paths = justID
	}
	m.json.found = m.note
	m.json.reset()
	return m
}

// An idPath is where in a JSON value an id stands; "*" is any item of an array.
type idPath struct {
	steps []string
	of    idOf
}

// idOf is what an id is that of.
type idOf uint8

const (
	ofWhole     idOf = iota // the whole answer
	ofPart                  // a part of it
	ofContainer             // a container that code of a part ran in
)

const longestPath = 5

var (
	whole         = idPath{[]string{"id"}, ofWhole}
	justID        = []idPath{whole}
	objects       = []idPath{whole, {[]string{"data", "*", "id"}, ofPart}}
	wholeResponse = append([]idPath{whole}, itemPaths("output", "*")...)

	streamedResponse = slices.Concat(
		[]idPath{{[]string{"response", "id"}, ofWhole}}, itemPaths("item"), itemPaths("response", "output", "*"),
	)
)

// itemPaths are where ids stand in an item of a response that is there.
func itemPaths(there ...string) []idPath {
	path := func(of idOf, steps ...string) idPath { return idPath{slices.Concat(there, steps), of} }
	return []idPath{path(ofPart, "id"), path(ofContainer, "container_id"), path(ofContainer, "environment", "container_id")}
}

func (m *Made) note(id string, of idOf) {
	if !IsID(id) {
		return
	}
	switch of {
	case ofWhole:
		m.ID = cmp.Or(m.ID, id)
	case ofPart:
		m.Parts = noted(m.Parts, id)
	case ofContainer:
		m.Containers = noted(m.Containers, id)
	}
}

func noted(ids []string, id string) []string {
	if len(ids) == mostMade || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// Write looks at the next piece. It never fails.
func (m *Made) Write(p []byte) (int, error) {
	if !m.stream {
		m.json.feed(p)
		return len(p), nil
	}
	for b := p; len(b) > 0; {
		if c := b[0]; c == '\r' || c == '\n' {
			if c == '\r' || !m.line.afterCR {
				m.endLine()
			}
			m.line.afterCR = c == '\r'
			b = b[1:]
			continue
		}
		m.line.afterCR = false
		switch {
		case m.line.data || m.line.other:
			n := lineLength(b)
			if m.line.data {
				m.json.feed(b[:n])
			}
			b = b[n:]
		case b[0] != "data:"[m.line.at]:
			m.line.other = true
		default:
			m.line.at++
			m.line.data = m.line.at == len("data:")
			b = b[1:]
		}
	}
	return len(p), nil
}

// endLine ends a line; an empty one ends an event.
func (m *Made) endLine() {
	if m.line.at == 0 && !m.line.other {
		m.json.reset()
	}
	m.line = madeLine{}
}

// idScan finds ids in one JSON value that arrives in pieces.
type idScan struct {
	paths []idPath
	found func(id string, of idOf)

	depth    int
	objects  [longestPath + 1]bool  // by depth: it is an object, not an array
	live     [longestPath + 1]uint8 // by depth: the paths, a bit for each, that have led here
	wantName bool
	inString bool
	escaped  bool
	keep     bool // the string being read matters
	isName   bool
	odd      bool // it is longer than any id, or has an escape
	text     []byte
}

func (s *idScan) reset() {
	*s = idScan{paths: s.paths, found: s.found, text: s.text[:0]}
	s.live[0] = 1<<len(s.paths) - 1
}

func (s *idScan) feed(b []byte) {
	for i := 0; i < len(b); {
		if s.inString {
			i += s.feedString(b[i:])
			continue
		}
		switch b[i] {
		case '"':
			s.beginString()
		case '{', '[':
			s.open(b[i] == '{')
		case '}', ']':
			s.depth, s.wantName = max(0, s.depth-1), false
		case ',':
			s.wantName = s.depth > 0 && s.depth <= longestPath && s.objects[s.depth]
		}
		i++
	}
}

func (s *idScan) open(object bool) {
	s.depth++
	if s.wantName = false; s.depth > longestPath {
		return
	}
	s.objects[s.depth], s.live[s.depth], s.wantName = object, 0, object
	if !object {
		s.live[s.depth] = s.step("*")
	}
}

// step is the paths that go on by a step from the depth above.
func (s *idScan) step(name string) (live uint8) {
	for i, path := range s.paths {
		if s.live[s.depth-1]&(1<<i) != 0 && len(path.steps) >= s.depth && path.steps[s.depth-1] == name {
			live |= 1 << i
		}
	}
	return live
}

func (s *idScan) beginString() {
	s.inString, s.escaped, s.odd, s.isName = true, false, false, s.wantName
	s.keep = s.isName || s.depth > 0 && s.depth <= longestPath && s.live[s.depth] != 0
	s.text = s.text[:0]
}

// feedString reads a piece of a string, up to its end, and returns the length read.
func (s *idScan) feedString(b []byte) int {
	if s.escaped {
		s.escaped = false
		return 1
	}
	n := 0
	for n < len(b) && b[n] != '"' && b[n] != '\\' {
		n++
	}
	ends := n < len(b) && b[n] == '"'
	if n < len(b) && !ends {
		s.escaped = true
	}
	if s.keep && !s.odd {
		if len(s.text)+n > longestID {
			s.odd = true
		} else {
			s.text = append(s.text, b[:n]...)
		}
	}
	switch {
	case ends:
		s.endString()
		n++
	case s.escaped:
		s.odd = true
		n++
	}
	return n
}

func (s *idScan) endString() {
	s.inString = false
	switch {
	case s.isName:
		s.wantName, s.live[s.depth] = false, 0
		if !s.odd {
			s.live[s.depth] = s.step(string(s.text))
		}
	case s.keep && !s.odd:
		for i, path := range s.paths {
			if s.live[s.depth]&(1<<i) != 0 && len(path.steps) == s.depth {
				s.found(string(s.text), path.of)
			}
		}
	}
}
