package wire

import "github.com/tokenfare/tokenfare/cost"

var responsesDialect = dialect{
	shape: newBodyShape(
		[]string{"max_output_tokens"},
		"model", "input", "instructions", "tools", "tool_choice", "text", "max_output_tokens", "max_tool_calls", "stream",
		"stream_options", "reasoning", "previous_response_id", "conversation", "prompt", "background", "store", "service_tier",
		"include", "truncation", "metadata", "parallel_tool_calls", "temperature", "top_p", "top_logprobs", "n", "best_of",
		"user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "context_management",
	),
	prompt: "input", plural: "a string or an array of items",
	limits: [2]string{"max_output_tokens"},
	least:  16, // OpenAI's API reference
	stores: true,
	runs:   true,
	member: (*reader).responsesMember,
}

// inputTokensDialect is for requests to the Responses API whose input is only counted.
var inputTokensDialect = func() dialect {
	d := responsesDialect
	d.stores = false
	return d
}()

var (
	textShape      = newShape("format", "verbosity")
	reasoningShape = newShape("effort", "summary", "generate_summary")
)

// responsesMember reads the value of one member of a request to the Responses API.
func (r *reader) responsesMember(name string) error {
	switch name {
	case "input":
		return r.items("user")
	case "instructions":
		return r.items("developer")
	case "tools":
		return r.responseTools()
	case "tool_choice":
		return r.toolChoice()
	case "max_tool_calls":
		return r.mostRuns()
	case "text":
		return r.textOptions()
	case "reasoning":
		return r.reasoning()
	case "previous_response_id":
		return r.ref(PreviousResponse)
	case "conversation":
		return r.conversation()
	case "prompt":
		return r.stored(name)
	case "include":
		return r.keywords(cost.PartOther, "file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
			"message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs",
			"reasoning.encrypted_content", "message.output_text.logprobs")
	case "truncation":
		return r.truncation()
	case "prompt_cache_retention":
		return r.keyword(cost.PartOther, retentions...)
	default:
		return r.member(name)
	}
}

// mostRuns reads how often the provider may run tools.
func (r *reader) mostRuns() error {
	const most = 10_000
	limit := &r.req.mostRuns
	limit.present = true
	at, n, err := r.integer(1, most)
	if err != nil {
		return err
	}
	limit.value, limit.n = at, n
	if limit.null = r.body[at.start] == 'n'; !limit.null {
		r.req.Cost.MostHosted = n
	}
	return nil
}

// textOptions reads what form the answer is to have.
func (r *reader) textOptions() error {
	if r.next() != '{' {
		return r.countText(cost.PartSchema)
	}
	return r.object(textShape, func(name string) error {
		switch {
		case name == "format" && r.next() == '{':
			return r.responseFormat()
		case name == "verbosity":
			return r.keyword(cost.PartSchema, verbosities...)
		default:
			return r.countText(cost.PartSchema)
		}
	})
}

// reasoning reads how much the model is to think, and what of it to show.
func (r *reader) reasoning() error {
	if r.next() != '{' {
		return r.countAll(cost.PartOther)
	}
	return r.object(reasoningShape, func(name string) error {
		switch name {
		case "effort":
			return r.keyword(cost.PartOther, efforts...)
		case "summary", "generate_summary":
			return r.keyword(cost.PartOther, "auto", "concise", "detailed")
		default:
			return r.countAll(cost.PartOther)
		}
	})
}

// truncation reads whether the provider may leave out what the model has no room for.
func (r *reader) truncation() error {
	if r.next() != '"' {
		r.req.Shortens = r.next() != 'n' // null is as good as absent
		return r.countText(cost.PartOther)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	word := r.text(at)
	if r.req.Shortens = word != "disabled"; word != "auto" && r.req.Shortens {
		r.count(cost.PartOther, word)
	}
	return nil
}
