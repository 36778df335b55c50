package wire

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost"
)

// Endpoint is a place of the API that takes requests which cost something, by its path.
type Endpoint string

// The endpoints whose requests can be read. The last four take forms, all others JSON.
const (
	Chat            Endpoint = "/v1/chat/completions"
	Responses       Endpoint = "/v1/responses"
	InputTokens     Endpoint = "/v1/responses/input_tokens"
	Completions     Endpoint = "/v1/completions"
	Embeddings      Endpoint = "/v1/embeddings"
	Moderations     Endpoint = "/v1/moderations"
	Pictures        Endpoint = "/v1/images/generations"
	Speech          Endpoint = "/v1/audio/speech"
	PictureEdits    Endpoint = "/v1/images/edits"
	PictureVariants Endpoint = "/v1/images/variations"
	Transcriptions  Endpoint = "/v1/audio/transcriptions"
	Translations    Endpoint = "/v1/audio/translations"
)

// Endpoints lists all endpoints whose requests can be read.
func Endpoints() []Endpoint {
	return []Endpoint{
		Chat, Responses, Completions, Embeddings, Moderations, Pictures, Speech, InputTokens,
		PictureEdits, PictureVariants, Transcriptions, Translations,
	}
}

// TakesForm reports whether requests to the endpoint are multipart forms.
func (e Endpoint) TakesForm() bool { return forms[e] != nil }

// A dialect is how the JSON of one endpoint is read.
type dialect struct {
	shape  *shape
	prompt string                             // the member that holds the prompt, or the most of it; it must be there
	plural string                             // what it is, for people
	model  string                             // the model that is meant where none is named; empty: one must be named
	limits [2]string                          // the members that limit the output, the current one first; empty: there is none
	asks   bool                               // streams report their usage only if stream_options ask for it
	least  int64                              // the smallest output limit that the provider takes; 0: one
	echoes bool                               // a limit of 0 can be meant
	stores bool                               // the provider stores answers unless it is told not to
	runs   bool                               // it knows max_tool_calls
	bare   bool                               // there need be neither a prompt nor a model
	member func(r *reader, name string) error // reads the value of a member of the body
	end    func(r *reader) error              // judges what hangs on several members; may be nil
}

var dialects = map[Endpoint]*dialect{
	Chat:        &chatDialect,
	Responses:   &responsesDialect,
	InputTokens: &inputTokensDialect,
	Completions: &completionsDialect,
	Embeddings:  &embeddingsDialect,
	Moderations: &moderationsDialect,
	Pictures:    &picturesDialect,
	Speech:      &speechDialect,
}

// Read reads the body of a request to e. contentType is that of the body, and matters to endpoints that take forms.
//
// JSON is read strictly: exactly one object in valid UTF-8, at most 256 levels deep and with at most 524,288 values. The
// error is an *Error with status 400 that names the member at fault.
//
// In the objects it reads (the body, messages, items, content parts, stream_options, formats, tools) members are known
// by their exact names only; a repeated member, or one whose name a lenient parser would take for a known one, is an
// error, since two parsers would disagree about it. Inside schemas, tool parameters, metadata and members it does not
// know nothing is judged, but every string counts as input. Features whose cost cannot be bounded before the call are errors,
// and so are references to stored objects that nobody can be known to own; the others are collected in Refs, and
// [Request.Stateless] is for those who allow none.
//
// It takes time linear in the body, and returns a Request that refers to body.
func Read(e Endpoint, contentType string, body []byte) (*Request, error) {
	if form := forms[e]; form != nil {
		return readForm(form, contentType, body)
	}
	d := dialects[e]
	if d == nil {
		return nil, badRequest(CodeInvalidValue, "", fmt.Sprintf("Requests to %s cannot be read.", e))
	}
	return d.read(body)
}

func (d *dialect) read(body []byte) (*Request, error) {
	if !utf8.Valid(body) {
		return nil, badRequest(CodeInvalidJSON, "", "The body is not valid UTF-8: encode it as UTF-8.")
	}
	req := &Request{PromptMember: d.prompt, UsageOption: d.asks, LeastLimit: max(1, d.least), body: body, members: d.limits}
	req.Cost.Choices, req.Stores, req.store.byDefault = 1, d.stores, d.stores
	req.runs = d.runs
	r := newReader(body, req)
	defer r.release()
	if d.echoes {
		r.leastLimit = 0
	}
	if err := d.readBody(r); err != nil {
		return nil, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, badRequest(CodeInvalidJSON, "", fmt.Sprintf(
			"The body must be one JSON object: there is more behind its end at byte %d.", r.dec.InputOffset(),
		))
	}
	req.Cost.Model = req.Model
	return req, nil
}

func (d *dialect) readBody(r *reader) error {
	if kind := r.next(); kind != '{' && kind != 0 {
		return badRequest(CodeInvalidJSON, "", "The body must be one JSON object.")
	}
	r.req.open = r.start() + 1
	prompt := false
	err := r.object(d.shape, func(name string) error {
		prompt = prompt || name == d.prompt
		if which := d.limit(name); which >= 0 {
			return r.outputLimit(which)
		}
		return d.member(r, name)
	})
	if err != nil {
		return err
	}
	if r.req.Model == "" {
		r.req.Model = d.model
	}
	r.req.Discards = r.req.Cost.Choices > max(1, r.wanted)
	switch {
	case d.bare:
	case r.req.Model == "":
		return badRequest(CodeMissingMember, "model", `The member "model" is missing: name a model.`)
	case !prompt && len(r.req.Refs) == 0: // what is stored may be all there is
		return badRequest(CodeMissingMember, d.prompt, fmt.Sprintf(`The member %q is missing: send %s.`, d.prompt, d.plural))
	case d.end != nil:
		return d.end(r)
	}
	return nil
}

// limit says which of the members that limit the output a name is; -1: none of them.
func (d *dialect) limit(name string) int {
	for i, member := range d.limits {
		if name != "" && name == member {
			return i
		}
	}
	return -1
}

// member reads the value of a member that many dialects have, or that none knows.
func (r *reader) member(name string) error {
	switch name {
	case "model":
		return r.modelName()
	case "stream":
		var err error
		r.req.Stream, _, err = r.boolean()
		return err
	case "stream_options":
		return r.streamOptions()
	case "n", "best_of":
		// Servers that know best_of produce that many answers and return n of them.
		_, n, err := r.integer(1, maxChoices)
		r.req.Cost.Choices = max(r.req.Cost.Choices, n)
		if name == "n" {
			r.wanted = n
		}
		return err
	case "user", "safety_identifier":
		return r.id() // the model is not shown it
	case "prompt_cache_key":
		return r.cacheKey()
	case "service_tier":
		return r.serviceTier()
	case "store":
		return r.store()
	case "background", "previous_response_id", "conversation":
		return r.stored(name)
	}
	if s := foreignWithin[name]; s != nil {
		return r.otherValues(s)
	}
	switch {
	case isForeign(name):
		return r.foreign()
	case name == "" && (r.next() == '{' || r.next() == '['): // templates can show all of it, names and numbers included
		return r.countJSON(cost.PartOther)
	default:
		return r.countAll(cost.PartOther)
	}
}
