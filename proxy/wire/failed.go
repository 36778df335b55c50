package wire

import (
	"bytes"
	"encoding/json"
)

// CarriesError reports whether a server-sent event, given with its line ends, says that something has failed: by its name or its
// type, or by an error that is not null, be it its own or that of the response in it.
func CarriesError(event []byte) bool {
	for line := range bytes.FieldsFuncSeq(event, func(c rune) bool { return c == '\r' || c == '\n' }) {
		if name, ok := bytes.CutPrefix(line, []byte("event:")); ok && string(bytes.TrimSpace(name)) == "error" {
			return true
		}
	}
	type failing struct {
		Error json.RawMessage `json:"error"`
	}
	var data struct {
		failing
		Type     json.RawMessage `json:"type"`
		Response json.RawMessage `json:"response"`
	}
	if json.Unmarshal(eventData(event), &data) != nil {
		return false
	}
	var response failing
	_ = json.Unmarshal(data.Response, &response) // a text has no error
	return isThere(data.Error) || isThere(response.Error) || string(data.Type) == `"error"`
}

func isThere(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }
