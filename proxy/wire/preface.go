package wire

import (
	"encoding/json"
)

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
