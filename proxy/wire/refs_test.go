package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadCollectsReferences(t *testing.T) {
	input := func(items string) string { return `{"model":"m","input":[` + items + `]}` }
	tool := func(tool string) string { return `{"model":"m","input":"a","tools":[` + tool + `]}` }
	for name, c := range map[string]struct {
		endpoint Endpoint
		body     string
		want     []Ref
	}{
		"none":                        {Responses, `{"model":"m","input":"a","previous_response_id":null,"conversation":null}`, nil},
		"earlier turns":               {Responses, `{"model":"m","input":"a","previous_response_id":"resp_1"}`, []Ref{{PreviousResponse, "resp_1", "previous_response_id"}}},
		"nothing new":                 {Responses, `{"model":"m","previous_response_id":"resp_1"}`, []Ref{{PreviousResponse, "resp_1", "previous_response_id"}}},
		"a conversation":              {Responses, `{"model":"m","input":"a","conversation":"conv_1"}`, []Ref{{InConversation, "conv_1", "conversation"}}},
		"a conversation's id":         {Responses, `{"model":"m","input":"a","conversation":{"id":"conv_1"}}`, []Ref{{InConversation, "conv_1", "conversation.id"}}},
		"an item":                     {Responses, input(`{"type":"item_reference","id":"msg_1"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"an item of no type":          {Responses, input(`{"id":"msg_1"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"an item of null type":        {Responses, input(`{"id":"msg_1","type":null,"content":null}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a bare message":              {Responses, input(`{"id":"msg_1","type":"message","role":"assistant","status":"completed"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"open reasoning":              {Responses, input(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null}`), []Ref{{ItemRef, "rs_1", "input[0]"}}},
		"sealed reasoning":            {Responses, input(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`), nil},
		"reasoning of no number":      {Responses, input(`{"type":"reasoning","summary":[]}`), nil},
		"a picture made before":       {Responses, input(`{"type":"image_generation_call","id":"ig_1","status":"completed"}`), []Ref{{ItemRef, "ig_1", "input[0]"}}},
		"a picture sent along":        {Responses, input(`{"type":"image_generation_call","id":"ig_1","result":"aGk="}`), nil},
		"a whole message":             {Responses, input(`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}`), nil},
		"a whole call":                {Responses, input(`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}`), nil},
		"an item and more":            {Responses, input(`{"id":"msg_1","foo":"x"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a text without a role":       {Responses, input(`{"id":"msg_1","content":"x"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a message and more":          {Responses, input(`{"type":"message","role":"user","id":"msg_1","foo":"x"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a message of a summary":      {Responses, input(`{"type":"message","role":"user","id":"msg_1","summary":[]}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"where code has run":          {Responses, input(`{"type":"code_interpreter_call","id":"ci_1","code":"1+1","container_id":"cntr_1","outputs":null}`), []Ref{{ContainerRef, "cntr_1", "input[0].container_id"}}},
		"where a shell has run":       {Responses, input(`{"type":"shell_call","call_id":"c","action":{"commands":["ls"]},"environment":{"type":"container_reference","container_id":"cntr_1"}}`), []Ref{{ContainerRef, "cntr_1", "input[0].environment.container_id"}}},
		"files where it has run":      {Responses, input(`{"type":"shell_call","call_id":"c","environment":{"type":"container_auto","file_ids":["file-1"]}}`), []Ref{{MountedRef, "file-1", "input[0].environment.file_ids[0]"}}},
		"a shell at the caller":       {Responses, input(`{"type":"shell_call","call_id":"c","action":{},"environment":{"type":"local"},"container_id":null}`), nil},
		"a call and more":             {Responses, input(`{"type":"function_call","id":"fc_1","foo":"x"}`), []Ref{{ItemRef, "fc_1", "input[0]"}}},
		"a type like it":              {Responses, input(`{"type":"Item_Reference","id":"msg_1","x":1}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a type like it, with a role": {Responses, input(`{"type":"Item_Reference","id":"msg_1","role":"user","content":"x"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"an unknown type":             {Responses, input(`{"type":"new_call","id":"nc_1","x":1}`), []Ref{{ItemRef, "nc_1", "input[0]"}}},
		"an empty picture":            {Responses, input(`{"type":"image_generation_call","id":"ig_1","result":""}`), []Ref{{ItemRef, "ig_1", "input[0]"}}},
		"an empty seal":               {Responses, input(`{"type":"compaction","id":"cmp_1","encrypted_content":""}`), []Ref{{ItemRef, "cmp_1", "input[0]"}}},
		"no seal, and more":           {Responses, input(`{"type":"compaction","id":"cmp_1","foo":"x"}`), []Ref{{ItemRef, "cmp_1", "input[0]"}}},
		"reasoning of an empty seal":  {Responses, input(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":""}`), []Ref{{ItemRef, "rs_1", "input[0]"}}},
		"a seal of another's":         {Responses, input(`{"type":"message","id":"msg_1","encrypted_content":"gAAA"}`), []Ref{{ItemRef, "msg_1", "input[0]"}}},
		"a sealed past":               {Responses, input(`{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"}`), nil},
		"a search":                    {Responses, input(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"a"}}`), nil},
		"a search for tools":          {Responses, input(`{"type":"tool_search_call","id":"ts_1","status":"completed","arguments":{},"call_id":null,"execution":"server"}`), nil},
		"a text of a role":            {Responses, input(`{"id":"msg_1","role":"user","content":"x"}`), nil},
		"a file":                      {Responses, input(`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_file","file_id":"file-1"}]}`), []Ref{{FileRef, "file-1", "input[0].content[1].file_id"}}},
		"a picture":                   {Responses, input(`{"role":"user","content":[{"file_id":"file-1","type":"input_image"}]}`), []Ref{{PictureRef, "file-1", "input[0].content[0].file_id"}}},
		"a chat's file":               {Chat, `{"model":"m","messages":[{"content":[{"type":"file","file":{"file_id":"file-1"}}]}]}`, []Ref{{FileRef, "file-1", "messages[0].content[0].file.file_id"}}},
		"a chat's picture":            {Chat, `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"file_id":"file-1"}}]}]}`, []Ref{{PictureRef, "file-1", "messages[0].content[0].image_url.file_id"}}},
		"a chat's lone file":          {Chat, `{"model":"m","messages":[{"content":{"type":"file","file":{"file_id":"file-1"}}}]}`, []Ref{{FileRef, "file-1", "messages[0].content.file.file_id"}}},
		"a chat's nested file":        {Chat, `{"model":"m","messages":[{"content":[[[{"type":"file","file":{"file_id":"file-1"}}]]]}]}`, []Ref{{FileRef, "file-1", "messages[0].content[0][0][0].file.file_id"}}},
		"a picture in an object":      {Responses, input(`{"role":"user","content":[{"type":"input_image","image_url":{"file_id":"file-1"}}]}`), []Ref{{PictureRef, "file-1", "input[0].content[0].image_url.file_id"}}},
		"a lone file":                 {Responses, input(`{"role":"user","content":{"type":"input_file","file_id":"file-1"}}`), []Ref{{FileRef, "file-1", "input[0].content.file_id"}}},
		"a nested file":               {Responses, input(`{"role":"user","content":[[{"type":"input_file","file_id":"file-1"}]]}`), []Ref{{FileRef, "file-1", "input[0].content[0][0].file_id"}}},
		"a file as in a chat":         {Responses, input(`{"role":"user","content":{"type":"file","file":{"file_id":"file-1"}}}`), []Ref{{FileRef, "file-1", "input[0].content.file.file_id"}}},
		"a container's files":         {Responses, tool(`{"type":"code_interpreter","container":{"type":"auto","file_ids":["file-1","file-2"]}}`), []Ref{{MountedRef, "file-1", "tools[0].container.file_ids[0]"}, {MountedRef, "file-2", "tools[0].container.file_ids[1]"}}},
		"a mask":                      {Responses, tool(`{"type":"image_generation","input_image_mask":{"file_id":"file-1"}}`), []Ref{{PictureRef, "file-1", "tools[0].input_image_mask.file_id"}}},
		"a mask of an item":           {Responses, input(`{"type":"additional_tools","tools":[{"type":"image_generation","input_image_mask":{"file_id":"file-1"}}]}`), []Ref{{PictureRef, "file-1", "input[0].tools[0].input_image_mask.file_id"}}},
		"files of an item":            {Responses, input(`{"type":"tool_search_output","tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["file-1"]}}]}`), []Ref{{MountedRef, "file-1", "input[0].tools[0].container.file_ids[0]"}}},
		"only counted":                {InputTokens, `{"model":"m","input":"a","previous_response_id":"resp_1"}`, []Ref{{PreviousResponse, "resp_1", "previous_response_id"}}},
	} {
		t.Run(name, func(t *testing.T) {
			req := readAt(t, c.endpoint, c.body)
			if diff := cmp.Diff(c.want, req.Refs); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
			var e *Error
			if err := req.Stateless(); (err != nil) != (len(c.want) > 0) || err != nil && (!errors.As(err, &e) || e.Param != c.want[0].Param) {
				t.Errorf("without any: %v", err)
			}
		})
	}
}

func TestReadRefusesOddReferences(t *testing.T) {
	many := `{"model":"m","input":[` + strings.Repeat(`{"id":"a"},`, mostRefs) + `{"id":"a"}]}`
	for body, want := range map[string]struct{ code, param string }{
		`{"model":"m","input":"a","previous_response_id":"a/../b"}`:                                                       {CodeInvalidValue, "previous_response_id"},
		`{"model":"m","input":"a","previous_response_id":""}`:                                                             {CodeInvalidValue, "previous_response_id"},
		`{"model":"m","input":"a","previous_response_id":"` + strings.Repeat("a", 129) + `"}`:                             {CodeInvalidValue, "previous_response_id"},
		`{"model":"m","input":"a","previous_response_id":["a"]}`:                                                          {CodeInvalidType, "previous_response_id"},
		`{"model":"m","input":"a","conversation":{"id":"a","new":true}}`:                                                  {CodeInvalidValue, "conversation.new"},
		`{"model":"m","input":"a","conversation":{"id":"a?b"}}`:                                                           {CodeInvalidValue, "conversation.id"},
		`{"model":"m","input":[{"type":"item_reference","id":"a b"}]}`:                                                    {CodeInvalidValue, "input[0]"},
		`{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":"file-1"}}]}`: {CodeInvalidType, "tools[0].container.file_ids"},
		`{"model":"m","input":"a","store":"no"}`:                                                                          {CodeInvalidType, "store"},
		`{"model":"m","input":"a","prompt":{"id":"p"}}`:                                                                   {CodeUnsupportedMember, "prompt"},
		`{"model":"m","input":"a","tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]}`:                          {CodeUnsupportedMember, "tools[0].vector_store_ids"},
		`{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":"cntr_1"}]}`:                            {CodeUnsupportedMember, "tools[0].container"},
		`{"model":"m","input":"a","background":true}`:                                                                     {CodeUnsupportedMember, "background"},
		many: {CodeTooComplex, fmt.Sprintf("input[%d]", mostRefs)},
	} {
		_, err := Read(Responses, "", []byte(body))
		var e *Error
		if !errors.As(err, &e) || e.Code != want.code || e.Param != want.param || e.Status != 400 {
			t.Errorf("%.120s: %+v, want %+v", body, err, want)
		}
	}
}

// TestStoresByDefault: a response is stored unless it is said not to be, a chat only if it is said; and what is not to be stored is
// spliced.
func TestStoresByDefault(t *testing.T) {
	for _, c := range []struct {
		endpoint   Endpoint
		body       string
		stores     bool
		said       bool
		notStoring string
	}{
		{Responses, `{"model":"m","input":"a"}`, true, false, `{"store":false,"model":"m","input":"a"}`},
		{Responses, `{"store": null ,"model":"m","input":"a"}`, true, false, `{"store": false ,"model":"m","input":"a"}`},
		{Responses, `{"model":"m","input":"a","store":true}`, true, true, `{"model":"m","input":"a","store":false}`},
		{Responses, `{"model":"m","input":"a","store":false}`, false, true, `{"model":"m","input":"a","store":false}`},
		{InputTokens, `{"model":"m","input":"a"}`, false, false, `{"model":"m","input":"a"}`},
		{Chat, `{"model":"m","messages":[]}`, false, false, `{"model":"m","messages":[]}`},
		{Chat, `{"model":"m","messages":[],"store":true}`, true, true, `{"model":"m","messages":[],"store":false}`},
		{Chat, `{"model":"m","messages":[],"store":null}`, false, false, `{"model":"m","messages":[],"store":null}`},
	} {
		req := readAt(t, c.endpoint, c.body)
		if req.Stores != c.stores || (req.Stateless() != nil) != (c.stores && c.said) {
			t.Errorf("%s: stores %v, refused %v", c.body, req.Stores, req.Stateless())
		}
		edited := string(req.Edit(Edits{NotStored: true}))
		if edited != c.notStoring {
			t.Errorf("%s: %s, want %s", c.body, edited, c.notStoring)
		}
		if again := readAt(t, c.endpoint, edited); again.Stores {
			t.Errorf("%s is stored all the same", edited)
		}
	}
}

func TestReadItems(t *testing.T) {
	for body, messages := range map[string]int{
		`{}`: 0, `{"metadata":{"a":"b"}}`: 0, `{"items":[]}`: 0, `{"items":null}`: 0,
		`{"items":[{"type":"message","role":"user","content":"Hi"},{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`: 2,
	} {
		if req, err := ReadItems([]byte(body)); err != nil || req.Cost.Messages != messages {
			t.Errorf("%s: %+v, %v", body, req, err)
		}
	}
	if req, err := ReadItems([]byte(`{"items":[{"type":"item_reference","id":"msg_1"}]}`)); err != nil || len(req.Refs) != 1 {
		t.Errorf("a reference: %+v, %v", req, err)
	}
	for _, kind := range []string{"additional_tools", "tool_search_output"} {
		_, err := ReadItems([]byte(`{"items":[{"type":"` + kind + `","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}]}`))
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeUnsupportedMember || e.Param != "items[0].tools[1]" {
			t.Errorf("a tool of the provider's in %s: %v", kind, err)
		}
		if _, err := ReadItems([]byte(`{"items":[{"type":"` + kind + `","tools":[{"type":"function","name":"f"}]}]}`)); err != nil {
			t.Errorf("a tool of the caller's in %s: %v", kind, err)
		}
	}
	for _, body := range []string{``, `[]`, `{"items":[{}],"items":[]}`, `{"Items":[]}`, `{"items":["a"]}`, `{"items":[]}x`} {
		if _, err := ReadItems([]byte(body)); err == nil {
			t.Errorf("%s is accepted", body)
		}
	}
	for body, ok := range map[string]bool{`{"metadata":{"a":"b"}}`: true, `{}`: true, `{"metadata":null}`: true, `{"store":true}`: false, `{"model":"m"}`: false, `[]`: false, ``: false} {
		if err := CheckUpdate([]byte(body)); (err == nil) != ok {
			t.Errorf("an update %s: %v", body, err)
		}
	}
}

func TestPages(t *testing.T) {
	page, err := ReadPage([]byte(` {"object":"list", "data": [ {"id":"a","x":[1, 2]} , {"object":"b"}, {"id":"c"} ], "has_more" : true}`))
	if err != nil || !page.More || len(page.Entries) != 3 || page.Entries[0].ID != "a" || page.Entries[1].ID != "" {
		t.Fatalf("%+v, %v", page, err)
	}
	page.Entries = append(page.Entries[:1], page.Entries[2])
	const want = `{"object":"list","data":[{"id":"a","x":[1, 2]},{"id":"c"}],"first_id":"a","last_id":"c","has_more":true}`
	if got := string(page.JSON()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, body := range []string{``, `[]`, `{}`, `{"data":{}}`, `{"data":["a"]}`, `{"data":[]} x`, `{"data":[{"id":"a","id":"b"}]}`, `{"data":[{"ID":"b"}]}`} {
		if _, err := ReadPage([]byte(body)); err == nil {
			t.Errorf("%s is read as a page", body)
		}
	}
}
