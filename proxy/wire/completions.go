package wire

import "github.com/tokenfare/tokenfare/cost"

// completionsLimit is the output limit of a completion request that gives none (OpenAI's API reference).
const completionsLimit = 16

var completionsDialect = dialect{
	shape: newBodyShape(
		[]string{"max_tokens"},
		"model", "prompt", "suffix", "max_tokens", "n", "best_of", "echo", "stream", "stream_options", "logprobs", "stop",
		"temperature", "top_p", "seed", "logit_bias", "presence_penalty", "frequency_penalty", "user", "metadata", "store",
		"background", "service_tier", "previous_response_id", "conversation",
	),
	prompt: "prompt", plural: "a string, an array of strings or token numbers",
	limits: [2]string{"max_tokens"},
	asks:   true,
	echoes: true,
	member: (*reader).completionsMember,
	end:    (*reader).endCompletion,
}

// completionsMember reads the value of one member of a completion request.
func (r *reader) completionsMember(name string) error {
	switch name {
	case "prompt":
		return r.prompts()
	case "suffix":
		return r.countText(cost.PartMessages)
	case "echo":
		var err error
		r.req.Cost.Echo, _, err = r.boolean()
		return err
	default:
		return r.member(name)
	}
}

// prompts reads a text, token numbers, or several of either. Each is answered by itself.
func (r *reader) prompts() error {
	if r.next() == 'n' { // the end-of-text token stands for it
		r.req.Cost.PromptIDs++
		return r.countText(cost.PartMessages)
	}
	return r.textsOrIDs()
}

// textsOrIDs reads a string, an array of strings, token numbers, or an array of arrays of them, and notes how many there are.
func (r *reader) textsOrIDs() error {
	switch r.next() {
	case '"':
		return r.countText(cost.PartMessages)
	case '[':
	default:
		return r.wrongType("a string, an array of strings, an array of token numbers or an array of such arrays")
	}
	texts, numbers := int64(0), int64(0)
	err := r.array(func() error {
		switch r.next() {
		case '"':
			texts++
			return r.countText(cost.PartMessages)
		case '[':
			texts++
			return r.array(r.tokenID)
		default:
			numbers = 1
			return r.tokenID()
		}
	})
	r.prompted = texts + numbers
	return err
}

// tokenID reads the number of a token.
func (r *reader) tokenID() error {
	const most = 1 << 24 // more than any vocabulary has
	if r.next() != '0' {
		return r.wrongType("a token number")
	}
	_, _, err := r.integer(0, most)
	r.req.Cost.PromptIDs++
	return err
}

// endCompletion applies what hangs on several members.
func (r *reader) endCompletion() error {
	facts := &r.req.Cost
	facts.Choices *= max(1, r.prompted) // both bounded, by maxChoices and maxValues
	if !facts.HasMaxOutput {
		facts.HasMaxOutput, facts.MaxOutput, r.req.MustLimit = true, completionsLimit, completionsLimit
	}
	if facts.MaxOutput == 0 && !facts.Echo {
		return badRequest(CodeInvalidValue, "max_tokens", `"max_tokens" may be 0 only to have the prompt echoed ("echo": true): some servers take it for no limit at all.`)
	}
	return nil
}
