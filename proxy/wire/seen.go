package wire

import (
	"bytes"
	"encoding/json"
)

// seen is what is remembered of a stream's events, so that it can be ended in its own name: little, and without parsing them.
type seen struct {
	endpoint Endpoint
	head     []byte         // the event that says whose stream it is, as far as it may be kept
	lasts    [][]byte       // events that seem to say that choices have ended: few streams are ended by us, so they are read when one is
	size     int            // of lasts
	finished map[int64]bool // choices that have ended, as far as lasts was read
	next     int64          // the sequence number of the next event
	outputs  outputs        // of a response

	// Of the event that may pass next.
	reason     bool        // it seems to say that a choice has ended
	numbered   bool        // it has a sequence number
	number     int64       // that is
	output     outputEvent // what it says of an item of a response
	unreadable bool        // that is not known
}

// mostHead bounds what is kept of an event, mostLasts of those that are read later, in bytes, and mostFinished of which choices it is
// kept that they have ended.
const (
	mostHead     = 64 << 10
	mostLasts    = 16 << 10
	mostFinished = 1 << 14
)

// event looks at an event as it was sent, of which the scanner has just read the data. Whether it passes is not known yet.
func (s *seen) event(b []byte, data *scanner) {
	s.reason, s.numbered, s.number = data.reason, data.numbered, data.number
	if s.endpoint == Responses {
		var ok bool
		s.output, ok = readOutputEvent(b)
		s.unreadable = !ok
	}
	s.keepHead(b, data)
}

// passed looks at that event when it passes.
func (s *seen) passed(b []byte) {
	switch {
	case s.endpoint == Responses:
		if s.numbered {
			s.next = max(s.next, s.number+1)
		}
		s.outputs.event(&s.output)
	case s.reason:
		s.lasts = append(s.lasts, bytes.Clone(b))
		if s.size += len(b); s.size > mostLasts {
			s.readLasts()
		}
	}
}

// passedAgain looks at an event that is like one before, when it passes.
func (s *seen) passedAgain(known *recall) {
	if s.endpoint != Responses {
		return // it ends no choice
	}
	s.next = max(s.next, known.number+1)
	known.output.said = known.text
	s.outputs.event(&known.output)
}

// keepHead keeps an event that says whose stream it is.
func (s *seen) keepHead(b []byte, data *scanner) {
	if len(s.head) > 0 {
		return
	}
	if s.endpoint == Responses && bytes.Contains(b, []byte(`"response"`)) || s.endpoint != Responses && data.choicesItems {
		s.head = bytes.Clone(b[:min(len(b), mostHead)])
	}
}

// readLasts notes which choices have ended so far.
func (s *seen) readLasts() {
	for _, event := range s.lasts {
		s.finish(eventData(event))
	}
	s.lasts, s.size = nil, 0
}

// finish notes which choices an event says have ended.
func (s *seen) finish(data []byte) {
	var chunk struct {
		Choices []struct {
			Index  int64   `json:"index"`
			Reason *string `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &chunk) != nil {
		return
	}
	for _, c := range chunk.Choices {
		if c.Reason == nil || len(s.finished) >= mostFinished {
			continue
		}
		if s.finished == nil {
			s.finished = map[int64]bool{}
		}
		s.finished[c.Index] = true
	}
}

// valueBehind returns what is behind the first place where a member of that name, quotes included, seems to be; nil: nothing is.
func valueBehind(b []byte, name string) []byte {
	for {
		at := bytes.Index(b, []byte(name))
		if at < 0 {
			return nil
		}
		b = b[at+len(name):]
		rest := bytes.TrimLeft(b, " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		if rest = bytes.TrimLeft(rest[1:], " \t\r\n"); len(rest) > 0 {
			return rest
		}
	}
}

// eventData is the data of an event: that of its data lines, joined by line ends.
func eventData(event []byte) []byte {
	event = bytes.TrimPrefix(event, []byte(byteOrder))
	var data []byte
	for len(event) > 0 {
		n := lineLength(event)
		line := event[:n]
		event = event[min(len(event), n+1):] // of CRLF an empty line is left, which is none of ours
		if rest, ok := bytes.CutPrefix(line, []byte(dataField+":")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
		}
	}
	return data
}
