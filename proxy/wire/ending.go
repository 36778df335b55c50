package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/tokenfare/tokenfare/cost"
)

// Ending ends a stream in the name of its upstream, as one ends that has reached its output limit: it is what a [Cover] returns
// when a budget has nothing left. A member tokenfare in the last event says what has happened.
type Ending struct {
	Budget  string     // whose it is, and its sentence
	Choices int64      // that there are, of which those end that have not yet; at most 16,384 of them
	Usage   cost.Usage // what there was, as it was counted
	Asked   bool       // the caller asked for the usage; a response always tells it
}

// Error implements error.
func (e *Ending) Error() string { return "the budget has ended the answer: " + e.Budget }

// mark is the member that tells such an end from others.
func (e *Ending) mark() []byte {
	return object([]member{{"ended", []byte(`"budget"`)}, {"budget", marshal(e.Budget)}})
}

// end appends the events with which a stream ends.
func (s *seen) end(dst []byte, e *Ending) []byte {
	if s.endpoint == Responses {
		return s.endResponse(dst, e)
	}
	return s.endChoices(dst, e)
}

// endChoices appends a last chunk for each choice that is open, the usage if it was asked for, and the end.
func (s *seen) endChoices(dst []byte, e *Ending) []byte {
	s.readLasts()
	chunk := s.chunk()
	end := func(choices string) {
		last := append(slices.Clone(chunk), member{"choices", []byte(choices)})
		if e.Asked {
			last = append(last, member{"usage", []byte("null")})
		}
		dst = appendEvent(dst, "", append(last, member{"tokenfare", e.mark()}))
	}
	open := 0
	for i := range min(e.Choices, mostFinished) {
		if !s.finished[i] {
			end(s.lastChoice(i))
			open++
		}
	}
	if open == 0 { // nothing is to be ended, but why nothing follows must be said
		end("[]")
	}
	if e.Asked {
		usage := fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, e.Usage.Input, e.Usage.Output, e.Usage.Input+e.Usage.Output)
		dst = appendEvent(dst, "", append(chunk, member{"choices", []byte("[]")}, member{"usage", usage}))
	}
	return append(dst, "data: "+doneData+"\n\n"...)
}

// lastChoice is the last there is of a choice.
func (s *seen) lastChoice(index int64) string {
	said := `"delta":{}`
	if s.endpoint == Completions {
		said = `"text":""`
	}
	return fmt.Sprintf(`[{"index":%d,%s,"logprobs":null,"finish_reason":"length"}]`, index, said)
}

// chunk is what all chunks of the stream have in common.
func (s *seen) chunk() []member {
	object := `"chat.completion.chunk"`
	if s.endpoint == Completions {
		object = `"text_completion"`
	}
	chunk := []member{{"id", []byte(`""`)}, {"object", []byte(object)}, {"created", []byte("0")}, {"model", []byte(`""`)}}
	for _, m := range membersOf(eventData(s.head)) {
		switch m.name {
		case "id", "object", "created", "model", "service_tier", "system_fingerprint":
			chunk = withMember(chunk, m.name, m.value)
		}
	}
	return chunk
}

// endResponse appends the events that finish the items that are open, and that of a response that is not complete: the object that the
// stream began with, and what has become of it. Where that is too long to be kept, there is as much of it as its beginning has.
func (s *seen) endResponse(dst []byte, e *Ending) []byte {
	write := func(dst []byte, kind string, members []member) []byte {
		event := []member{{"type", []byte(strconv.Quote(kind))}, {"sequence_number", strconv.AppendInt(nil, s.next, 10)}}
		s.next++
		return appendEvent(dst, kind, append(event, members...))
	}
	dst, output := s.outputs.end(dst, write)
	response := []member{
		{"id", []byte(`""`)},
		{"object", []byte(`"response"`)},
		{"created_at", []byte("0")},
		{"status", nil},
		{"error", []byte("null")},
		{"incomplete_details", nil},
		{"model", []byte(`""`)},
		{"output", []byte("[]")},
		{"parallel_tool_calls", []byte("true")},
		{"tool_choice", []byte(`"auto"`)},
		{"tools", []byte("[]")},
		{"usage", nil},
	}
	for _, m := range s.response() {
		response = withMember(response, m.name, m.value)
	}
	usage := fmt.Sprintf(
		`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
		e.Usage.Input, e.Usage.Output, e.Usage.Input+e.Usage.Output,
	)
	if len(s.outputs.items) > 0 {
		response = withMember(response, "output", output)
	}
	response = withMember(response, "status", []byte(`"incomplete"`))
	response = withMember(response, "incomplete_details", []byte(`{"reason":"max_output_tokens"}`))
	response = withMember(response, "usage", []byte(usage))
	response = withMember(response, "tokenfare", e.mark())
	return write(dst, "response.incomplete", []member{{"response", object(response)}, {"tokenfare", e.mark()}})
}

// response are the members of the object that the stream began with.
func (s *seen) response() []member {
	data := eventData(s.head)
	for _, m := range membersOf(data) {
		if m.name == "response" {
			return membersOf(m.value)
		}
	}
	// Cut off: what comes before it is short, and it is found by its name.
	return membersOf(valueBehind(data, `"response"`))
}

// member is one of an object, its value in JSON.
type member struct {
	name  string
	value []byte
}

// membersOf are the members of an object, up to where it is cut off or no JSON.
func membersOf(text []byte) (members []member) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return members
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return members
		}
		text, _ := name.(string)
		members = append(members, member{text, value})
	}
	return members
}

// withMember sets a member where it stands, or behind the others.
func withMember(members []member, name string, value []byte) []member {
	for i := range members {
		if members[i].name == name {
			members[i].value = value
			return members
		}
	}
	return append(members, member{name, value})
}

// object writes members as an object on one line.
func object(members []member) []byte {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, marshal(m.name)...), ':')
		b = append(b, m.value...)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, append(b, '}')); err != nil {
		panic("BUG: wire: members that are no JSON: " + err.Error())
	}
	return line.Bytes()
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: wire: a value that has no JSON: " + err.Error())
	}
	return b
}

// appendEvent writes an event of one line of data, of a kind where it has one.
func appendEvent(dst []byte, kind string, members []member) []byte {
	if kind != "" {
		dst = append(dst, "event: "+kind+"\n"...)
	}
	return append(append(append(dst, "data: "...), object(members)...), "\n\n"...)
}
