package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// madeOf reads an answer.
func madeOf(e Endpoint, stream bool, r io.Reader) (id string, parts []string) {
	m := NewMade(e, stream)
	io.Copy(m, struct{ io.Reader }{r}) // it never fails
	return m.ID, m.Parts
}

const madeStream = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"output\":[],\"id\":\"resp_1\",\"x\":{\"id\":\"no\"}}}\n\n" +
	": keep-alive\n\ndata: {\"type\":\"keepalive\",\"id\":\"no\"}\n\n" +
	"data: {\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"id\":\"no\"}]},\"item_id\":\"no\"}\n\n" +
	"data: {\"delta\":\"\\\"item\\\":{\\\"id\\\":\\\"no\\\"}\",\"item_id\":\"msg_1\"}\n\n" +
	"data: {\"response\":{\"id\":\"resp_1\",\"output\":[{\"id\":\"rs_1\"},{\"content\":[{\"text\":\"{\\\"id\\\":1}\",\"id\":\"no\"}],\"id\":\"msg_2\"}],\"usage\":{}}}\n\n"

func TestMadeFindsIDsAtTheirOwnPlace(t *testing.T) {
	long := strings.Repeat("a", 128)
	for name, c := range map[string]struct {
		endpoint Endpoint
		stream   bool
		body     string
		id       string
		parts    []string
	}{
		"a stream":             {Responses, true, madeStream, "resp_1", []string{"rs_1", "msg_2"}},
		"a stream with CRLF":   {Responses, true, strings.ReplaceAll(madeStream, "\n", "\r\n"), "resp_1", []string{"rs_1", "msg_2"}},
		"a stream with CR":     {Responses, true, strings.ReplaceAll(madeStream, "\n", "\r"), "resp_1", []string{"rs_1", "msg_2"}},
		"a response":           {Responses, false, `{"output":[{"id":"a","x":[{"id":"no"}]},{"id":"b"},[{"id":"no"}],"id","no"],"id":"r","response":{"id":"no"}}`, "r", []string{"a", "b"}},
		"a chat":               {Chat, false, `{"choices":[{"id":"no","message":{"content":"\"id\":\"no\""}}],"id":"chatcmpl-1"}`, "chatcmpl-1", nil},
		"an object":            {"", false, "\n{ \"id\" : \"file-1\" , \"id\":\"second\"}", "file-1", nil},
		"a list":               {"", false, `{"object":"list","data":[{"id":"a"},{"id":"b"},{"id":"a"}],"first_id":"a"}`, "", []string{"a", "b"}},
		"no plain ids":         {"", false, `{"id":"a/b","data":[{"id":"ü"},{"id":""},{"id":7},{"id":null},{"id":"\u0061"},{"id":"` + long + `a"}]}`, "", nil},
		"as long as may be":    {"", false, `{"id":"` + long + `"}`, long, nil},
		"a name with escapes":  {"", false, `{"\u0069d":"a","i\"d":"b"}`, "", nil},
		"nested deeply":        {"", false, strings.Repeat(`{"data":[`, 300) + `{"id":"no"}`, "", nil},
		"nothing":              {"", false, ``, "", nil},
		"closed too often":     {"", false, `}}]]{"id":"a"}`, "a", nil},
		"no stream":            {Responses, true, `{"response":{"id":"no"}}`, "", nil},
		"a broken event":       {Responses, true, "data: {\"response\":{\"id\":\"a\n\ndata: {\"response\":{\"id\":\"b\"}}\n\n", "b", nil},
		"several data lines":   {Responses, true, "data: {\"response\":\ndata: {\"id\":\"b\"}}\n\n", "b", nil},
		"a field like data":    {Responses, true, "datum: {\"response\":{\"id\":\"no\"}}\n\ndata {\"response\":{\"id\":\"no\"}}\n\n", "", nil},
		"an id cut off at end": {"", false, `{"id":"a`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body))} {
				id, parts := madeOf(c.endpoint, c.stream, r)
				if id != c.id || !cmp.Equal(parts, c.parts) {
					t.Errorf("got %q, %q, want %q, %q", id, parts, c.id, c.parts)
				}
			}
		})
	}
}

func TestMadeIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "data: {\"item\":{\"id\":\"msg_%d\"}}\n\n", i)
	}
	_, parts := madeOf(Responses, true, strings.NewReader(b.String()))
	if len(parts) != mostMade || parts[mostMade-1] != fmt.Sprintf("msg_%d", mostMade-1) {
		t.Errorf("%d parts are noted, want the first %d", len(parts), mostMade)
	}
}

// TestMadeReadsWhatWasWritten: of answers of any shape the ids at their places are found, and no others.
func TestMadeReadsWhatWasWritten(t *testing.T) {
	text := rapid.SampledFrom([]string{`x`, `\"id\":\"no\"`, `{\"id\":\"no\"}`, `\\`, `\\\"`, `]},`, `data: `})
	rapid.Check(t, func(rt *rapid.T) {
		var items, want []string
		for i := range rapid.IntRange(0, 5).Draw(rt, "items") {
			id := fmt.Sprintf("msg_%d", i)
			members := []string{`"id":"` + id + `"`, `"content":[{"text":"` + text.Draw(rt, "text") + `","id":"no"}]`, `"n":[1,{"a":[{}]},null,true]`}
			items = append(items, `{`+strings.Join(rapid.Permutation(members).Draw(rt, "members"), " , ")+`}`)
			want = append(want, id)
		}
		members := []string{`"id":"resp_1"`, `"output":[` + strings.Join(items, ",") + `]`, `"metadata":{"id":"no","output":[{"id":"no"}]}`, `"e":[]`, `"o":{}`}
		whole := `{` + strings.Join(rapid.Permutation(members).Draw(rt, "members"), ",") + `}`
		for _, c := range []struct {
			stream bool
			body   string
		}{{false, whole}, {true, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + whole + "}\n\n"}} {
			id, parts := madeOf(Responses, c.stream, &cutter{[]byte(c.body), rapid.Uint64().Draw(rt, "cuts")})
			if id != "resp_1" || !cmp.Equal(parts, want) {
				rt.Fatalf("%q, %q in %s", id, parts, c.body)
			}
		}
	})
}

// FuzzMade: however the bytes are cut, the same ids are found, and each can be part of a path.
func FuzzMade(f *testing.F) {
	f.Add([]byte(madeStream), uint64(1))
	f.Add([]byte(strings.ReplaceAll(madeStream, "\n", "\r\n")), uint64(2))
	f.Add([]byte(`{"id":"r","output":[{"id":"a\\"},{"id":"b"}],"data":[{"id":"c"}]}`), uint64(3))
	f.Fuzz(func(t *testing.T, body []byte, pattern uint64) {
		for _, e := range []Endpoint{Responses, Chat, ""} {
			for _, stream := range []bool{false, true} {
				id, parts := madeOf(e, stream, strings.NewReader(string(body)))
				for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(string(body))), &cutter{body, pattern}} {
					if again, others := madeOf(e, stream, r); again != id || !cmp.Equal(others, parts) {
						t.Fatalf("in pieces %q, %q; in one %q, %q", again, others, id, parts)
					}
				}
				for _, known := range append(parts, id) {
					if known != "" && !IsID(known) {
						t.Fatalf("%q is no id", known)
					}
				}
				if len(parts) > mostMade {
					t.Fatalf("%d parts", len(parts))
				}
			}
		}
	})
}

// TestMadeFindsContainers of the code of an answer, each once, and what looks like one nowhere else.
func TestMadeFindsContainers(t *testing.T) {
	const items = `{"type":"code_interpreter_call","id":"ci_1","container_id":"cntr_1","code":"{\"container_id\":\"no\"}"},` +
		`{"container_id":"cntr_1","content":[{"annotations":[{"container_id":"no"}]}]},` +
		`{"type":"shell_call","environment":{"type":"container_reference","container_id":"cntr_2"},"action":{"container_id":"no"}},{"container_id":null}`
	for name, c := range map[string]struct {
		stream bool
		body   string
	}{
		"whole":              {false, `{"container_id":"no","id":"r","output":[` + items + `]}`},
		"streamed at an end": {true, `data: {"response":{"container_id":"no","id":"r","output":[` + items + "]}}\n\n"},
		"streamed by items":  {true, `data: {"item":` + strings.ReplaceAll(items, `},{`, "}}\n\ndata: {\"item\":{") + "}\n\n"},
	} {
		m := NewMade(Responses, c.stream)
		if _, err := io.Copy(m, iotest.OneByteReader(strings.NewReader(c.body))); err != nil {
			t.Fatal(err)
		}
		if want := []string{"cntr_1", "cntr_2"}; !cmp.Equal(m.Containers, want) {
			t.Errorf("%s: %q, want %q", name, m.Containers, want)
		}
	}
}
