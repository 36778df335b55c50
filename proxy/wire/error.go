package wire

import "github.com/go-json-experiment/json/jsontext"

// Error is a refusal in the shape OpenAI's clients parse. Message is for people and never quotes a prompt; it may name
// a member of the request.
type Error struct {
	Status  int    // HTTP status
	Message string // what is wrong and what to do about it
	Type    string // OpenAI's class of error; empty is written as "invalid_request_error", since clients need a string
	Param   string // the member at fault, as a path such as messages[2].content; empty is written as null
	Code    string // machine-readable reason; empty is written as null
}

// The codes of the errors that Read returns, all of type invalid_request_error with status 400.
const (
	CodeInvalidJSON       = "invalid_json"               // not one JSON object in valid UTF-8
	CodeInvalidForm       = "invalid_form"               // not one form in plain encoding, or a field that cannot be there
	CodeTooComplex        = "body_too_complex"           // nested too deeply, or too many values
	CodeDuplicateMember   = "duplicate_member"           // a member is there twice
	CodeAmbiguousMember   = "ambiguous_member"           // a name that some parsers would take for another
	CodeMissingMember     = "missing_required_parameter" // OpenAI's own code
	CodeInvalidType       = "invalid_type"               // OpenAI's own code
	CodeInvalidValue      = "invalid_value"              // OpenAI's own code
	CodeUnsupportedMember = "unsupported_member"         // a feature whose cost cannot be bounded before the call
)

const (
	typeInvalidRequest = "invalid_request_error"
	statusBadRequest   = 400 // this package knows no net/http
)

// Error is the message, for logs; it holds nothing the caller did not send as a member name.
func (e *Error) Error() string { return e.Message }

// JSON is the error as OpenAI writes it: one line, always the four keys message, type, param and code.
func (e *Error) JSON() []byte {
	b := make([]byte, 0, 128+len(e.Message))
	b = appendQuoted(append(b, `{"error":{"message":`...), e.Message)
	kind := e.Type
	if kind == "" {
		kind = typeInvalidRequest
	}
	b = appendQuoted(append(b, `,"type":`...), kind)
	b = appendNullable(append(b, `,"param":`...), e.Param)
	b = appendNullable(append(b, `,"code":`...), e.Code)
	return append(b, `}}`...)
}

func appendNullable(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendQuoted(b, s)
}

// appendQuoted appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, which is all jsontext would complain about.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

func badRequest(code, param, message string) *Error {
	return &Error{Status: statusBadRequest, Message: message, Type: typeInvalidRequest, Param: param, Code: code}
}
