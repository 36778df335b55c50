package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// mostErrorText is how much of an error in a shape nobody knows is passed on.
const mostErrorText = 2000

// The members that every error has.
var errorMembers = [...]string{"message", "type", "param", "code"}

// ForeignError reads the body of an error answer, valid JSON, that is not in OpenAI's shape, and returns it in that shape with
// the status, so that clients find its text. It returns nil if the shape is OpenAI's already: an object whose member error is an
// object with a message. Known are an error, a detail (FastAPI) or a message that is text, the error's members at the top (vLLM),
// and an array that has the error as its only element (Gemini); of anything else the JSON is the message. The status decides the
// type where none is told.
func ForeignError(status int, body []byte) *Error {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	inArray := json.Unmarshal(body, &list) == nil && len(list) == 1
	if inArray {
		body = list[0]
	}
	e := &Error{Status: status, Type: typeOf(status), Code: "upstream_failed"}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		top = nil // a string, a number
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(top["error"], &inner) == nil && told(inner["message"]) != "" {
		if !inArray {
			return nil
		}
		top = inner
	}
	for _, name := range []string{"message", "error", "detail"} {
		if e.Message = told(top[name]); e.Message != "" {
			break
		}
	}
	if e.Message == "" {
		e.Message = compacted(body)
	}
	for _, member := range []struct {
		name string
		into *string
	}{{"type", &e.Type}, {"param", &e.Param}, {"code", &e.Code}} {
		if text := told(top[member.name]); text != "" {
			*member.into = text
		}
	}
	return e
}

// WholeError returns an error answer in OpenAI's shape, for which [ForeignError] returns nil, with those of message, type, param and
// code that it lacks: the type by the status, null for the others. All else stays as it is.
func WholeError(status int, body []byte) []byte {
	r := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := r.ReadToken(); err != nil || open.Kind() != '{' {
		return body
	}
	var inner []byte
	end := 0 // of inner; as anywhere, the last of several counts
	for r.PeekKind() != '}' {
		name, err := r.ReadToken()
		if err != nil {
			return body
		}
		isError := name.String() == "error"
		value, err := r.ReadValue()
		if err != nil {
			return body
		}
		if isError {
			inner, end = bytes.Clone(value), int(r.InputOffset())
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(inner, &members) != nil || len(members) == 0 {
		return body
	}
	var missing []byte
	for _, name := range errorMembers {
		if _, there := members[name]; there {
			continue
		}
		missing = appendQuoted(append(missing, ','), name)
		missing = append(missing, ':')
		if name == "type" {
			missing = appendQuoted(missing, typeOf(status))
		} else {
			missing = append(missing, "null"...)
		}
	}
	return slices.Insert(bytes.Clone(body), end-1, missing...)
}

// typeOf is the type of an error that names none.
func typeOf(status int) string {
	if status < 500 {
		return typeInvalidRequest
	}
	return "server_error"
}

// told is the text of a JSON string, or empty.
func told(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// compacted is JSON on one line, cut where it is long.
func compacted(body []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, body) != nil {
		return ""
	}
	return bounded(b.Bytes())
}

// bounded is a text, cut where it is long.
func bounded(text []byte) string {
	rest := ""
	if len(text) > mostErrorText {
		text, rest = text[:mostErrorText], "…"
	}
	return strings.ToValidUTF8(string(text), "") + rest
}
