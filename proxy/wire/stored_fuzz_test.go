package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// wholeRefusal demands that an error says all that a caller is to know.
func wholeRefusal(t *testing.T, body []byte, err error) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code == "" || refusal.Message == "" || refusal.Status != 400 || !json.Valid(refusal.JSON()) {
		t.Fatalf("%s: not a whole refusal: %v", body, err)
	}
}

// stringsOf are all strings in a value, names included.
func stringsOf(n *node) (all []string) {
	if s, ok := n.value.(string); ok {
		all = append(all, s)
	}
	for _, m := range n.members {
		all = append(append(all, m.name), stringsOf(m.value)...)
	}
	for _, item := range n.items {
		all = append(all, stringsOf(item)...)
	}
	return all
}

// FuzzReadItems: of what is put into a conversation all text counts, every id that a caller names in it is found again, wherever it
// stands, and no text that is not there.
func FuzzReadItems(f *testing.F) {
	for _, seed := range []string{
		`{"items":[{"type":"message","role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}],"metadata":{"a":"b"}}`, `{}`, `{"items":null}`, `{"items":[]}`,
		`{"items":[{"type":"message","role":"user","content":[{"type":"input_file","file_id":"file_1"},{"type":"input_text","text":"x"}]}]}`,
		`{"items":[{"role":"user","content":"\ud800"},{"id":"rs_1","type":"reasoning"}]}`, `{"metadata":{"a":"1","a":"2"},"items":[{"type":"item_reference","id":"msg_2"}]}`,
		`{"items":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}`, `{"items":[{"role":"user","content":"a"}],"items":[]}`, `{"Items":[]}`,
		`{"metadata":{"\ud800":{"k":"msg_3"}},"items":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`, `{"items":[{"id":"\u006dsg_4","type":"reasoning"}]} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := ReadItems(body)
		if err != nil {
			wholeRefusal(t, body, err)
			return
		}
		tree := treeOf(t, body)
		everyStringCounts(t, "/v1/conversations", body, tree, req)
		for _, h := range habits {
			if items := h.get(tree, "items"); items.isArray() && len(items.items) > req.Cost.Messages+len(req.Refs) {
				t.Fatalf("%s: %d messages and %d references of %d items", body, req.Cost.Messages, len(req.Refs), len(items.items))
			}
		}
		all := stringsOf(tree)
		const absent = "a text that no fuzzer writes by itself \x00"
		there := Strings(body, append(slices.Clone(all), absent))
		for _, text := range all {
			if !there[text] {
				t.Fatalf("%s: %q is not found in it", body, text)
			}
		}
		if there[absent] {
			t.Fatalf("%s: a text is found in it that is not there", body)
		}
		for _, ref := range req.Refs {
			if !IsID(ref.ID) || ref.Param == "" || !there[ref.ID] {
				t.Fatalf("%s: a reference to %q in %q", body, ref.ID, ref.Param)
			}
		}
	})
}

// FuzzCheckUpdate: what may be changed of a stored object is its metadata, whatever a parser makes of names.
func FuzzCheckUpdate(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"a":"b"}}`, `{}`, `{"metadata":null}`, `{"metadata":{"a":1,"a":2}}`, `{"metadata":{},"metadata":{}}`, `{"Metadata":{}}`, `{"meta_data":{}}`, `{"metadata":{},"model":"m"}`,
		`{"\u006detadata":{}}`, `{"metadata":{}} {}`, `[]`, `{"status":"x"}`, "{\"metadata\":{\"a\":\"\xff\"}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if err := CheckUpdate(body); err != nil {
			wholeRefusal(t, body, err)
			return
		}
		tree := treeOf(t, body)
		if tree.value != json.Delim('{') || len(tree.members) > 1 || len(tree.members) == 1 && tree.members[0].name != "metadata" {
			t.Fatalf("%s changes more than the metadata", body)
		}
	})
}

// FuzzReadUpload holds the reader against mime/multipart: it reads the same purpose, and the same bytes as one file.
func FuzzReadUpload(f *testing.F) {
	for _, fields := range [][]string{
		{"purpose", "user_data", "file", "@" + aPicture},
		{"file", "@hello", "purpose", "vision", "expires_after[anchor]", "created_at", "expires_after[seconds]", "3600"},
		{"purpose", "batch", "file", "@x"},
		{"purpose", "user_data"},
		{"file", "@x", "file", "@y", "purpose", "user_data"},
		{"file", "x", "purpose", "user_data"},
		{"purpose", "user_data", "purpose", "batch", "file", "@x"},
		{"Purpose", "user_data", "file", "@x"},
		{"file", "@", "purpose", "assistants", "n", "2"},
	} {
		contentType, body := aForm(f, fields...)
		f.Add(contentType, body)
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		up, err := ReadUpload(contentType, body)
		if err != nil {
			wholeRefusal(t, body, err)
			return
		}
		if !slices.Contains(purposes, up.Purpose) || up.Tokens < 0 {
			t.Fatalf("%q: %+v", body, up)
		}
		_, sent, err := mime.ParseMediaType(up.ContentType)
		if err != nil {
			t.Fatalf("%q is sent as %q: %v", body, up.ContentType, err)
		}
		parts := multipart.NewReader(bytes.NewReader(body), sent["boundary"])
		files, purpose, tokens := 0, []string(nil), int64(0)
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("mime/multipart does not read %q: %v", body, err)
				}
				break
			}
			content, err := io.ReadAll(part)
			if err != nil {
				t.Fatalf("mime/multipart does not read %q: %v", body, err)
			}
			switch part.FormName() {
			case "file":
				files++
				tokens += cost.RawFileTokens(content)
			case "purpose":
				purpose = append(purpose, string(content))
			case "expires_after[anchor]", "expires_after[seconds]":
			default:
				t.Fatalf("%q has a field %q", body, part.FormName())
			}
		}
		if files != 1 || tokens != up.Tokens || !slices.Equal(purpose, []string{up.Purpose}) {
			t.Fatalf("%q: %+v, and mime/multipart reads %d files of %d tokens for %q", body, up, files, tokens, purpose)
		}
	})
}
