package wire

import "bytes"

// Much of a response comes in pieces, but calls of some tools come whole: a patch or a command is in its item alone, once that is
// finished. So of a stream's items those are read that were not read in pieces, and of an answer all of them.

// itemState is what is known of the item that is being read, or of the event that holds one. It is small: it is copied for each event.
type itemState struct {
	index   uint32 // its place...
	indexed bool   // ...was read
	kind    itemKind
	part    itemPart
	direct  bool  // the string being read is known to count
	hush    int16 // the depth of a member whose strings are not the model's; 0: there is none
	told    bool  // the type of the event was read...
	done    bool  // ...and it says that the item is finished
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

// isSaid reports whether a member of that name holds what a model said, in any dialect we know.
func isSaid(name []byte) bool {
	switch string(name) {
	case "content", "refusal", "reasoning_content", "reasoning", "text", "name", "arguments", "input":
		return true
	}
	return false
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
	if s.depth <= int(s.item.hush) {
		s.item.hush = 0
	}
	switch {
	case s.depth < depth:
		s.item.part = noPart
	case s.depth == depth:
		s.item.part = itemPartOf(name)
		s.textual = s.item.part == textPart
	case s.item.part == textPart:
		s.textual = isSaid(name)
	case s.depth == depth+1 && string(name) == "sources": // where a search has looked
		s.item.hush = int16(s.depth) // at most maxScanDepth
	}
}

// beginItemString says what to do with a string within an item.
func (s *scanner) beginItemString() {
	switch {
	case s.item.part == typePart && s.depth == s.itemDepth():
		s.kind = keepItemType
		s.name.n = 0
	case s.item.part == wholePart && s.item.hush == 0, s.item.part == textPart && s.textual:
		counts, known := s.itemCounts()
		if known && !counts {
			return
		}
		s.kind = keepItem
		s.texts++
		if s.item.direct = known; known {
			s.sink.take(&s.aside)
		}
	}
}

func (s *scanner) keepItem(b []byte) {
	if s.item.direct {
		s.sink.add(b)
	} else {
		s.aside.add(b)
	}
}

// itemCounts reports whether what is read of an item counts, and whether that is known for sure: servers differ in what they write first.
func (s *scanner) itemCounts() (counts, known bool) {
	i := &s.item
	if s.is.finished == "" {
		return i.kind != foreignItem, i.kind != unknownItem
	}
	if i.kind == piecedItem || i.kind == foreignItem || i.told && !i.done || i.indexed && s.spoken.has(i.index) {
		return false, true
	}
	return i.done, i.done && i.indexed && i.kind != unknownItem
}

// takeItem is called when nothing more comes of an item, or of an event: what was put aside counts, or it does not.
func (s *scanner) takeItem() {
	if s.is.finished != "" && s.item.indexed && s.sink.fresh {
		s.spoken.add(s.item.index)
	}
	if counts, _ := s.itemCounts(); counts {
		s.sink.take(&s.aside)
	}
	s.aside.drop()
}

// indexDigits reads on in the place of an item.
func (s *scanner) indexDigits(digits []byte) {
	const most = 1 << 28
	for _, c := range digits {
		if s.item.indexed = s.item.indexed && c >= '0' && c <= '9' && s.item.index < most; s.item.indexed {
			s.item.index = s.item.index*10 + uint32(c-'0')
		}
	}
}

// places are those of the items that have come in pieces, as many as may be kept.
type places struct {
	last uint32 // the one added last, and one more; 0: there is none
	all  map[uint32]bool
}

const mostPlaces = 1 << 14

func (p *places) add(i uint32) {
	if p.last == i+1 {
		return
	}
	p.last = i + 1
	if p.all == nil {
		p.all = map[uint32]bool{}
	}
	if len(p.all) < mostPlaces {
		p.all[i] = true
	}
}

func (p *places) has(i uint32) bool { return p.last == i+1 || p.all[i] }
