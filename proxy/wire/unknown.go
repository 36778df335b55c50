package wire

import (
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

// countText reads what is a text where it is as it should be, and counts all of it: of anything else the compact JSON, names and numbers
// included, since servers that take an object there show it so. A null is no text.
func (r *reader) countText(part cost.Part) error {
	switch r.next() {
	case '{', '[':
		return r.countJSON(part)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	switch r.body[at.start] {
	case '"':
		r.count(part, r.text(at))
	case 'n':
	default:
		r.count(part, string(r.body[at.start:at.end]))
	}
	return nil
}

// wordless are members that clients and servers add to what is said, of whose names a model sees nothing.
var wordless = []string{
	"index", "annotations", "logprobs", "cache_control", "reasoning", "reasoning_content", "reasoning_details", "thinking", "parsed",
	"parsed_arguments", "extra_content", "signature", "thought_signature", "provider_specific_fields", "prompt_cache_breakpoint",
	"action", "actions", "queries", "results", "code", "operation", "server_label", "error", "caller", "created_by", "stdout", "stderr", "outcome",
}

// unknown reads a member that nobody knows of what is said. Servers that take an object there may show all of it to the model: it counts
// with its name.
func (r *reader) unknown() error {
	if !slices.Contains(wordless, r.word(r.name)) {
		r.count(cost.PartMessages, string(r.body[r.name.start:r.name.end])+":")
		return r.countText(cost.PartMessages)
	}
	if kind := r.next(); kind != '[' && kind != '{' {
		return r.countText(cost.PartMessages)
	}
	text, err := r.compact()
	if err == nil && len(text) > len("[]") {
		r.count(cost.PartMessages, text)
	}
	return err
}

// among reads a member as a text, which may be one that nobody knows.
func (r *reader) among(name string, known ...string) error {
	if slices.Contains(known, name) {
		return r.countText(cost.PartMessages)
	}
	return r.unknown()
}
