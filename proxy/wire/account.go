package wire

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// accountID is how OpenAI names the organisations and projects that its errors are about.
var accountID = regexp.MustCompile(`\b(org-|proj_)[A-Za-z0-9_-]{6,}`)

// HideAccount takes the names of organisations and projects out of a provider's error: they are those of an account that its
// readers share, and not theirs.
func HideAccount(body []byte) []byte { return accountID.ReplaceAll(body, []byte("${1}…")) }

// PlainStrings returns a provider's error with its strings written without the escapes that they can do without, so that what is
// in them is found however it was written: some servers escape the slashes and plus signs that keys may have. What is no JSON it
// returns as it is.
func PlainStrings(body []byte) []byte {
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	plain := jsontext.Value(bytes.Clone(body))
	if plain.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return body
	}
	return plain
}

// Preface puts words before the message of an error answer in OpenAI's shape. What it cannot read it returns as it is.
func Preface(body []byte, words string) []byte {
	var top, inner map[string]json.RawMessage
	var message string
	if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["error"], &inner) != nil || json.Unmarshal(inner["message"], &message) != nil {
		return body
	}
	inner["message"] = appendQuoted(nil, words+message)
	made, err := json.Marshal(inner)
	if err != nil {
		return body
	}
	top["error"] = made
	if made, err = json.Marshal(top); err != nil {
		return body
	}
	return made
}
