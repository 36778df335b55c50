package wire

import "github.com/tokenfare/tokenfare/cost"

var chatDialect = dialect{
	shape: chatShape, prompt: "messages", plural: "an array of messages",
	limits: [2]string{"max_completion_tokens", "max_tokens"},
	asks:   true,
	member: (*reader).chatMember,
}

// chatMember reads the value of one member of a chat completion request.
func (r *reader) chatMember(name string) error {
	switch name {
	case "messages":
		return r.messages()
	case "tools":
		return r.tools()
	case "functions":
		return r.functions()
	case "tool_choice", "function_call":
		return r.toolChoice()
	case "response_format":
		return r.responseFormat()
	case "prediction":
		return r.prediction()
	case "reasoning_effort":
		return r.keyword(cost.PartOther, efforts...)
	case "verbosity":
		return r.keyword(cost.PartOther, verbosities...)
	case "prompt_cache_retention":
		return r.keyword(cost.PartOther, retentions...)
	case "web_search_options":
		return r.searchOptions()
	case "audio":
		return r.spoken()
	case "modalities":
		return r.modalities()
	default:
		return r.member(name)
	}
}

// The words of members that select, and are not billed.
var (
	efforts     = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	verbosities = []string{"low", "medium", "high"}
	retentions  = []string{"in-memory", "in_memory", "24h"}
)
