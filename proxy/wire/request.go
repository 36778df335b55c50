package wire

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/tokenfare/tokenfare/cost"
)

// Bounds on the numbers of a request that multiply its cost. They keep every sum and product far inside int64.
const (
	maxOutputTokens = 10_000_000 // max_tokens and max_completion_tokens
	maxChoices      = 128        // n and best_of; OpenAI's own bound for n
	maxModelBytes   = 256
)

// Request is a request that was read. It keeps the body it was read from, which must not be changed.
// A Request is not changed after it was read and may be used by several goroutines.
type Request struct {
	Cost         cost.Request // what an estimate needs; long texts in it are parts of the body
	Model        string       // as the caller wrote it, or the one that is meant where there is none
	Stream       bool         // the answer is to be streamed
	UsageOption  bool         // a stream of this endpoint reports its usage only if stream_options ask for it
	IncludeUsage bool         // the caller asked for a usage event at the end of the stream
	PromptMember string       // the member that holds the prompt: messages, input, prompt
	OutputMember string       // the member that gives the output limit, the larger of two; empty if there is none
	LeastLimit   int64        // the smallest output limit that the endpoint takes
	MustLimit    int64        // the output limit that holds where none is given, and must be written so that it does; 0: none
	Refs         []Ref        // to what the provider stores, in the order they are there
	Discards     bool         // more answers are made than are returned: best_of is larger than n
	Stores       bool         // the provider is to store the answer
	Shortens     bool         // the provider may leave out what the model has no room for
	CacheKey     string       // the caller's name for prompts that begin alike: prompt_cache_key
	ContentType  string       // that a form is to be sent with; empty: the body is JSON

	body      []byte
	form      bool   // body is a form
	delimiter string // what stands before each of a form's fields
	open      int    // just behind the body's opening brace
	model     span
	options   optionsSpan
	members   [2]string    // the members that may give an output limit, the current one first; empty: there is none
	limits    [2]limitSpan // in the order of members
	mostRuns  limitSpan    // max_tool_calls
	runs      bool         // the endpoint knows that
	store     storeSpan
	lingers   error // why its items must not be stored; nil: they may be
}

// Body is what the request was read from.
func (r *Request) Body() []byte { return r.body }

// A limitSpan says where a limit stands in the body.
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

func (r *reader) modelName() error {
	if r.next() != '"' {
		return r.wrongType("a string")
	}
	at, err := r.scalar()
	if err != nil {
		return err
	}
	name := r.text(at)
	if fault := modelFault(name); fault != "" {
		return r.fail(CodeInvalidValue, fault)
	}
	r.req.Model, r.req.model = name, at
	return nil
}

// modelFault says what is wrong with a model's name, with %s for the member that holds it; empty if it can be one.
func modelFault(name string) string {
	switch {
	case name == "":
		return "%s must not be empty: name a model."
	case len(name) > maxModelBytes:
		return "%s must be at most " + strconv.Itoa(maxModelBytes) + " bytes long."
	case strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || unicode.IsSpace(c) }):
		return "%s must not hold blanks or control characters."
	default:
		return ""
	}
}

func (r *reader) outputLimit(which int) error {
	limit := &r.req.limits[which]
	limit.present, limit.name = true, r.name
	at, n, err := r.integer(r.leastLimit, maxOutputTokens)
	if err != nil {
		return err
	}
	limit.value, limit.n = at, n
	if limit.null = r.body[at.start] == 'n'; !limit.null {
		r.req.Cost.HasMaxOutput = true
		if n > r.req.Cost.MaxOutput {
			r.req.Cost.MaxOutput, r.req.OutputMember = n, r.req.members[which]
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
