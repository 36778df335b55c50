package wire

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

var (
	itemShape = newShape("type", "role", "content", "id", "status", "phase", "name", "arguments", "input", "call_id", "output",
		"summary", "encrypted_content", "result", "tools", "outputs", "container_id", "environment")
	itemPartShape = newShape(append([]string{"type", "text", "refusal", "image_url", "detail", "input_audio", "file", "file_id", "file_data", "filename"}, unknowable...)...)
)

// items reads what a request to the Responses API tells the model: a text, as a message of that role, or items.
func (r *reader) items(role string) error {
	switch r.next() {
	case '"':
		at, err := r.scalar()
		if err != nil {
			return err
		}
		r.message = message{role: role}
		r.count(cost.PartMessages, role)
		r.count(cost.PartMessages, r.text(at))
		r.message.lastText = len(r.req.Cost.Text)
		r.endMessage()
		return nil
	case '[':
		return r.array(r.item)
	case 'n':
		_, err := r.scalar()
		return err
	default:
		return r.wrongType("a string or an array of items")
	}
}

// An item collects what can only be judged once it is read, since its type may come last.
type item struct {
	kind           string
	id             span // its number
	role           bool // it says who speaks
	known          bool // its type is known here
	said           bool // it has content
	bears          bool // there is something in it, beside what it is and whose
	more           bool // there are members that are not known here
	call           cost.ToolCall
	sealed, result span  // strings not yet counted: reasoning that only the provider can read, a picture in base64
	untyped        error // what is wrong with its tools, unless it is a list of what a server offers
}

func (r *reader) item() error {
	if r.next() != '{' {
		return r.wrongType("an object")
	}
	var it item
	r.message = message{firstAudio: len(r.req.Cost.Audio)}
	if err := r.object(itemShape, func(name string) error { return r.itemMember(&it, name) }); err != nil {
		return err
	}
	if it.untyped != nil && it.kind != "mcp_list_tools" {
		return it.untyped
	}
	if it.refers() {
		if err := r.addRef(ItemRef, it.id); err != nil {
			return err
		}
		if !it.bears && !it.more && it.sealed == (span{}) && it.result == (span{}) {
			return nil // the item that is meant counts
		}
	}
	r.endItem(&it)
	return nil
}

// refers reports whether the provider is to take the item, or something of it, from what it has stored. What is none of the
// items that are known here is taken to be no more than its id, whatever stands beside that.
func (it *item) refers() bool {
	whole := it.bears || it.more
	switch it.kind {
	case "reasoning", "compaction", "context_compaction":
		return it.id != (span{}) && it.sealed == (span{})
	case "image_generation_call":
		return it.id != (span{}) && it.result == (span{})
	case "", "message":
		whole = it.said
	case "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
		whole = it.bears // all that they are made of is known
	}
	return it.id != (span{}) && (!whole || !it.known && !it.role || strings.EqualFold(it.kind, "item_reference"))
}

func (r *reader) itemMember(it *item, name string) error {
	if r.next() != 'n' {
		switch name {
		case "type", "id", "status", "phase", "encrypted_content", "result":
		case "role":
			it.role = true
		case "":
			it.more = true
		case "content":
			it.said, it.bears = true, true
		default:
			it.bears = true
		}
	}
	switch name {
	case "type":
		return r.itemKind(it)
	case "role":
		return r.role()
	case "id":
		if r.next() != '"' {
			return r.id()
		}
		err := r.later(&it.id)
		if err == nil && it.id.end-it.id.start-2 > plainID {
			r.count(cost.PartMessages, r.text(it.id))
		}
		return err
	case "call_id":
		return r.callID()
	case "status":
		return r.keyword(cost.PartMessages, "in_progress", "completed", "incomplete", "searching", "generating", "interpreting", "failed")
	case "phase":
		return r.keyword(cost.PartMessages, "commentary", "final_answer")
	case "content", "summary", "output":
		before := len(r.req.Cost.Text)
		if err := r.parts(r.itemPart); err != nil {
			return err
		}
		if after := len(r.req.Cost.Text); after > before {
			r.message.lastText = after
		}
		return nil
	case "tools":
		return r.itemTools(it)
	case "container_id":
		return r.ref(ContainerRef)
	case "environment":
		return r.ranIn()
	case "name":
		return r.textTo(&it.call.Name)
	case "arguments", "input":
		if it.call.Arguments == "" {
			return r.textTo(&it.call.Arguments)
		}
	case "outputs":
		return r.outputs()
	case "encrypted_content":
		if r.next() == '"' {
			return r.filled(&it.sealed)
		}
	case "result":
		if r.next() == '"' {
			return r.filled(&it.result)
		}
	case "":
		return r.unknown()
	}
	return r.countText(cost.PartMessages)
}

// filled reads a string without counting it. An empty one is as good as none.
func (r *reader) filled(at *span) error {
	var s span
	err := r.later(&s)
	if s.end-s.start > len(`""`) {
		*at = s
	}
	return err
}

// itemKind reads the type of an item: a word that selects, unless we do not know it.
func (r *reader) itemKind(it *item) error {
	if r.next() != '"' {
		return r.countText(cost.PartMessages)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	switch it.kind = r.word(at); it.kind {
	case "message", "reasoning", "compaction", "context_compaction", "item_reference",
		"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output",
		"apply_patch_call", "apply_patch_call_output", "web_search_call", "file_search_call", "code_interpreter_call",
		"image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
		"additional_tools", "tool_search_call", "tool_search_output", "program", "program_output", "compaction_trigger", "configuration_update":
		it.known = true
	default:
		r.count(cost.PartMessages, it.kind)
	}
	return nil
}

// endItem adds what hangs on the item as a whole. An item that is not a message is taken to be shown to the model as one.
func (r *reader) endItem(it *item) {
	facts := &r.req.Cost
	switch it.kind {
	case "function_call", "custom_tool_call":
		r.message.calls = append(r.message.calls, it.call)
	default:
		r.count(cost.PartMessages, it.call.Name)
		r.count(cost.PartMessages, it.call.Arguments)
	}
	if it.kind == "reasoning" || it.kind == "compaction" || it.kind == "context_compaction" {
		facts.Sealed += cost.SealedTokens(r.content(it.sealed))
	} else {
		r.countUnless(false, it.sealed)
	}
	if it.kind == "image_generation_call" && it.result != (span{}) {
		facts.Images = append(facts.Images, cost.ImageOf(append([]byte("data:;base64,"), r.content(it.result)...), cost.AutoDetail))
	} else {
		r.countUnless(false, it.result)
	}
	if r.message.role == "" {
		r.message.role = "assistant"
		r.count(cost.PartMessages, "assistant")
	}
	r.endMessage()
}

// ranIn reads where a shell has run: at the caller, or in a container that one of the caller's answers had made.
func (r *reader) ranIn() error {
	if r.next() != '{' {
		return r.countText(cost.PartMessages)
	}
	return r.object(containerShape, func(name string) error {
		switch name {
		case "type":
			return r.keyword(cost.PartMessages, "local", "container_reference")
		case "container_id":
			return r.ref(ContainerRef)
		case "file_ids":
			return r.refs(MountedRef)
		case "":
			return r.unknown()
		default:
			return r.countText(cost.PartMessages)
		}
	})
}

// outputs reads what code has left: logs, and pictures in data: URLs.
func (r *reader) outputs() error {
	if r.next() != '[' {
		return r.countText(cost.PartMessages)
	}
	return r.array(func() error {
		if r.next() != '{' {
			return r.countText(cost.PartMessages)
		}
		return r.members(func(name string) error {
			if name != "url" || r.next() != '"' {
				return r.among(name, "type", "logs", "url")
			}
			var at span
			if err := r.later(&at); err != nil {
				return err
			}
			if url := r.content(at); bytes.HasPrefix(url, []byte("data:image/")) {
				r.req.Cost.Images = append(r.req.Cost.Images, cost.ImageOf(url, cost.AutoDetail))
				return nil
			}
			r.countUnless(false, at)
			return nil
		})
	})
}

// itemPart reads a part of an item's content. As in a chat, no type can hide a prompt.
func (r *reader) itemPart() error {
	if r.next() != '{' {
		return r.countText(cost.PartMessages)
	}
	var p contentPart
	if err := r.object(itemPartShape, func(name string) error { return r.itemPartMember(&p, name) }); err != nil {
		return err
	}
	return r.endPart(&p, p.kind == "input_image" || p.kind == "computer_screenshot", p.kind == "input_audio", p.kind == "input_file")
}

func (r *reader) itemPartMember(p *contentPart, name string) error {
	switch name {
	case "type":
		return r.partKind(p, "input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text",
			"input_image", "computer_screenshot", "input_file", "input_audio")
	case "image_url":
		p.image = p.image || r.next() != 'n'
		if r.next() == '"' {
			return r.later(&p.url)
		}
		return r.attachment(imageShape, "url", p, &p.url)
	case "detail":
		return r.detail(&p.detail)
	case "input_audio":
		return r.attachment(audioShape, "data", p, &p.audio)
	case "file": // a chat's form, but servers take it
		return r.attachment(fileShape, "file_data", p, &p.inlay)
	case "file_data":
		if r.next() == '"' {
			return r.inlay(&p.inlay)
		}
	case "file_id":
		return r.fileID(p)
	}
	if slices.Contains(unknowable, name) {
		return r.unknowable()
	}
	if name == "" {
		return r.unknown()
	}
	return r.countText(cost.PartMessages)
}
