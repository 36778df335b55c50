package fakeopenai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// format is how the requests of one endpoint are read and its answers are written.
type format struct {
	read    func(s *Server, c *Call)
	plain   func(e *exchange) (contentType string, body []byte)
	events  func(e *exchange) [][]byte // nil: it does not stream
	chunked bool                       // a plain answer does not announce its length
}

// formatOf is the format of a path, wherever the API lies; nil if nothing is served there.
func formatOf(path string) *format {
	_, endpoint, _ := strings.Cut(path, "/v1/")
	switch endpoint {
	case "chat/completions":
		return &format{read: (*Server).readChat, plain: (*exchange).chatPlain, events: (*exchange).chatEvents}
	case "responses":
		return &format{read: (*Server).readResponses, plain: (*exchange).responsesPlain, events: (*exchange).responsesEvents}
	case "completions":
		return &format{read: (*Server).readCompletions, plain: (*exchange).completionsPlain, events: (*exchange).completionsEvents}
	case "embeddings":
		return &format{read: (*Server).readInput, plain: (*exchange).embeddings}
	case "moderations":
		return &format{read: (*Server).readInput, plain: (*exchange).moderations}
	case "images/generations", "images/edits", "images/variations":
		return &format{read: (*Server).readPictures, plain: (*exchange).picturesPlain, events: (*exchange).picturesEvents}
	case "audio/speech":
		return &format{read: (*Server).readSpeech, plain: (*exchange).speechPlain, events: (*exchange).speechEvents, chunked: true}
	case "audio/transcriptions", "audio/translations":
		return &format{read: (*Server).readRecording, plain: (*exchange).transcriptPlain, events: (*exchange).transcriptEvents}
	}
	return nil
}

// decode reads what the body asks for: JSON, or a form (RFC 7578) whose fields have the names that JSON has.
func (c *Call) decode() error {
	if !strings.HasPrefix(c.Header.Get("Content-Type"), "multipart/form-data") {
		return json.Unmarshal(c.Body, &c.asked)
	}
	r := &http.Request{Method: http.MethodPost, Header: c.Header, Body: io.NopCloser(bytes.NewReader(c.Body))}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		return err
	}
	defer r.MultipartForm.RemoveAll()
	c.Fields, c.Files = r.MultipartForm.Value, map[string][]byte{}
	for name, files := range r.MultipartForm.File {
		for _, file := range files {
			content, err := contentOf(file)
			if err != nil {
				return err
			}
			c.Files[name] = content
		}
	}
	members := map[string]any{}
	for name, values := range c.Fields {
		members[name] = values[0]
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil {
			members[name] = n
		} else if on, err := strconv.ParseBool(values[0]); err == nil {
			members[name] = on
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &c.asked)
}

func contentOf(file *multipart.FileHeader) ([]byte, error) {
	f, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// strings are all the strings in a JSON value, in their order, but for the names of members.
func stringsIn(value json.RawMessage) []string {
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any:
			for _, name := range []string{"role", "text", "content", "output", "arguments", "name"} {
				walk(v[name])
			}
		}
	}
	var v any
	if json.Unmarshal(value, &v) == nil {
		walk(v)
	}
	return out
}

// textTokens counts all the text in JSON values.
func (s *Server) textTokens(values ...json.RawMessage) (n int64) {
	for _, value := range values {
		for _, text := range stringsIn(value) {
			n += s.Tokens(text)
		}
	}
	return n
}

// event is one event with a name, as the newer endpoints send them; members follow its type.
func event(name string, members string, args ...any) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: {\"type\":%s,%s}\n\n", name, quote(name), fmt.Sprintf(members, args...))
}

// indented is JSON as OpenAI writes it where answers are not streamed.
func indented(compact string) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(compact), "", "  "); err != nil {
		return []byte(compact) // a scripted usage object may be broken on purpose
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// inputUsage is a usage object in the words of the newer endpoints.
func inputUsage(input, output, reasoning int64) string {
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		input, output, reasoning, input+output)
}
