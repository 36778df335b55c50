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
	return data.is() || response.is() || string(data.Type) == `"error"`
}

// Failed reports whether an object, such as an entry of a list, has an error that is not null.
func Failed(object []byte) bool {
	var f failing
	return json.Unmarshal(object, &f) == nil && f.is()
}

type failing struct {
	Error json.RawMessage `json:"error"`
}

func (f failing) is() bool { return len(f.Error) > 0 && string(f.Error) != "null" }
