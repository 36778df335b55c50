package wire

import "github.com/tokenfare/tokenfare/cost"

// Neither embeddings nor moderations have an output.

var embeddingsDialect = dialect{
	shape: newBodyShape(
		nil,
		"model", "input", "dimensions", "encoding_format", "user", "service_tier", "store", "background",
	),
	prompt: "input", plural: "a string, an array of strings or token numbers",
	member: (*reader).embeddingsMember,
	end:    (*reader).withoutOutput,
}

// embeddingsMember reads the value of one member of an embeddings request.
func (r *reader) embeddingsMember(name string) error {
	switch name {
	case "input":
		return r.textsOrIDs()
	case "encoding_format":
		return r.keyword(cost.PartOther, "float", "base64")
	default:
		return r.member(name)
	}
}

var moderationsDialect = dialect{
	shape:  newBodyShape(nil, "model", "input", "user", "service_tier", "store", "background"),
	prompt: "input", plural: "a string, an array of strings or of content parts",
	model:  "omni-moderation-latest", // OpenAI's API reference
	member: (*reader).moderationsMember,
	end:    (*reader).withoutOutput,
}

// moderationsMember reads the value of one member of a moderation request.
func (r *reader) moderationsMember(name string) error {
	if name == "input" && r.next() == '[' {
		return r.array(r.part)
	}
	if name == "input" {
		return r.countText(cost.PartMessages)
	}
	return r.member(name)
}

func (r *reader) withoutOutput() error {
	r.req.Cost.HasMaxOutput, r.req.Cost.MaxOutput = true, 0
	return nil
}
