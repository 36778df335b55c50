package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// outputs are the items of a response that is streamed, as far as they have passed: clients take what the last event says for all there
// was, so an end of ours must say it.
type outputs struct {
	items map[int64]*output
	size  int // of all that is kept, about
}

// Bounds of what is kept of a stream's items, in bytes. An item that does not fit is kept as its names, if those are no longer than
// mostNames, and no more than mostItems are kept at all.
const (
	mostKept  = 256 << 10
	mostNames = 1 << 10
	mostItems = 256
	leastKept = 64 // what the smallest thing counts as
)

// output is one item.
type output struct {
	members []member // as it began, or as it was finished
	done    bool
	bare    bool // it did not fit: there are its names, and no text
	size    int
	said    []byte // what comes in pieces of the item itself
	hasSaid bool   // ...and all of it has come
	parts   map[partPlace]*outputPart
}

type partPlace struct {
	list  string // content or summary
	index int64
}

// outputPart is a part of an item.
type outputPart struct {
	members     []member // as it began, or as it was finished
	said        []byte
	hasSaid     bool
	done        bool
	annotations [][]byte
}

// A pieceKind says where the text of an event belongs.
type pieceKind struct {
	list   string // the list of parts; empty: the item itself
	of     string // the type of the part or of the item
	member string // the member of it
}

// pieceKinds are the kinds of events that come as .delta and .done.
var pieceKinds = map[string]pieceKind{
	"response.output_text":                {"content", "output_text", "text"},
	"response.refusal":                    {"content", "refusal", "refusal"},
	"response.reasoning_text":             {"content", "reasoning_text", "text"},
	"response.reasoning_summary_text":     {"summary", "summary_text", "text"},
	"response.function_call_arguments":    {"", "function_call", "arguments"},
	"response.custom_tool_call_input":     {"", "custom_tool_call", "input"},
	"response.mcp_call_arguments":         {"", "mcp_call", "arguments"},
	"response.code_interpreter_call_code": {"", "code_interpreter_call", "code"},
}

// outputEvent is an event of a response that is about one of its items.
type outputEvent struct {
	Type    string
	Place   *int64 `json:"output_index"`
	Content int64  `json:"content_index"`
	Summary int64  `json:"summary_index"`
	Item    json.RawMessage
	Part    json.RawMessage
	Note    json.RawMessage `json:"annotation"`
	Delta   string
	said    []byte // that
}

// readOutputEvent reads an event. One that is about no item has no place; one that cannot be read is not ok, and has none either.
func readOutputEvent(b []byte) (e outputEvent, ok bool) {
	if bytes.Contains(b, []byte(`"output_index"`)) && json.Unmarshal(eventData(b), &e) != nil {
		return outputEvent{}, false
	}
	e.said = []byte(e.Delta)
	return e, true
}

// isPiece reports whether it says nothing but a piece of text.
func (e *outputEvent) isPiece() bool { return len(e.Item) == 0 && len(e.Part) == 0 && len(e.Note) == 0 }

// event takes over what an event says that has passed.
func (o *outputs) event(e *outputEvent) {
	if e.Place == nil {
		return
	}
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		o.item(*e.Place, membersOf(e.Item), len(e.Item), strings.HasSuffix(e.Type, ".done"))
		return
	}
	item := o.items[*e.Place]
	if item == nil || item.done || item.bare {
		return
	}
	switch e.Type {
	case "response.content_part.added", "response.content_part.done":
		o.part(item, partPlace{"content", e.Content}, e.Part, strings.HasSuffix(e.Type, ".done"))
	case "response.reasoning_summary_part.added", "response.reasoning_summary_part.done":
		o.part(item, partPlace{"summary", e.Summary}, e.Part, strings.HasSuffix(e.Type, ".done"))
	case "response.output_text.annotation.added":
		if part := item.parts[partPlace{"content", e.Content}]; part != nil && len(e.Note) > 0 && o.grow(item, len(e.Note)+leastKept) {
			part.annotations = append(part.annotations, e.Note)
		}
	default:
		kind, known := pieceKinds[strings.TrimSuffix(strings.TrimSuffix(e.Type, ".delta"), ".done")]
		if !known || !o.grow(item, len(e.said)) {
			return
		}
		text, whole := &item.said, &item.hasSaid
		if kind.list != "" {
			place := partPlace{kind.list, e.Content}
			if kind.list == "summary" {
				place.index = e.Summary
			}
			part := item.parts[place]
			if part == nil {
				return // nobody knows of it
			}
			text, whole = &part.said, &part.hasSaid
		}
		*text = append(*text, e.said...)
		*whole = *whole || strings.HasSuffix(e.Type, ".done")
	}
}

// item takes over an item that has begun, or is finished.
func (o *outputs) item(place int64, members []member, size int, done bool) {
	item := o.items[place]
	if item == nil {
		if len(members) == 0 || len(o.items) >= mostItems {
			return
		}
		if o.items == nil {
			o.items = map[int64]*output{}
		}
		item = &output{}
		o.items[place] = item
	}
	o.size -= item.size
	*item = output{members: members, done: done}
	o.grow(item, size+leastKept)
}

// part takes over a part that has begun, or is finished.
func (o *outputs) part(item *output, place partPlace, text []byte, done bool) {
	members := membersOf(text)
	if len(members) == 0 || !o.grow(item, len(text)+leastKept) {
		return
	}
	if item.parts == nil {
		item.parts = map[partPlace]*outputPart{}
	}
	item.parts[place] = &outputPart{members: members, done: done}
}

// grow reports whether so much more of an item may be kept. Else there are but its names from here on, or nothing.
func (o *outputs) grow(item *output, n int) bool {
	if o.size+n <= mostKept {
		o.size += n
		item.size += n
		return true
	}
	o.size -= item.size
	names := item.members[:0:0]
	for _, m := range item.members {
		switch m.name {
		case "id", "type", "status", "role", "call_id", "name", "server_label", "container_id":
			names = append(names, m)
		case "content", "summary":
			names = append(names, member{m.name, []byte("[]")})
		case "arguments", "input", "code":
			names = append(names, member{m.name, []byte(`""`)})
		}
	}
	*item = output{members: names, done: item.done, bare: true}
	if len(object(names)) > mostNames {
		item.members = nil
	}
	return false
}
