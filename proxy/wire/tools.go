package wire

import (
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

// tools reads the tool definitions.
func (r *reader) tools() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '[' {
		return r.wrongType("an array of tools or null")
	}
	return r.array(func() error {
		if r.next() != '{' {
			return r.wrongType("an object")
		}
		start := r.start()
		known := false
		if err := r.object(toolShape, func(name string) error {
			known = known || name == "type" || name == "function"
			return r.toolMember(name)
		}); err != nil {
			return err
		}
		if !known {
			return r.fail(CodeUnsupportedMember, `%s has no "type": say "function" or "custom".`)
		}
		text, err := r.compactFrom(start)
		r.req.Cost.Tools = append(r.req.Cost.Tools, text)
		return err
	})
}

// toolMember checks the type of a tool: tools that the provider runs itself cost more than tokens. A tool without a
// type passes, since some servers take it for a function and none for a hosted tool.
func (r *reader) toolMember(name string) error {
	if name != "type" {
		return r.walk(func(span, bool) {})
	}
	if r.next() != '"' {
		return r.wrongType("a string")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	if kind := r.text(at); kind != "function" && kind != "custom" {
		return r.fail(CodeUnsupportedMember, `%s names a tool hosted by the provider, whose cost cannot be bounded: only "function" and "custom" tools are allowed.`)
	}
	return nil
}

// functions reads the function definitions of old clients.
func (r *reader) functions() error {
	if r.next() != '[' {
		return r.countAll(cost.PartTools)
	}
	return r.array(func() error {
		text, err := r.compact()
		r.req.Cost.Tools = append(r.req.Cost.Tools, text)
		return err
	})
}

// toolChoice reads tool_choice or function_call: a word, or an object that names a tool. A second one counts as JSON.
func (r *reader) toolChoice() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	choice := &r.req.Cost.ToolChoice
	if *choice != "" {
		return r.countJSON(cost.PartTools)
	}
	var err error
	*choice, err = r.compact()
	return err
}

func (r *reader) responseFormat() error {
	if r.next() != '{' {
		return r.countAll(cost.PartSchema)
	}
	return r.object(responseFormatShape, func(name string) error {
		if name == "type" {
			return r.keyword(cost.PartSchema, "text", "json_object", "json_schema")
		}
		return r.countJSON(cost.PartSchema)
	})
}

// prediction reads what the caller expects of the answer. What does not come true is billed, as output.
func (r *reader) prediction() error {
	if r.next() != '{' {
		return r.countAll(cost.PartPrediction)
	}
	return r.members(func(name string) error {
		if name == "type" {
			return r.keyword(cost.PartPrediction, "content")
		}
		return r.countAll(cost.PartPrediction)
	})
}

// keyword reads any value and counts its strings, unless it is one of words, which select and are not billed.
func (r *reader) keyword(part cost.Part, words ...string) error {
	if r.next() != '"' {
		return r.countAll(part)
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	if s := r.text(at); !slices.Contains(words, s) {
		r.count(part, s)
	}
	return nil
}

// unboundable reads the members that ask for more than tokens, or for what the provider has stored under the account
// that all callers share. They may be there as long as they ask for nothing.
func (r *reader) unboundable(name string) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	switch name {
	case "store", "background":
		on, _, err := r.boolean()
		if err == nil && on {
			return r.fail(CodeUnsupportedMember, "%s must not be true: this proxy allows no work or data that outlives the call. Leave it out.")
		}
		return err
	case "service_tier":
		if r.next() != '"' {
			return r.wrongType("a string or null")
		}
		at, err := r.scalar()
		if err != nil {
			return err
		}
		if tier := r.text(at); tier != "auto" && tier != "default" {
			return r.fail(CodeUnsupportedMember, `%s must be "auto" or "default": other tiers have other prices. Leave it out.`)
		}
		return nil
	case "modalities":
		return r.modalities()
	case "previous_response_id", "conversation":
		return r.fail(CodeUnsupportedMember, "%s refers to what is stored at the provider, which this proxy does not allow: send the messages themselves.")
	case "web_search_options":
		return r.fail(CodeUnsupportedMember, "%s asks for a search by the provider, whose cost cannot be bounded: leave it out.")
	default:
		return r.fail(CodeUnsupportedMember, "%s asks for spoken output, which this proxy cannot meter: leave it out.")
	}
}

// foreign reads a member by which some servers take another limit, model or address, or bill something else.
func (r *reader) foreign() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() == 'f' { // switched off
		_, err := r.scalar()
		return err
	}
	return r.fail(CodeUnsupportedMember, "%s is not OpenAI's and changes what a call costs or where it goes on some servers: leave it out.")
}

func (r *reader) modalities() error {
	if r.next() != '[' {
		return r.wrongType("an array of strings or null")
	}
	return r.array(func() error {
		if r.next() != '"' {
			return r.wrongType("a string")
		}
		at, err := r.scalar()
		if err != nil {
			return err
		}
		if kind := r.text(at); kind != "text" {
			return r.fail(CodeUnsupportedMember, `%s must be "text": this proxy cannot meter other kinds of output.`)
		}
		return nil
	})
}
