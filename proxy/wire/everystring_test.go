package wire

import (
	"strings"
	"testing"
)

// No type, member or place hides a text from being counted.
func TestReadCountsEveryString(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		body     string
	}{
		"instructions":           {Responses, `{"model":"m","input":"","instructions":"SECRET"}`},
		"items of instructions":  {Responses, `{"model":"m","input":"","instructions":[{"role":"developer","content":"SECRET"}]}`},
		"content":                {Responses, `{"model":"m","input":[{"role":"user","content":"SECRET"}]}`},
		"role":                   {Responses, `{"model":"m","input":[{"role":"SECRET"}]}`},
		"type":                   {Responses, `{"model":"m","input":[{"type":"SECRET","role":"user"}]}`},
		"status":                 {Responses, `{"model":"m","input":[{"role":"user","status":"SECRET"}]}`},
		"number":                 {Responses, `{"model":"m","input":[{"role":"user","id":"` + strings.Repeat("x", 60) + `SECRET"}]}`},
		"sealed in a message":    {Responses, `{"model":"m","input":[{"role":"user","encrypted_content":"SECRET"}]}`},
		"result of a message":    {Responses, `{"model":"m","input":[{"role":"user","result":"SECRET"}]}`},
		"sealed object":          {Responses, `{"model":"m","input":[{"type":"reasoning","encrypted_content":{"x":"SECRET"}}]}`},
		"arguments of a message": {Responses, `{"model":"m","input":[{"role":"user","arguments":"SECRET"}]}`},
		"result of a reference":  {Responses, `{"model":"m","input":[{"type":"item_reference","id":"a","result":"SECRET"}]}`},
		"seal of a reference":    {Responses, `{"model":"m","input":[{"id":"a","encrypted_content":"SECRET"}]}`},
		"arguments and input":    {Responses, `{"model":"m","input":[{"type":"function_call","arguments":"a","input":"SECRET"}]}`},
		"unknown member":         {Responses, `{"model":"m","input":[{"role":"user","x":{"y":["SECRET"]}}]}`},
		"output object":          {Responses, `{"model":"m","input":[{"type":"function_call_output","output":{"x":"SECRET"}}]}`},
		"image of a text part":   {Responses, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","image_url":"SECRET"}]}]}`},
		"file of a text part":    {Responses, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","file_data":"SECRET"}]}]}`},
		"audio of a text part":   {Responses, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","input_audio":{"data":"SECRET"}}]}]}`},
		"schema":                 {Responses, `{"model":"m","input":"","text":{"format":{"type":"json_schema","schema":{"SECRET":1}}}}`},
		"format that is a text":  {Responses, `{"model":"m","input":"","text":{"format":"SECRET"}}`},
		"text that is a text":    {Responses, `{"model":"m","input":"","text":"SECRET"}`},
		"reasoning":              {Responses, `{"model":"m","input":"","reasoning":{"effort":"SECRET"}}`},
		"include":                {Responses, `{"model":"m","input":"","include":["SECRET"]}`},
		"tool":                   {Responses, `{"model":"m","input":"","tools":[{"type":"custom","description":"SECRET"}]}`},
		"unknown body member":    {Responses, `{"model":"m","input":"","documents":[["SECRET"]]}`},
		"suffix":                 {Completions, `{"model":"m","prompt":"","suffix":"SECRET"}`},
		"second prompt":          {Completions, `{"model":"m","prompt":["","SECRET"]}`},
		"embedding messages":     {Embeddings, `{"model":"m","input":"","messages":[{"content":"SECRET"}]}`},
		"moderation":             {Moderations, `{"input":[{"type":"text","text":"SECRET"}]}`},
		"picture prompt":         {Pictures, `{"model":"m","prompt":{"x":"SECRET"}}`},
		"picture style":          {Pictures, `{"model":"m","prompt":"","style":"SECRET"}`},
		"speech instructions":    {Speech, `{"model":"m","input":"","instructions":"SECRET"}`},
		"speech voice":           {Speech, `{"model":"m","input":"","voice":{"id":"SECRET"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			facts := readAt(t, c.endpoint, c.body).Cost
			all := strings.Join(facts.Tools, "") + facts.ToolChoice
			for _, text := range facts.Text {
				all += text.S
			}
			if !strings.Contains(all, "SECRET") {
				t.Errorf("the string is not counted: %+v", facts)
			}
		})
	}
}
