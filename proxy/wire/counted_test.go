package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// selecting are the words that choose something where they stand, and are no text: the model is not told them.
var selecting = func() map[string]bool {
	words := map[string]bool{}
	for _, list := range [][]string{
		efforts, verbosities, retentions,
		{"text", "json_object", "json_schema", "content", "function", "custom", "local", "container_reference", "wav", "mp3"},
		{"refusal", "image_url", "input_image", "input_audio", "file", "input_text", "output_text", "summary_text", "reasoning_text", "computer_screenshot", "input_file"},
		{"in_progress", "completed", "incomplete", "searching", "generating", "interpreting", "failed", "commentary", "final_answer"},
		{
			"message", "reasoning", "compaction", "context_compaction", "item_reference", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
			"computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output",
			"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
			"additional_tools", "tool_search_call", "tool_search_output", "program", "program_output", "compaction_trigger", "configuration_update",
		},
		{
			"file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url", "computer_call_output.output.image_url",
			"code_interpreter_call.outputs", "reasoning.encrypted_content", "message.output_text.logprobs",
		},
		{"auto", "low", "high", "original", "disabled", "concise", "detailed", "float", "base64", "transparent", "opaque", "png", "jpeg", "webp", "url", "b64_json"},
		{"vivid", "natural", "opus", "aac", "flac", "pcm", "sse", "audio"},
	} {
		for _, word := range list {
			words[word] = true
		}
	}
	return words
}()

// Members whose text is said, even if it is one of those words; those that hold a number of something, which no model is shown; and
// those of a body that only choose.
var (
	prose   = []string{"content", "input", "prompt", "instructions", "arguments", "name", "description", "suffix", "text"}
	numbers = []string{"id", "call_id", "tool_call_id", "user", "safety_identifier", "prompt_cache_key", "voice"}
	chooses = []string{"model", "service_tier", "size", "quality"}
)

// A medium is a string that is the bytes of something else than text, if it stands where such is looked for.
type medium struct {
	of   *int64 // that count
	text string
}

// audit looks for each string of a request among those that count.
type audit struct {
	t       *testing.T
	e       Endpoint
	body    []byte
	req     *Request
	texts   map[string]int // how often each counts
	callers []string       // of these, in which the text of a tool call may be

	images, audio, files, sealed *int64 // how many strings are media, or how many tokens these have, each kind by itself
	media                        []medium
}

// everyStringCounts demands that all strings in a body count, each as often as it is there, but those that are known not to.
func everyStringCounts(t *testing.T, e Endpoint, body []byte, tree *node, req *Request) {
	t.Helper()
	a := audit{t: t, e: e, body: body, req: req, texts: map[string]int{}}
	c := &req.Cost
	said := map[string]bool{}
	tree.strings(func(s string) { said[s] = true })
	for _, text := range c.Text {
		a.texts[text.S]++
		a.callers = append(a.callers, text.S)
		// What is no string of the body is JSON of something that stands where a text is expected.
		if strings.HasPrefix(text.S, `{"tool_uses":[`) || text.Part == cost.PartOther || text.Part == cost.PartSchema || text.Part == cost.PartTools || !said[text.S] {
			a.within(text.S)
		}
	}
	for _, text := range c.CallIDs {
		a.texts[text]++
	}
	for _, text := range append(slices.Clone(c.Tools), c.ToolChoice) {
		a.within(text)
	}
	var images, audio, files, sealed int64
	a.images, a.audio, a.files, a.sealed = &images, &audio, &files, &sealed
	a.object(tree, "", nil, "")
	tokens := map[*int64]func([]byte) int64{
		&images: one, &audio: one, &files: cost.FileTokens, &sealed: cost.SealedTokens,
	}
	slices.SortStableFunc(a.media, func(x, y medium) int { return cmp.Compare(tokens[y.of]([]byte(y.text)), tokens[x.of]([]byte(x.text))) })
	for _, m := range a.media {
		if a.texts[m.text] > 0 { // it is text there: where the same is there twice, that which would count more
			a.texts[m.text]--
		} else if m.text != "" {
			*m.of += tokens[m.of]([]byte(m.text))
		}
	}
	if int64(len(c.Images)) < images || int64(len(c.Audio)) < audio || c.FileTokens < files || c.Sealed < sealed {
		t.Fatalf("%s %s: %d pictures, %d recordings, %d tokens of files and %d of what is sealed in the body, and %d, %d, %d, %d count",
			e, body, images, audio, files, sealed, len(c.Images), len(c.Audio), c.FileTokens, c.Sealed)
	}
}

func one([]byte) int64 { return 1 }

// within takes what counts as JSON as the strings that are in it.
func (a *audit) within(text string) {
	if !json.Valid([]byte(text)) {
		return
	}
	treeOf(a.t, []byte(text)).strings(func(s string) { a.texts[s]++ })
}

// strings shows all strings in a value but the names of members.
func (n *node) strings(show func(string)) {
	if s, ok := n.value.(string); ok {
		show(s)
	}
	for _, m := range n.members {
		m.value.strings(show)
	}
	for _, item := range n.items {
		item.strings(show)
	}
}

// object looks at what is in n, the member called as of within, which is the member called around of something else.
func (a *audit) object(n *node, as string, within *node, around string) {
	switch s, isText := n.value.(string); {
	case isText:
		a.string(s, as, within, around)
	case n.isArray():
		for _, item := range n.items {
			a.object(item, as, within, around)
		}
	default:
		for _, m := range n.members {
			a.inside(m.value, m.name, n, as, within)
		}
	}
}

// inside is object for a member of n, which is the member called as of outer: what the data of a picture is depends on both.
func (a *audit) inside(value *node, name string, n *node, as string, outer *node) {
	if s, ok := value.value.(string); ok {
		if of := a.kindOf(s, name, n, as, outer); of != nil {
			a.media = append(a.media, medium{of, s})
			return
		}
	}
	a.object(value, name, n, as)
}

// kindOf is the count of what the bytes in a string may be; nil if they are text wherever it stands.
func (a *audit) kindOf(s, name string, n *node, as string, outer *node) *int64 {
	kind, kindAround := habits[0].get(n, "type").text(), habits[0].get(outer, "type").text()
	images, files := []string{"image_url", "input_image", "computer_screenshot"}, []string{"file", "input_file"}
	switch {
	case name == "image_url" && slices.Contains(images, kind), name == "url" && as == "image_url" && slices.Contains(images, kindAround),
		name == "url" && as == "outputs" && strings.HasPrefix(s, "data:image/"), name == "result" && kind == "image_generation_call":
		return a.images
	case name == "data" && as == "input_audio" && kindAround == "input_audio":
		return a.audio
	case name == "file_data" && slices.Contains(files, kind), name == "file_data" && as == "file" && slices.Contains(files, kindAround):
		return a.files
	case name == "encrypted_content" && slices.Contains([]string{"reasoning", "compaction", "context_compaction"}, kind):
		return a.sealed
	default:
		return nil
	}
}

// string looks for one string.
func (a *audit) string(s, as string, within *node, around string) {
	onTop := around == "" && as != "" // a member of the body
	switch {
	case s == "":
	case selecting[s] && !slices.Contains(prose, as), len(s) <= plainID && slices.Contains(numbers, as), onTop && slices.Contains(chooses, as):
	case slices.ContainsFunc(a.req.Refs, func(r Ref) bool { return r.ID == s }):
	case a.texts[s] <= 0 && (as == "name" || as == "arguments" || as == "input") && slices.ContainsFunc(a.callers, func(text string) bool { return strings.Contains(text, s) }):
	case onTop && as == "modalities" && s == "text":
	case a.texts[s] > 0:
		a.texts[s]--
	default:
		a.t.Fatalf("%s %s: %q in %q of %q is not counted: %+v", a.e, a.body, s, as, around, a.req.Cost)
	}
}
