package wire

import (
	"slices"

	"github.com/tokenfare/tokenfare/cost"
)

// tools reads the tool definitions of a chat, where the caller runs all tools. A tool without a type passes, since some
// servers take it for a function and none for a hosted tool.
func (r *reader) tools() error {
	return r.toolList(toolShape, func(kind *string, name string) error {
		if name != "type" {
			if name == "function" && *kind == "" {
				*kind = name
			}
			return r.skip()
		}
		if err := r.toolKind(kind); err != nil {
			return err
		}
		if *kind != "function" && *kind != "custom" {
			return r.fail(CodeUnsupportedMember, `%s names a tool hosted by the provider, whose cost cannot be bounded: only "function" and "custom" tools are allowed.`)
		}
		return nil
	}, r.typed)
}

// typed refuses a tool without a type.
func (r *reader) typed(kind string) error {
	if kind == "" {
		return r.fail(CodeUnsupportedMember, `%s has no "type": say "function" or "custom".`)
	}
	return nil
}

// toolList reads tool definitions. member reads a member of one and may learn from it what kind of tool it is; end judges
// one of that kind. One of no kind counts as its JSON, where end lets it pass.
func (r *reader) toolList(s *shape, member func(kind *string, name string) error, end func(kind string) error) error {
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
		start, kind := r.start(), ""
		if err := r.object(s, func(name string) error { return member(&kind, name) }); err != nil {
			return err
		}
		if err := end(kind); err != nil {
			return err
		}
		text, err := r.compactFrom(start)
		if kind == "" {
			r.count(cost.PartTools, text)
			return err
		}
		r.req.Cost.Tools = append(r.req.Cost.Tools, text)
		return err
	})
}

// toolKind reads the type of a tool.
func (r *reader) toolKind(kind *string) error {
	if r.next() != '"' {
		return r.wrongType("a string")
	}
	at, err := r.scalar()
	if err == nil {
		*kind = r.text(at)
	}
	return err
}

// functions reads the function definitions of old clients.
func (r *reader) functions() error {
	if r.next() != '[' {
		return r.countText(cost.PartTools)
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
		return r.countText(cost.PartSchema)
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

// keywords reads an array of words that select.
func (r *reader) keywords(part cost.Part, words ...string) error {
	if r.next() != '[' {
		return r.countText(part)
	}
	return r.array(func() error { return r.keyword(part, words...) })
}

// choice reads a word that selects, or null.
func (r *reader) choice(take func(word string) error) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() != '"' {
		return r.wrongType("a string or null")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	return take(r.text(at))
}

// keyword reads any value and counts its strings, unless it is one of words, which select and are not billed.
func (r *reader) keyword(part cost.Part, words ...string) error {
	if r.next() != '"' {
		return r.countText(part)
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

// serviceTier reads how fast and how surely the caller wants to be served, which is a matter of price.
func (r *reader) serviceTier() error {
	return r.choice(func(word string) error {
		switch tier := cost.ParseTier(word); tier {
		case cost.Unstated, cost.Standard, cost.Flex, cost.Priority:
			r.req.Cost.Tier = tier
			return nil
		default:
			return r.fail(CodeUnsupportedMember, `%s must be "auto", "default", "flex" or "priority": other tiers have other prices. Leave it out.`)
		}
	})
}

// stored reads the members that ask for work that outlives the call, or for what the provider has stored under the account
// that all callers share. They may be there as long as they ask for nothing.
func (r *reader) stored(name string) error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	switch name {
	case "background":
		on, _, err := r.boolean()
		if err == nil && on {
			return r.fail(CodeUnsupportedMember, "%s must not be true: what it costs is known only after the call. Leave it out, and stream the answer instead (stream: true).")
		}
		return err
	case "prompt":
		return r.fail(CodeUnsupportedMember, "%s refers to a template stored at the provider, and nobody can know which key it is of: send its text as instructions and input.")
	case "vector_store_ids":
		return r.fail(CodeUnsupportedMember, "%s refers to stores at the provider, and nobody can know which key they are of: send the files themselves (input_file), or search on your side with a function tool.")
	case "container", "container_id":
		return r.fail(CodeUnsupportedMember, `%s refers to a container at the provider, and nobody can know which key it is of: say {"type":"auto"}, and a new one is made for the call.`)
	case "skills":
		return r.fail(CodeUnsupportedMember, "%s refers to skills stored at the provider, and nobody can know which key they are of: send their text as instructions.")
	default:
		return r.fail(CodeUnsupportedMember, "%s refers to what is stored at the provider, which this endpoint does not take: send the text itself, or use the Responses API.")
	}
}

// spoken reads a member that asks for speech beside text.
func (r *reader) spoken() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	return r.fail(CodeUnsupportedMember, "%s asks for spoken output, which this proxy cannot meter: leave it out.")
}

// searchOptions reads web_search_options: the provider is to search the web once.
func (r *reader) searchOptions() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	r.req.Cost.Hosted = append(r.req.Cost.Hosted, cost.Hosted{Type: "web_search_preview", Once: true})
	return r.countAll(cost.PartTools)
}

const foreignText = "%s is not OpenAI's and changes what a call costs or where it goes on some servers: leave it out."

// foreign reads a member by which some servers take another limit, model or address, or bill something else.
func (r *reader) foreign() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
	if r.next() == 'f' { // switched off
		_, err := r.scalar()
		return err
	}
	return r.fail(CodeUnsupportedMember, foreignText)
}

func (r *reader) modalities() error {
	if null, err := r.null(); null || err != nil {
		return err
	}
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
