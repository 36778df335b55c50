package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/cost"
)

// Bounds on the numbers of a request that multiply its cost. They keep every sum and product far inside int64.
const (
	maxOutputTokens = 10_000_000 // max_tokens and max_completion_tokens
	maxChoices      = 128        // n and best_of; OpenAI's own bound for n
	maxModelBytes   = 256
)

// Request is a chat completion request that was read. It keeps the body it was read from, which must not be changed.
// A Request is not changed after ReadChat and may be used by several goroutines.
type Request struct {
	Cost         cost.Request // what an estimate needs; its strings are copies, not parts of the body
	Model        string       // as the caller wrote it
	Stream       bool         // the answer is to be streamed
	IncludeUsage bool         // the caller asked for a usage event at the end of the stream
	OutputMember string       // the member that gives the output limit, the larger of two; empty if there is none

	body    []byte
	open    int // just behind the body's opening brace
	model   span
	options optionsSpan
	limits  [2]limitSpan // in the order of limitMembers
}

// limitMembers are the names of the output limit, the current one first.
var limitMembers = [2]string{"max_completion_tokens", "max_tokens"}

// A limitSpan says where an output limit stands in the body.
type limitSpan struct {
	present, null bool
	name, value   span
	n             int64
}

// An optionsSpan says where stream_options stands in the body.
type optionsSpan struct {
	present, null, empty bool
	open                 int  // just behind the opening brace
	value                span // of stream_options as a whole, when null
	usagePresent         bool
	usage                span // of the value of include_usage
}

// ReadChat reads the body of a chat completion request, strictly: exactly one JSON object in valid UTF-8, at most 256
// levels deep and with at most 524,288 values. The error is an *Error with status 400 that names the member at fault.
//
// In the objects it reads (the body, messages, content parts, stream_options, response_format, tools) members are known
// by their exact names only; a repeated member, or one whose name a lenient parser would take for a known one, is an
// error, since two parsers would disagree about it. Inside schemas, tool parameters, metadata and members it does not
// know nothing is judged, but every string counts as input. Features whose cost cannot be bounded before the call, and
// references to what the provider has stored, are errors.
//
// It takes time linear in the body, and returns a Request that refers to body.
func ReadChat(body []byte) (*Request, error) {
	if !utf8.Valid(body) {
		return nil, badRequest(CodeInvalidJSON, "", "The body is not valid UTF-8: encode it as UTF-8.")
	}
	req := &Request{body: body}
	req.Cost.Choices = 1
	r := newReader(body, req)
	if err := r.chat(); err != nil {
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

func (r *reader) chat() error {
	if kind := r.next(); kind != '{' && kind != 0 {
		return badRequest(CodeInvalidJSON, "", "The body must be one JSON object.")
	}
	r.req.open = r.start() + 1
	messages := false
	err := r.object(chatShape, func(name string) error {
		messages = messages || name == "messages"
		return r.chatMember(name)
	})
	switch {
	case err != nil:
		return err
	case r.req.Model == "":
		return badRequest(CodeMissingMember, "model", `The member "model" is missing: name a model.`)
	case !messages:
		return badRequest(CodeMissingMember, "messages", `The member "messages" is missing: send an array of messages.`)
	}
	return nil
}

// chatMember reads the value of one member of the body.
func (r *reader) chatMember(name string) error {
	switch name {
	case "model":
		return r.modelName()
	case "messages":
		return r.messages()
	case "stream":
		var err error
		r.req.Stream, _, err = r.boolean()
		return err
	case "stream_options":
		return r.streamOptions()
	case limitMembers[0]:
		return r.outputLimit(0)
	case limitMembers[1]:
		return r.outputLimit(1)
	case "n", "best_of":
		// Servers that know best_of produce that many answers and return n of them.
		_, n, err := r.integer(1, maxChoices)
		r.req.Cost.Choices = max(r.req.Cost.Choices, n)
		return err
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
	case "n_predict", "num_predict", "max_new_tokens", "max_output_tokens", "use_beam_search", "models", "fallbacks",
		"api_base", "api_key", "base_url", "extra_body", "search_parameters", "plugins", "enable_search", "data_sources", "deferred":
		return r.foreign()
	case "store", "background", "web_search_options", "previous_response_id", "conversation", "audio", "modalities", "service_tier":
		return r.unboundable(name)
	default:
		return r.countAll(cost.PartOther)
	}
}

func (r *reader) modelName() error {
	if r.next() != '"' {
		return r.wrongType("a string")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	if at.end-at.start-2 > maxModelBytes {
		return r.fail(CodeInvalidValue, "%s must be at most %d bytes long.", maxModelBytes)
	}
	if r.req.Model = r.text(at); r.req.Model == "" {
		return r.fail(CodeInvalidValue, "%s must not be empty: name a model.")
	}
	if strings.ContainsFunc(r.req.Model, func(c rune) bool { return c <= ' ' || c == 0x7f || unicode.IsSpace(c) }) {
		return r.fail(CodeInvalidValue, "%s must not hold blanks or control characters.")
	}
	r.req.model = at
	return nil
}

func (r *reader) outputLimit(which int) error {
	limit := &r.req.limits[which]
	limit.present, limit.name = true, r.name
	at, n, err := r.integer(1, maxOutputTokens) // some servers take 0 for no limit at all
	if err != nil {
		return err
	}
	limit.value, limit.n = at, n
	if limit.null = r.body[at.start] == 'n'; !limit.null {
		r.req.Cost.HasMaxOutput = true
		if n > r.req.Cost.MaxOutput {
			r.req.Cost.MaxOutput, r.req.OutputMember = n, limitMembers[which]
		}
	}
	return nil
}

func (r *reader) streamOptions() error {
	options := &r.req.options
	options.present = true
	if r.next() == 'n' {
		var err error
		options.null = true
		options.value, err = r.scalar()
		return err
	}
	if r.next() != '{' {
		return r.wrongType("an object or null")
	}
	options.open, options.empty = r.start()+1, true
	return r.object(streamOptionsShape, func(name string) error {
		options.empty = false
		if name != "include_usage" {
			return r.countAll(cost.PartOther)
		}
		var err error
		options.usagePresent = true
		r.req.IncludeUsage, options.usage, err = r.boolean()
		return err
	})
}

// boolean reads true, false or null, which means false.
func (r *reader) boolean() (bool, span, error) {
	switch r.next() {
	case 't', 'f', 'n', 0:
		at, err := r.scalar()
		return err == nil && r.body[at.start] == 't', at, err
	default:
		return false, span{}, r.wrongType("true, false or null")
	}
}

// integer reads a plain whole number from low to high, or null, which is returned as low. Signs, fractions and exponents
// are refused because parsers disagree about what they mean for an integer.
func (r *reader) integer(low, high int64) (span, int64, error) {
	switch r.next() {
	case 'n', '0', 0:
	default:
		return span{}, 0, r.wrongType("a whole number or null")
	}
	at, err := r.scalar()
	if err != nil || r.body[at.start] == 'n' {
		return at, low, err
	}
	n, ok := plainInteger(r.body[at.start:at.end])
	if !ok || n < low || n > high {
		return at, 0, r.fail(CodeInvalidValue, "%s must be a whole number from %d to %d, written in plain digits.", low, high)
	}
	return at, n, nil
}

// plainInteger reads a number written in at most 18 digits and nothing else.
func plainInteger(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 || !allDigits(b) {
		return 0, false
	}
	for _, c := range b {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (r *reader) wrongType(want string) *Error {
	if r.next() == 0 { // not JSON at all, which is the better reason
		_, err := r.dec.ReadToken()
		return r.syntax(err)
	}
	return r.fail(CodeInvalidType, "%s must be %s.", want)
}
