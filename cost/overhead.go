package cost

// What the provider's rendering adds to a chat. The first three are from the OpenAI cookbook,
// How_to_count_tokens_with_tiktoken: each message is <|start|>role<|message|>content<|end|>, a name takes one token more,
// and the reply is primed with three. The others were found by hmarr/openai-chat-tokens, by trying requests and reading
// the usage.
const (
	replyPriming = 3
	perMessage   = 3
	perName      = 1

	perFunctionCall   = 3
	perFunctionResult = -2
	perToolSet        = 9  // once if there are tools at all
	toolsInSystem     = -4 // where tools stand in a system message that is there anyway, behind a line end
)

// overhead is what the provider's rendering adds around messages and tools.
func overhead(r Request, counter Counter) (n int64, basis Basis) {
	if r.Messages > 0 {
		n = saturatingAdd(replyPriming, saturatingMul(int64(r.Messages), perMessage))
	}
	n = saturatingAdd(n, saturatingMul(int64(max(0, r.Names)), perName))
	if calls := max(0, r.FunctionCalls); calls > 0 {
		n, basis = saturatingAdd(n, saturatingMul(int64(calls), perFunctionCall)), Formula
	}
	if results := max(0, r.FunctionResults); results > 0 {
		n, basis = max(0, n-saturatingMul(int64(results), -perFunctionResult)), Formula
	}
	if r.CallTokens > 0 {
		n, basis = saturatingAdd(n, r.CallTokens), Formula
	}
	if len(r.Tools) == 0 {
		return n, basis
	}
	n = saturatingAdd(n, perToolSet)
	if r.FirstSystem > 0 && r.FirstSystem <= len(r.Text) {
		n += toolsInSystem + lineEnd(r.Text[r.FirstSystem-1].S, counter)
	}
	return n, Formula
}

// lineEnd is how many tokens a text has more with a line end behind it. Only its end matters: pieces of text never
// influence each other.
func lineEnd(text string, counter Counter) int64 {
	const most = 64
	text = lastBytes(text, most)
	return counter.Count(text+"\n") - counter.Count(text)
}

// lastBytes is the end of a text, at most that many bytes, cut between characters.
func lastBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	at := len(text) - most
	for at < len(text) && text[at]&0xc0 == 0x80 {
		at++
	}
	return text[at:]
}
