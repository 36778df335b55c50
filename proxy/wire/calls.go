package wire

import "github.com/tokenfare/tokenfare/cost"

// plainID is how long a tool call's number may be without counting: the model is not shown it. OpenAI's have 29 bytes.
const plainID = 64

// toolCalls reads the calls that an assistant's message makes.
func (r *reader) toolCalls() error {
	if r.next() != '[' {
		return r.countText(cost.PartMessages)
	}
	return r.array(func() error {
		if r.next() != '{' {
			return r.countText(cost.PartMessages)
		}
		var call cost.ToolCall
		if err := r.members(func(name string) error { return r.toolCallMember(&call, name) }); err != nil {
			return err
		}
		r.message.calls = append(r.message.calls, call)
		return nil
	})
}

func (r *reader) toolCallMember(call *cost.ToolCall, name string) error {
	switch {
	case name == "id":
		return r.callID()
	case name == "type":
		return r.keyword(cost.PartMessages, "function", "custom")
	case name == "index" && r.next() == '0': // which of them it is, where it was put together from a stream
		return r.skip()
	case (name == "function" || name == "custom") && r.next() == '{':
		return r.members(func(name string) error {
			switch {
			case name == "name" && call.Name == "":
				return r.textTo(&call.Name)
			case (name == "arguments" || name == "input") && call.Arguments == "":
				return r.textTo(&call.Arguments)
			default:
				return r.among(name, "name", "arguments", "input")
			}
		})
	default:
		return r.among(name, "function", "custom")
	}
}

// functionCall reads the call of a function by old clients, which counts as its texts.
func (r *reader) functionCall() error {
	if r.next() != '{' {
		return r.countText(cost.PartMessages)
	}
	r.message.function = true
	return r.members(func(name string) error { return r.among(name, "name", "arguments") })
}

// textTo reads a text, or whatever is there instead as its compact JSON.
func (r *reader) textTo(to *string) error {
	switch r.next() {
	case '"':
		at, err := r.scalar()
		if err == nil {
			*to = r.text(at)
		}
		return err
	case 'n':
		return r.skip()
	default:
		var err error
		*to, err = r.compact()
		return err
	}
}

// callID reads the number of a tool call.
func (r *reader) callID() error {
	if r.next() != '"' {
		return r.id()
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	if id := r.text(at); len(id) > plainID {
		r.count(cost.PartMessages, id)
	} else {
		r.req.Cost.CallIDs = append(r.req.Cost.CallIDs, id)
	}
	return nil
}

// id reads a number that no model is shown.
func (r *reader) id() error {
	if r.next() != '"' {
		return r.countText(cost.PartMessages)
	}
	at, err := r.scalar()
	if err == nil && at.end-at.start-2 > plainID {
		r.count(cost.PartMessages, r.text(at))
	}
	return err
}

// cacheKey reads the name that the caller gives prompts which begin alike. It is no more part of the prompt than an id.
func (r *reader) cacheKey() error {
	if r.next() != '"' {
		return r.id()
	}
	start := r.start()
	if err := r.id(); err != nil {
		return err
	}
	r.req.CacheKey = r.text(span{start, int(r.dec.InputOffset())})
	return nil
}
