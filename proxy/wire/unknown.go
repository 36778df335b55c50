package wire

import (
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

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
