package wire

import (
	"bytes"
	"encoding/json"
)

// seen is what is remembered of a stream's events, so that it can be ended in its own name: little, and without parsing them.
type seen struct {
	endpoint Endpoint
	head     []byte         // the event that says whose stream it is, as far as it may be kept
	finished map[int64]bool // choices that have ended
	next     int64          // the sequence number of the next event
	outputs  outputs        // of a response
}

// mostHead bounds what is kept of an event, mostFinished of which choices it is kept that they have ended.
const (
	mostHead     = 64 << 10
	mostFinished = 1 << 14
)

// event looks at an event as it was sent, of which the scanner has just read the data. Whether it passes is not known yet.
func (s *seen) event(b []byte, data *scanner) {
	if len(s.head) > 0 {
		return
	}
	if s.endpoint == Responses && bytes.Contains(b, []byte(`"response"`)) || s.endpoint != Responses && data.choicesItems {
		s.keepHead(b)
	}
}

// passed looks at an event that passes.
func (s *seen) passed(b []byte) {
	if s.endpoint == Responses {
		s.number(b)
		s.outputs.event(b)
		return
	}
	if hasReason(b) {
		s.finish(eventData(b))
	}
}

func (s *seen) keepHead(b []byte) { s.head = bytes.Clone(b[:min(len(b), mostHead)]) }

// number notes the sequence number. In a text the quotes of such a name would be escaped.
func (s *seen) number(b []byte) {
	const most = 15 // digits
	for _, value := range valuesOf(b, `"sequence_number"`) {
		digits := 0
		for digits < min(most, len(value)) && value[digits] >= '0' && value[digits] <= '9' {
			digits++
		}
		if n, ok := plainInteger(value[:digits]); ok {
			s.next = max(s.next, n+1)
		}
	}
}

// hasReason reports whether an event seems to say that a choice has ended.
func hasReason(b []byte) bool {
	for _, value := range valuesOf(b, `"finish_reason"`) {
		if value[0] == '"' {
			return true
		}
	}
	return false
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

// valuesOf returns what is behind each place where a member of that name, quotes included, seems to be. None is empty.
func valuesOf(b []byte, name string) (values [][]byte) {
	for {
		at := bytes.Index(b, []byte(name))
		if at < 0 {
			return values
		}
		b = b[at+len(name):]
		rest := bytes.TrimLeft(b, " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		if rest = bytes.TrimLeft(rest[1:], " \t\r\n"); len(rest) > 0 {
			values = append(values, rest)
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
