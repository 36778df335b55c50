package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// mostErrorText is how much of an error in a shape nobody knows is passed on.
const mostErrorText = 2000

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
	e := &Error{Status: status, Type: "server_error", Code: "upstream_failed"}
	if status < 500 {
		e.Type = typeInvalidRequest
	}
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
	text, rest := b.Bytes(), ""
	if len(text) > mostErrorText {
		text, rest = text[:mostErrorText], "…"
	}
	return strings.ToValidUTF8(string(text), "") + rest
}
