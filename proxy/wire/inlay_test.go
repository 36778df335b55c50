package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestAddressesOfFilesAreRefused: a server that fetches them would read more than the few tokens of the address.
func TestAddressesOfFilesAreRefused(t *testing.T) {
	chat := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + part + `]}]}`
	}
	response := func(part string) string {
		return `{"model":"m","input":[{"role":"user","content":[` + part + `]}]}`
	}
	type refusal struct {
		endpoint Endpoint
		body     string
		param    string
	}
	var all []refusal
	for _, address := range []string{
		"https://x/y.pdf", "HTTP://x", "ftp://x", "gs://b/o", "file:///etc/passwd", `\u0068ttps:\/\/x`, ` \nhttps://x`, `ht\ttps:\n//x`, `https:\\\\x`, "https:/x",
	} {
		for member, at := range map[string]string{`"file":{"file_data":%q}`: "file.file_data", `"file":%q`: "file", `"input_audio":{"format":"wav","data":%q}`: "input_audio.data", `"input_audio":%q`: "input_audio"} {
			part := `{"type":"x",` + strings.ReplaceAll(member, "%q", `"`+address+`"`) + `}`
			all = append(all, refusal{Chat, chat(part), "messages[0].content[0]." + at}, refusal{Responses, response(part), "input[0].content[0]." + at})
		}
		all = append(all, refusal{Responses, response(`{"type":"input_file","file_data":"` + address + `"}`), "input[0].content[0].file_data"})
	}
	for _, member := range []string{"url", "uri", "file_url", "file_uri", "audio_url", "document_url", "video"} {
		for _, of := range []string{"file", "input_audio"} {
			part := fmt.Sprintf(`{"type":"x",%q:{%q:"anything"}}`, of, member)
			all = append(all, refusal{Chat, chat(part), "messages[0].content[0]." + of + "." + member}, refusal{Responses, response(part), "input[0].content[0]." + of + "." + member})
		}
	}
	for _, c := range all {
		_, err := Read(c.endpoint, "application/json", []byte(c.body))
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != 400 || refused.Code != CodeUnsupportedMember || refused.Param != c.param ||
			!strings.Contains(refused.Message, "cannot be known before the call") {
			t.Errorf("%s: %+v", c.body, err)
		}
	}
	for _, part := range []string{
		`{"type":"file","file":{"filename":"https://x/y.pdf","file_data":"data:application/pdf;base64,JVBERi0x","file_url":null}}`,
		`{"type":"file","file":{"file_data":"JVBERi0x","url":null}}`, `{"type":"file","file":{"file_data":"Note: a text / more"}}`, `{"type":"file","file":{"file_data":"DATA:,x"}}`,
		`{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`, `{"type":"input_audio","input_audio":{"data":"data:audio/wav;base64,UklGRg=="}}`,
		`{"type":"image_url","image_url":{"url":"https://x/y.png"}}`, `{"type":"input_image","image_url":"https://x/y.png"}`, `{"type":"text","text":"https://x"}`, `{"file":null,"input_audio":null}`,
	} {
		for endpoint, body := range map[Endpoint]string{Chat: chat(part), Responses: response(part)} {
			if _, err := Read(endpoint, "application/json", []byte(body)); err != nil {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}
