package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CarriesError reports whether a server-sent event, given with its line ends, says that something has failed: by its name, its type or
// what its object is called, or by an error that is not null, be it its own or that of the response in it.
func CarriesError(event []byte) bool {
	if namedError(event) {
		return true
	}
	var data struct {
		failing
		Type     json.RawMessage `json:"type"`
		Object   json.RawMessage `json:"object"`
		Response json.RawMessage `json:"response"`
	}
	if json.Unmarshal(eventData(event), &data) != nil {
		return false
	}
	var response failing
	_ = json.Unmarshal(data.Response, &response) // a text has no error
	return data.is() || response.is() || string(data.Type) == `"error"` || string(data.Object) == `"error"`
}

// saysNothing reports whether the data of an event is no object, in which a model says all it has to say. It may be the text of an error, or
// of a page, that somebody has put in the place of a stream.
func saysNothing(event []byte) bool {
	data := bytes.TrimLeft(eventData(event), " \t\r\n")
	return len(data) == 0 || data[0] != '{'
}

// namedError reports whether an event is called an error.
func namedError(event []byte) bool {
	for line := range bytes.FieldsFuncSeq(event, func(c rune) bool { return c == '\r' || c == '\n' }) {
		if name, ok := bytes.CutPrefix(line, []byte("event:")); ok && string(bytes.TrimSpace(name)) == "error" {
			return true
		}
	}
	return false
}

// beginsError is CarriesError of an event that is not all there, as far as it goes.
func beginsError(event []byte) bool {
	if namedError(event) {
		return true
	}
	d := jsontext.NewDecoder(bytes.NewReader(eventData(event)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return false
	}
	return objectBeginsError(d, true)
}

// objectBeginsError reads an object until there is an error in it that is not null, or no more of it.
func objectBeginsError(d *jsontext.Decoder, outer bool) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		switch text := name.String(); {
		case strings.EqualFold(text, "error"):
			if d.PeekKind() != 'n' {
				return true
			}
		case outer && (strings.EqualFold(text, "type") || strings.EqualFold(text, "object")):
			if value, err := d.ReadValue(); err != nil || string(value) == `"error"` {
				return err == nil
			}
			continue
		case outer && strings.EqualFold(text, "response") && d.PeekKind() == '{':
			if objectBeginsError(d, false) {
				return true
			}
			continue
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	_, _ = d.ReadToken() // its end, if it is there
	return false
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
