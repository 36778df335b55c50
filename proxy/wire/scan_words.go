package wire

// Servers invent names for what a model says (thinking, a transcript, a plan), so it is not known by its name: all strings of a choice
// are the model's words, and so is tried all that stands in their place, but for members of which it is known that they hold none.

// isSilent reports whether a member holds nothing that a model said, however deep: what is written about an answer, and what repeats it
// (logprobs are its tokens once more).
func isSilent(name []byte) bool {
	switch string(name) {
	case "id", "item_id", "response_id", "call_id", "tool_call_id", "container_id", "object", "model", "role", "type", "status", "phase", "format",
		"mime_type", "media_type", "detail", "finish_reason", "native_finish_reason", "stop_reason", "system_fingerprint", "service_tier",
		"obfuscation", "logprobs", "top_logprobs", "prompt_logprobs", "annotation", "annotations", "error", "usage",
		"content_filter_results", "content_filter_result":
		return true
	}
	return false
}

// isWords reports whether a member at the top of a chat's answer, where OpenAI has none, holds what the model said.
func isWords(name []byte) bool {
	switch string(name) {
	case "message", "delta", "content", "text", "response", "refusal", "reasoning", "reasoning_content", "thinking":
		return true
	}
	return false
}

// inWords reports whether the strings that are read are the model's words.
func (s *scanner) inWords() bool {
	return s.top == choicesMember || s.top == wordsMember || s.top == pieceMember
}

// endWordsName looks at the name of a member within what holds words.
func (s *scanner) endWordsName(name []byte) {
	if s.depth <= int(s.hush) {
		s.hush = 0
	}
	s.payload = s.payloadOf(name)
	if s.hush == 0 && isSilent(name) {
		s.hush = int16(s.depth) // at most maxScanDepth
	}
}

// beginWords says what to do with a string within what holds words.
func (s *scanner) beginWords() {
	switch {
	case s.hush > 0:
		s.reason = s.reason || s.top == choicesMember && string(s.name.b[:s.name.n]) == "finish_reason"
	case s.top == pieceMember:
		s.beginUnsure()
	case s.payload != noPayload:
		s.kind, s.item.direct = keepItem, true // not as keepText: what is recalled is not sought for blanks
		s.sealed, s.holds, s.prefix = true, s.payload, 0
	default:
		s.kind = keepText
		s.texts++
	}
}
