package wire

import (
	"fmt"
	"strings"
	"testing"
)

// TestOpenAIsStreamsCountOnce: everything that is said in pieces comes up to three times more, as a text, a part and an item, and what is
// written about it is none of it.
func TestOpenAIsStreamsCountOnce(t *testing.T) {
	var all [][2]string
	add := func(kind, members string) { all = append(all, [2]string{"response." + kind, members}) }
	add("created", `,"response":{"id":"resp x","object":"response","instructions":"x y","model":"m","output":[],"tools":[{"type":"function","name":"x y"}]}`)
	for index, item := range []struct{ kind, open, pieces, member, part, list string }{
		{"reasoning", `"encrypted_content":"gAAA x"`, "reasoning_summary_text", "text", "reasoning_summary_part", "summary"},
		{"message", `"role":"assistant x","phase":"final x"`, "output_text", "text", "content_part", "content"},
		{"message", `"role":"assistant x"`, "refusal", "refusal", "content_part", "content"},
		{"reasoning", `"summary":[]`, "reasoning_text", "text", "content_part", "content"},
		{"function_call", `"call_id":"c x","name":"x y"`, "function_call_arguments", "arguments", "", ""},
		{"custom_tool_call", `"call_id":"c x","name":"x y"`, "custom_tool_call_input", "input", "", ""},
		{"mcp_call", `"server_label":"x y","name":"x y","output":"x y"`, "mcp_call_arguments", "arguments", "", ""},
		{"code_interpreter_call", `"container_id":"x y","outputs":[{"logs":"x y"}]`, "code_interpreter_call_code", "code", "", ""},
	} {
		of := fmt.Sprintf(`,"output_index":%d`, index)
		whole := func(said string) string {
			value := fmt.Sprintf(`%q:%q`, item.member, said)
			if item.list != "" {
				value = fmt.Sprintf(`%q:[{"type":"x y",%s,"annotations":[{"type":"x y","title":"x y","url":"x y"}],"logprobs":[{"token":"x y"}]}]`, item.list, value)
			}
			return fmt.Sprintf(`%s,"item":{"id":"i x","type":%q,"status":"x y",%s,%s}`, of, item.kind, item.open, value)
		}
		add("output_item.added", whole(""))
		at := of + `,"item_id":"i x"`
		if item.list != "" {
			at += fmt.Sprintf(`,"%s_index":0`, item.list)
			add(item.part+".added", at+`,"part":{"type":"x y","text":"","annotations":[]}`)
		}
		for range 3 {
			add(item.pieces+".delta", at+`,"delta":" one two","logprobs":[{"token":"x y"}],"obfuscation":"x y"`)
		}
		add("output_text.annotation.added", at+`,"annotation_index":0,"annotation":{"type":"url_citation","title":"x y"}`)
		const said = " one two one two one two"
		add(item.pieces+".done", fmt.Sprintf(`%s,%q:%q,"name":"x y","logprobs":[{"token":"x y"}]`, at, item.member, said))
		if item.list != "" {
			add(item.part+".done", fmt.Sprintf(`%s,"part":{"type":"x y",%q:%q,"annotations":[{"title":"x y"}]}`, at, item.member, said))
		}
		add("output_item.done", whole(said))
	}
	if n := countOf(t, Responses, true, streamOf(all...)); n != 8*6 {
		t.Errorf("%d words, want 48", n)
	}
	var chat strings.Builder
	for _, choice := range []string{
		`"delta":{"role":"assistant x","content":"","refusal":null},"logprobs":null`,
		`"delta":{"content":" one two"},"logprobs":{"content":[{"token":"x y","bytes":[1],"top_logprobs":[{"token":"x y"}]}],"refusal":[{"token":"x y"}]}`,
		`"delta":{"tool_calls":[{"index":0,"id":"call x","type":"function x","function":{"name":" three","arguments":""}}]}`,
		`"delta":{"tool_calls":[{"index":0,"function":{"arguments":" four"}}]}`,
		`"delta":{"audio":{"id":"audio x","transcript":" five"}}`, `"delta":{"audio":{"data":"UklGRgA+/A=="}}`, `"delta":{"audio":{"expires_at":1}}`,
		`"text":" six","logprobs":{"tokens":["x y"],"token_logprobs":[-1],"top_logprobs":[{"x y":-1}],"text_offset":[0]}`,
		`"delta":{},"finish_reason":"stop x","content_filter_results":{"hate":{"severity":"x y"}}`,
	} {
		chat.WriteString(`data: {"id":"x y","object":"x y","model":"x y","system_fingerprint":"x y","service_tier":"default","choices":[{"index":0,` + choice + `}],"obfuscation":"x y"}` + "\n\n")
	}
	if n := countOf(t, Chat, true, chat.String()); n != 6 {
		t.Errorf("%d words of a chat, want 6", n)
	}
}
