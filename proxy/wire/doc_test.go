package wire

import (
	"errors"
	"fmt"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/test/pages"
)

const wirePage = "../../docs/wire.md"

// TestWireDocEndpoints: the table of metered endpoints has a row for each and no other, and what it says of streams, of answers without
// usage and of what is stored is what requests and answers are read as.
func TestWireDocEndpoints(t *testing.T) {
	var documented []Endpoint
	for _, row := range pages.Read(t, wirePage).Table(t, "| endpoint | streamed by |") {
		if len(row) != 6 {
			t.Fatalf("a row of %d cells: %v", len(row), row)
		}
		e := Endpoint(strings.Trim(row[0], "`"))
		documented = append(documented, e)
		if !slices.Contains(Endpoints(), e) {
			t.Errorf("%s is documented, and not served", e)
			continue
		}
		for i, is := range map[int]string{1: streamedBy(t, e), 3: chargedUnreported(e), 4: storedWhen(t, e), 5: mayName(t, e)} {
			if row[i] != is {
				t.Errorf("%s: column %d says %q, and it is %q", e, i+1, row[i], is)
			}
		}
	}
	for _, e := range Endpoints() {
		if n := len(slices.DeleteFunc(slices.Clone(documented), func(d Endpoint) bool { return d != e })); n != 1 {
			t.Errorf("%s has %d rows, want one", e, n)
		}
	}
}

// leastBodies are requests with nothing in them but what must be, without the closing brace.
var leastBodies = map[Endpoint]string{
	Chat:        `{"model":"m","messages":[{"role":"user","content":"Hi"}]`,
	Responses:   `{"model":"m","input":"Hi"`,
	InputTokens: `{"model":"m","input":"Hi"`,
	Completions: `{"model":"m","prompt":"Hi"`,
	Embeddings:  `{"model":"m","input":"Hi"`,
	Moderations: `{"model":"m","input":"Hi"`,
	Pictures:    `{"model":"m","prompt":"Hi"`,
	Speech:      `{"model":"m","input":"Hi","voice":"alloy"`,
}

// leastRequest reads the least request to an endpoint with some members more, or a form with the same as fields.
func leastRequest(e Endpoint, members ...string) (*Request, error) {
	if !e.TakesForm() {
		return Read(e, "application/json", []byte(strings.Join(append([]string{leastBodies[e]}, members...), ",")+"}"))
	}
	var b strings.Builder
	w := multipart.NewWriter(&b)
	for _, name := range []string{"file", "image"} {
		if _, known := forms[e].shape.exact[name]; known {
			part, err := w.CreateFormFile(name, "upload")
			if err == nil {
				_, err = part.Write([]byte("RIFF"))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	fields := append([]string{`"model":"m"`, `"prompt":"Hi"`}, members...)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ":")
		if err := w.WriteField(strings.Trim(name, `"`), strings.Trim(value, `"`)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return Read(e, w.FormDataContentType(), []byte(b.String()))
}

func accepted(t *testing.T, e Endpoint, members ...string) *Request {
	t.Helper()
	req, err := leastRequest(e, members...)
	if err != nil {
		t.Fatalf("%s with %v: %v", e, members, err)
	}
	return req
}

func streamedBy(t *testing.T, e Endpoint) string {
	t.Helper()
	switch {
	case events[e] == nil:
		return "never"
	case e == Speech: // its stream is known by its answer
		accepted(t, e, `"stream_format":"sse"`)
		return "`stream_format: sse`"
	case !accepted(t, e, `"stream":true`).Stream:
		t.Errorf("%s has events, and stream: true asks for none", e)
	}
	return "`stream: true`"
}

func chargedUnreported(e Endpoint) string {
	switch {
	case e == InputTokens:
		return "nothing"
	case readingOf(e, false).makes != words:
		return "what was reserved"
	default:
		return "what was counted"
	}
}

// storedWhen is told by requests. That of an endpoint that stores nothing may say store: nobody is asked to.
func storedWhen(t *testing.T, e Endpoint) string {
	t.Helper()
	switch {
	case e == InputTokens || e != Chat && e != Responses:
		if accepted(t, e).Stores {
			t.Errorf("%s stores what nobody asked it to store", e)
		}
		return "nothing"
	case accepted(t, e).Stores && !accepted(t, e, `"store":false`).Stores:
		return "unless `store: false`"
	case !accepted(t, e).Stores && accepted(t, e, `"store":true`).Stores:
		return "with `store: true`"
	default:
		return "as it likes"
	}
}

// mayName lists what a request to the endpoint may name of what is stored.
func mayName(t *testing.T, e Endpoint) string {
	t.Helper()
	var named []string
	for _, c := range []struct{ what, member, chat string }{
		{"responses", `"previous_response_id":"x_1"`, ""},
		{"conversations", `"conversation":"x_1"`, ""},
		{"items", `"input":[{"type":"item_reference","id":"x_1"}]`, ""},
		{"files", `"input":[{"role":"user","content":[{"type":"input_file","file_id":"x_1"}]}]`, `"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"x_1"}}]}]`},
		{"containers", `"input":[{"type":"code_interpreter_call","code":"1","container_id":"x_1"}]`, ""},
	} {
		var req *Request
		var err error
		switch {
		case e == Chat && c.chat != "":
			req, err = ReadChat([]byte(`{"model":"m",` + c.chat + "}"))
		case strings.HasPrefix(c.member, `"input"`) && !e.TakesForm():
			req, err = Read(e, "application/json", []byte(`{"model":"m",`+c.member+"}"))
		default:
			req, err = leastRequest(e, c.member)
		}
		if err == nil && len(req.Refs) == 1 {
			named = append(named, c.what)
		}
	}
	if len(named) == 0 {
		return "nothing"
	}
	return strings.Join(named, ", ")
}

// TestWireDocRefusedMembers: each member that is documented as refused is, with the code that is named.
func TestWireDocRefusedMembers(t *testing.T) {
	page := pages.Read(t, wirePage)
	if !strings.Contains(page.Text, "400 `"+CodeUnsupportedMember+"`") {
		t.Errorf("the code %s is not named", CodeUnsupportedMember)
	}
	for _, row := range page.Table(t, "| endpoint | member |") {
		e, member := Endpoint(strings.Trim(row[0], "`")), strings.Trim(row[1], "`")
		accepted(t, e)
		_, err := leastRequest(e, member)
		if fault, ok := errors.AsType[*Error](err); !ok || fault.Code != CodeUnsupportedMember || fault.Status != 400 {
			t.Errorf("%s with %s: %v", e, member, err)
		}
	}
}

// TestWireDocEndings: the ends that are printed are written.
func TestWireDocEndings(t *testing.T) {
	page := pages.Read(t, wirePage)
	end := &Ending{Budget: "key alice: $50 each month", Choices: 1, Asked: true, Usage: cost.Usage{Input: 9, Output: 4}}
	for language, c := range map[string]struct{ e, stream string }{
		"chat": {string(Chat), `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"one two"}}]}` + "\n\n"},
		"responses": {string(Responses), event("response.created", `,"sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","model":"gpt-4o-mini"}`) +
			event("response.output_item.added", `,"sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`) +
			event("response.content_part.added", `,"sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`) +
			event("response.output_text.delta", `,"sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"one"`) +
			event("response.output_text.delta", `,"sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" two"`)},
	} {
		got, err := paid(t, &purse{left: 1, end: end}, AnswerOptions{Endpoint: Endpoint(c.e)}, strings.NewReader(c.stream))
		want := page.Block(t, language)
		if ending := strings.TrimRight(want, "\n") + "\n\n"; err != nil || !strings.HasSuffix(got, "\n\n"+ending) && got != ending {
			t.Errorf("%s: %v, want the end\n%s\ngot\n%s", c.e, err, ending, got)
		}
	}
	if marked := fmt.Sprintf("`%s`", "tokenfare"); !strings.Contains(page.Text, marked) {
		t.Errorf("the member %s is not named", marked)
	}
}
