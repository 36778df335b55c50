package wire

import "bytes"

// Much of a response comes in pieces, but calls of some tools come whole: a patch or a command is in its item alone, once that is
// finished; and servers other than OpenAI's may write no pieces at all. So of a stream's items, and of the events that finish a part of
// one, those are read that were not read in pieces, and of an answer all items.

// itemState is what is known of the item that is being read, or of the event that holds one. It is small: it is copied for each event.
type itemState struct {
	place   uint32 // its place...
	part    uint32 // ...and that of the part of it...
	indexed bool   // ...were...
	parted  bool   // ...read
	summary bool   // the part is one of its summary
	kind    itemKind
	holds   itemPart
	direct  bool // the string being read is known to count
	told    bool // the type of the event was read...
	done    bool // ...it says that something is finished...
	final   bool // ...and that this is the item
}

// endType looks at the type of an event, of which a type that is cut off may finish something. finished is that of an item that is.
func (i *itemState) endType(name nameBuffer, finished string) {
	text := name.b[:name.n]
	i.told = true
	i.final = finished != "" && string(text) == finished
	i.done = finished != "" && (bytes.HasSuffix(text, []byte(".done")) || name.n == len(name.b))
}

// An itemKind says who has said what is in an item, and whether it was said before.
type itemKind uint8

const (
	unknownItem itemKind = iota
	piecedItem           // the model, in pieces
	wholeItem            // the model, in nothing but the item, as far as its type says
	foreignItem          // not the model
)

// itemKindOf goes by the type of an item. One that is not known may hold the model's words.
func itemKindOf(name []byte) itemKind {
	switch string(name) {
	case "message", "reasoning", "function_call", "custom_tool_call", "mcp_call", "code_interpreter_call":
		return piecedItem
	case "mcp_list_tools", "mcp_approval_response", "additional_tools", "image_generation_call", "compaction":
		return foreignItem
	}
	if bytes.HasSuffix(name, []byte("_output")) {
		return foreignItem
	}
	return wholeItem
}

// An itemPart is what a member of an item holds.
type itemPart uint8

const (
	noPart    itemPart = iota // nothing that the model has said
	typePart                  // the type of the item
	textPart                  // parts, and the model's words in some of their members
	wholePart                 // the model's words, in whatever form
)

func itemPartOf(name []byte) itemPart {
	switch string(name) {
	case "type":
		return typePart
	case "content", "summary":
		return textPart
	case "id", "call_id", "status", "role", "phase", "encrypted_content", "fingerprint", "caller", "created_by", "execution", "environment",
		"container_id", "server_label", "approval_request_id", "output", "outputs", "result", "results", "tools", "error", "pending_safety_checks":
		return noPart
	}
	return wholePart
}

// inItems reports whether what is read may be an item.
func (s *scanner) inItems() bool { return s.top >= saidMember }

// itemDepth is how deep the members of an item are.
func (s *scanner) itemDepth() int {
	if s.top == saidMember {
		return 3 // it is in an array
	}
	return 2
}

// endItemName looks at the name of a member within an item.
func (s *scanner) endItemName(name []byte) {
	depth := s.itemDepth()
	if s.depth <= int(s.hush) {
		s.hush = 0
	}
	switch {
	case s.depth < depth:
		s.item.holds = noPart
	case s.depth == depth:
		s.item.holds = itemPartOf(name)
	case s.item.holds == textPart:
		s.endWordsName(name)
	case s.depth == depth+1 && string(name) == "sources": // where a search has looked
		s.hush = int16(s.depth) // at most maxScanDepth
	}
}

// beginItemString says what to do with a string within an item.
func (s *scanner) beginItemString() {
	switch {
	case s.item.holds == typePart && s.depth == s.itemDepth():
		s.kind = keepItemType
		s.name.n = 0
	case s.item.holds >= textPart && s.hush == 0:
		s.beginUnsure()
	}
}

// beginUnsure begins a string that is the model's, and counts unless it was said before.
func (s *scanner) beginUnsure() {
	counts, known := s.itemCounts()
	if known && !counts {
		return
	}
	s.kind = keepItem
	if s.sealed = s.payload != noPayload; !s.sealed {
		s.texts++
	}
	s.holds = sealPayload // what tools make for a response is reserved and charged by the piece
	if s.item.direct = known; known {
		s.sink.take(&s.aside)
	}
}

func (s *scanner) keepItem(b []byte) {
	if s.item.direct {
		s.sink.add(b)
	} else {
		s.aside.add(b)
	}
}

// itemCounts reports whether what is read of an item or a part counts, and whether that is known for sure: servers differ in what they
// write first.
func (s *scanner) itemCounts() (counts, known bool) {
	i := &s.item
	if s.is.finished == "" {
		return i.kind != foreignItem, i.kind != unknownItem
	}
	inItem := s.top == itemMember
	known = i.done && i.indexed && (i.kind != unknownItem || !inItem)
	switch {
	case i.kind == foreignItem || i.told && !i.done:
		return false, true
	case s.spoken.astray && i.kind != wholeItem: // who knows of what
		return false, known
	case i.indexed && i.parted:
		said := s.spoken.has(i.partKey())
		return i.done && !said, known || said
	case i.indexed && s.spoken.has(i.key()):
		return false, inItem // else the place of the part may follow
	default:
		return i.done, known
	}
}

// takeItem is called when nothing more comes of an item, or of an event: what was put aside counts, or it does not. What is said in an
// event is not said again in one that finishes a part or an item at its place. An item that is finished is followed by none.
func (s *scanner) takeItem() {
	if counts, _ := s.itemCounts(); counts {
		s.sink.take(&s.aside)
	}
	s.aside.drop()
	if s.is.finished != "" && s.sink.fresh && !s.item.final {
		s.spoken.add(&s.item)
	}
}
