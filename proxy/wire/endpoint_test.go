package wire

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

// readAt reads a JSON body that must be accepted.
func readAt(t *testing.T, e Endpoint, body string) *Request {
	t.Helper()
	req, err := Read(e, "application/json", []byte(body))
	if err != nil {
		t.Fatalf("Read(%s, %s): %v", e, body, err)
	}
	return req
}

// text is a text of the messages.
func text(s string) cost.Text { return cost.Text{Part: cost.PartMessages, S: s} }

func texts(all ...string) (out []cost.Text) {
	for _, s := range all {
		out = append(out, text(s))
	}
	return out
}

func TestReadCollectsWhatTheCallMayCost(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint Endpoint
		body     string
		want     cost.Request
	}{
		"responses, a string": {
			Responses, `{"model":"m","input":"Hello","instructions":"Be brief.","max_output_tokens":50,"store":false,"truncation":"auto",
				"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],"prompt_cache_key":"a"}`,
			cost.Request{Text: texts("user", "Hello", "developer", "Be brief."), Messages: 2, FirstSystem: 4, HasMaxOutput: true, MaxOutput: 50},
		},
		"responses, items": {
			Responses, `{"model":"m","service_tier":"flex","text":{"format":{"type":"json_schema","name":"s","schema":{"type":"object"}},"verbosity":"low"},
			"input":[
				{"role":"system","content":"Rules"},
				{"type":"message","role":"user","content":[
					{"type":"input_text","text":"What is this?"},
					{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},
					{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAABBBB"}]},
				{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"` + strings.Repeat("AAAA", 220) + `"},
				{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}","status":"completed"},
				{"type":"function_call_output","call_id":"call_1","output":"found"},
				{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"A cat","annotations":[]}]}
			]}`,
			cost.Request{
				Text: append(append([]cost.Text{{Part: cost.PartSchema, S: `"s"`}, {Part: cost.PartSchema, S: `{"type":"object"}`}},
					texts("system", "Rules", "user", "What is this?", "a.pdf", "hm", "assistant", "assistant", "look{}", "look", "found", "assistant")...),
					texts("assistant", "A cat")...),
				Messages: 6, FirstSystem: 4, CallTokens: 2, CallIDs: []string{"call_1", "call_1"}, Sealed: 4, FileTokens: 6, Tier: cost.Flex,
				Images: []cost.Image{{Detail: cost.LowDetail}},
			},
		},
		"responses, tools": {
			Responses, `{"model":"m","input":"x","max_tool_calls":3,"tool_choice":{"type":"web_search"},"tools":[
				{"type":"function","name":"f","parameters":{"type":"object"},"strict":true},{"type":"web_search"},
				{"type":"code_interpreter","container":{"type":"auto"}},{"type":"local_shell"}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1, ToolChoice: `{"type":"web_search"}`, MostHosted: 3,
				Hosted: []cost.Hosted{{Type: "web_search"}, {Type: "code_interpreter"}},
				Tools: []string{
					`{"type":"function","name":"f","parameters":{"type":"object"},"strict":true}`, `{"type":"web_search"}`,
					`{"type":"code_interpreter","container":{"type":"auto"}}`, `{"type":"local_shell"}`,
				},
			},
		},
		"responses, what tools left": {
			Responses, `{"model":"m","input":[
				{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"cats"}},
				{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,AAAA"}},
				{"type":"image_generation_call","id":"ig_1","status":"completed","result":"AAAA"},
				{"type":"mcp_list_tools","id":"l","server_label":"srv","tools":[{"name":"t","input_schema":{"properties":{"long_name":{}}}}]},
				{"type":"custom_tool_call","call_id":"c","name":"sql","input":"select 1"},
				{"type":"mcp_call","id":"m","name":"t","arguments":"{}","output":"done"},
				{"type":"code_interpreter_call","id":"c","code":"1+1","outputs":[{"type":"logs","logs":"2"},{"type":"image","url":"data:image/png;base64,AAAA"}]}]}`,
			cost.Request{
				Text: append(append(texts(`{"type":"search","query":"cats"}`, "assistant", "assistant", "assistant", "srv"),
					cost.Text{Part: cost.PartTools, S: `{"name":"t","input_schema":{"properties":{"long_name":{}}}}`}),
					texts("assistant", "assistant", "sqlselect 1", "sql", "done", "t", "{}", "assistant", "1+1", "logs", "2", "image", "assistant")...),
				Messages: 7, CallTokens: 2, CallIDs: []string{"c", "c"}, Images: []cost.Image{{}, {}, {}},
			},
		},
		"responses, tools of the caller": {
			Responses, `{"model":"m","input":"x","tools":[
				{"environment":{"type":"local"},"type":"shell"},{"type":"shell","environment":{"type":"container_auto","memory_limit":"1g"}},
				{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]},{"type":"tool_search"}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1, Hosted: []cost.Hosted{{Type: "shell"}},
				Tools: []string{
					`{"environment":{"type":"local"},"type":"shell"}`, `{"type":"shell","environment":{"type":"container_auto","memory_limit":"1g"}}`,
					`{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}`, `{"type":"tool_search"}`,
				},
			},
		},
		"a shell that is said to be local elsewhere": {
			Responses, `{"model":"m","input":"x","tools":[{"type":"shell","container":{"type":"local"}},{"environment":{"type":"local"},"type":"custom"},{"type":"shell"}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1, Hosted: []cost.Hosted{{Type: "shell"}, {Type: "shell"}},
				Tools: []string{`{"type":"shell","container":{"type":"local"}}`, `{"environment":{"type":"local"},"type":"custom"}`, `{"type":"shell"}`},
			},
		},
		"responses, where the caller runs tools": {
			Responses, `{"model":"m","input":"x","tools":[
				{"type":"computer_use_preview","environment":"browser","display_width":1024,"display_height":768},
				{"type":"shell","environment":{"skills":[{"name":"s","description":"d","path":"/s"}],"type":"local"}}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1,
				Tools: []string{
					`{"type":"computer_use_preview","environment":"browser","display_width":1024,"display_height":768}`,
					`{"type":"shell","environment":{"skills":[{"name":"s","description":"d","path":"/s"}],"type":"local"}}`,
				},
			},
		},
		"a shell at a word": {
			Responses, `{"model":"m","input":"x","tools":[{"type":"shell","environment":{"type":"local"}},{"type":"shell","environment":"local"}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1, Hosted: []cost.Hosted{{Type: "shell"}},
				Tools: []string{`{"type":"shell","environment":{"type":"local"}}`, `{"type":"shell","environment":"local"}`},
			},
		},
		"tools that items bring along": {
			Responses, `{"model":"m","input":[
				{"type":"additional_tools","role":"developer","tools":[{"type":"code_interpreter","container":{"type":"auto"}},{"type":"function","name":"f"}]},
				{"tools":[{"type":"namespace","name":"n","tools":[{"type":"web_search"}]},{"type":"mcp","server_label":"s","tunnel_id":"t"}],"type":"tool_search_output","call_id":null}]}`,
			cost.Request{
				Text: texts("developer", "assistant"), Messages: 2,
				Hosted: []cost.Hosted{{Type: "code_interpreter"}, {Type: "web_search"}, {Type: "mcp"}},
				Tools: []string{
					`{"type":"code_interpreter","container":{"type":"auto"}}`, `{"type":"function","name":"f"}`,
					`{"type":"namespace","name":"n","tools":[{"type":"web_search"}]}`, `{"type":"mcp","server_label":"s","tunnel_id":"t"}`,
				},
			},
		},
		"a search in a namespace": {
			Responses, `{"model":"m","input":"x","tools":[{"type":"namespace","tools":[{"type":"web_search"}]}]}`,
			cost.Request{
				Text: texts("user", "x"), Messages: 1, Hosted: []cost.Hosted{{Type: "web_search"}},
				Tools: []string{`{"type":"namespace","tools":[{"type":"web_search"}]}`},
			},
		},
		"speech of digits":          {Speech, `{"model":"m","input":"12 €"}`, cost.Request{Text: texts("12 €"), HasMaxOutput: true, Speech: cost.Speech{Characters: 4, Bytes: 6, Signs: 3}}},
		"completions, a string":     {Completions, `{"model":"m","prompt":"Once","suffix":"end","max_tokens":7,"n":2,"best_of":3,"echo":true}`, cost.Request{Text: texts("Once", "end"), HasMaxOutput: true, MaxOutput: 7, Choices: 3, Echo: true}},
		"completions, no limit":     {Completions, `{"model":"m","prompt":"Once"}`, cost.Request{Text: texts("Once"), HasMaxOutput: true, MaxOutput: 16}},
		"completions, null limit":   {Completions, `{"model":"m","prompt":"Once","max_tokens":null}`, cost.Request{Text: texts("Once"), HasMaxOutput: true, MaxOutput: 16}},
		"completions, nothing":      {Completions, `{"model":"m","prompt":null,"max_tokens":1}`, cost.Request{PromptIDs: 1, HasMaxOutput: true, MaxOutput: 1}},
		"completions, strings":      {Completions, `{"model":"m","prompt":["a","b"],"n":2,"max_tokens":1}`, cost.Request{Text: texts("a", "b"), HasMaxOutput: true, MaxOutput: 1, Choices: 4}},
		"completions, numbers":      {Completions, `{"model":"m","prompt":[1,2,3],"max_tokens":1}`, cost.Request{PromptIDs: 3, HasMaxOutput: true, MaxOutput: 1}},
		"completions, many numbers": {Completions, `{"model":"m","prompt":[[1,2],[3]],"max_tokens":1}`, cost.Request{PromptIDs: 3, HasMaxOutput: true, MaxOutput: 1, Choices: 2}},
		"completions, an echo":      {Completions, `{"model":"m","prompt":"a","max_tokens":0,"echo":true}`, cost.Request{Text: texts("a"), HasMaxOutput: true, Echo: true}},
		"embeddings, a string":      {Embeddings, `{"model":"m","input":"a","encoding_format":"base64","dimensions":256}`, cost.Request{Text: texts("a"), HasMaxOutput: true}},
		"embeddings, strings":       {Embeddings, `{"model":"m","input":["a","b"]}`, cost.Request{Text: texts("a", "b"), HasMaxOutput: true}},
		"embeddings, numbers":       {Embeddings, `{"model":"m","input":[1,2]}`, cost.Request{PromptIDs: 2, HasMaxOutput: true}},
		"embeddings, many numbers":  {Embeddings, `{"model":"m","input":[[1,2],[3]]}`, cost.Request{PromptIDs: 3, HasMaxOutput: true}},
		"moderations, a string":     {Moderations, `{"input":"a"}`, cost.Request{Model: "omni-moderation-latest", Text: texts("a"), HasMaxOutput: true}},
		"moderations, strings":      {Moderations, `{"model":"m","input":["a","b"]}`, cost.Request{Text: texts("a", "b"), HasMaxOutput: true}},
		"moderations, parts":        {Moderations, `{"model":"m","input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x"}}]}`, cost.Request{Text: texts("a"), Images: []cost.Image{{}}, HasMaxOutput: true}},
		"pictures":                  {Pictures, `{"model":"m","prompt":"a cat"}`, cost.Request{Text: texts("a cat"), HasMaxOutput: true, Pictures: cost.Pictures{N: 1}}},
		"pictures, all said": {
			Pictures, `{"model":"m","prompt":"a cat","n":2,"size":"1024x1536","quality":"hd","stream":true,"partial_images":3,"background":"opaque","output_format":"png","style":"vivid"}`,
			cost.Request{Text: texts("a cat"), HasMaxOutput: true, Pictures: cost.Pictures{N: 2, Width: 1024, Height: 1536, Quality: cost.HDQuality, Partial: 3}},
		},
		"pictures, as the model likes": {Pictures, `{"model":"m","prompt":"a cat","n":null,"size":"auto","quality":"auto"}`, cost.Request{Text: texts("a cat"), HasMaxOutput: true, Pictures: cost.Pictures{N: 1}}},
		"speech":                       {Speech, `{"model":"m","input":"Grüß","voice":"alloy","instructions":"Sing","speed":0.5,"response_format":"mp3"}`, cost.Request{Text: texts("Grüß", "Sing"), HasMaxOutput: true, Speech: cost.Speech{Characters: 4, Bytes: 6, Slowed: 400}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Model, c.want.Choices = orM(c.want.Model), max(1, c.want.Choices)
			got := readAt(t, c.endpoint, c.body)
			if diff := cmp.Diff(c.want, got.Cost); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if got.PromptMember != dialects[c.endpoint].prompt {
				t.Errorf("the prompt is in %q", got.PromptMember)
			}
		})
	}
}

func orM(model string) string {
	if model == "" {
		return "m"
	}
	return model
}

func TestReadRefuses(t *testing.T) {
	input := func(item string) string { return `{"model":"m","input":[` + item + `]}` }
	for name, c := range map[string]struct {
		endpoint    Endpoint
		body        string
		code, param string
	}{
		"no input":             {Responses, `{"model":"m"}`, CodeMissingMember, "input"},
		"input number":         {Responses, `{"model":"m","input":5}`, CodeInvalidType, "input"},
		"input twice":          {Responses, `{"model":"m","input":"a","input":"b"}`, CodeDuplicateMember, "input"},
		"another limit":        {Responses, `{"model":"m","input":"a","max_tokens":5}`, CodeUnsupportedMember, "max_tokens"},
		"item string":          {Responses, input(`"x"`), CodeInvalidType, "input[0]"},
		"a look-alike":         {Responses, input(`{"Content":"x"}`), CodeAmbiguousMember, "input[0].Content"},
		"a part's look-alike":  {Responses, input(`{"content":[{"Text":"x"}]}`), CodeAmbiguousMember, "input[0].content[0].Text"},
		"a reference":          {Responses, input(`{"type":"item_reference","id":"x"}`), CodeUnsupportedMember, "input[0]"},
		"a bare reference":     {Responses, input(`{"id":"x"}`), CodeUnsupportedMember, "input[0]"},
		"a stored image":       {Responses, input(`{"role":"user","content":[{"type":"input_image","file_id":"f"}]}`), CodeUnsupportedMember, "input[0].content[0].file_id"},
		"a remote file":        {Responses, input(`{"role":"user","content":[{"type":"input_file","file_url":"https://x"}]}`), CodeUnsupportedMember, "input[0].content[0].file_url"},
		"earlier turns":        {Responses, `{"model":"m","input":"a","previous_response_id":"r"}`, CodeUnsupportedMember, "previous_response_id"},
		"a stored prompt":      {Responses, `{"model":"m","input":"a","prompt":{"id":"p"}}`, CodeUnsupportedMember, "prompt"},
		"work that outlives":   {Responses, `{"model":"m","input":"a","background":true}`, CodeUnsupportedMember, "background"},
		"a stored container":   {Responses, `{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":"c"}]}`, CodeUnsupportedMember, "tools[0].container"},
		"files of a container": {Responses, `{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["f"]}}]}`, CodeUnsupportedMember, "tools[0].container.file_ids[0]"},
		"a large container":    {Responses, `{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":{"type":"auto","memory_limit":"64g"}}]}`, CodeUnsupportedMember, "tools[0].container.memory_limit"},
		"another's container":  {Responses, `{"model":"m","input":"a","tools":[{"type":"shell","environment":{"type":"container_reference","container_id":"c"}}]}`, CodeUnsupportedMember, "tools[0].environment.container_id"},
		"a container's skills": {Responses, `{"model":"m","input":"a","tools":[{"type":"shell","environment":{"skills":[{"type":"skill_reference"}],"type":"container_auto"}}]}`, CodeUnsupportedMember, "tools[0].environment.skills"},
		"skills of no place":   {Responses, `{"model":"m","input":"a","tools":[{"type":"shell","environment":{"skills":[]}}]}`, CodeUnsupportedMember, "tools[0].environment.skills"},
		"skills of code":       {Responses, `{"model":"m","input":"a","tools":[{"type":"code_interpreter","container":{"type":"local","skills":[]}}]}`, CodeUnsupportedMember, "tools[0].container.skills"},
		"files of a shell":     {Responses, `{"model":"m","input":"a","tools":[{"type":"shell","environment":{"type":"container_auto","file_ids":["f"]}}]}`, CodeUnsupportedMember, "tools[0].environment.file_ids[0]"},
		"a stored mask":        {Responses, `{"model":"m","input":"a","tools":[{"type":"image_generation","input_image_mask":{"file_id":"f"}}]}`, CodeUnsupportedMember, "tools[0].input_image_mask.file_id"},
		"vector stores":        {Responses, `{"model":"m","input":"a","tools":[{"type":"file_search","vector_store_ids":["v"]}]}`, CodeUnsupportedMember, "tools[0].vector_store_ids"},
		"a tool of no type":    {Responses, `{"model":"m","input":"a","tools":[{"name":"f"}]}`, CodeUnsupportedMember, "tools[0]"},
		"an item's stores":     {Responses, input(`{"type":"additional_tools","role":"developer","tools":[{"type":"file_search","vector_store_ids":["v"]}]}`), CodeUnsupportedMember, "input[0].tools[0].vector_store_ids"},
		"an item's container":  {Responses, input(`{"type":"tool_search_output","tools":[{"type":"code_interpreter","container":"c"}]}`), CodeUnsupportedMember, "input[0].tools[0].container"},
		"an item's mask":       {Responses, input(`{"type":"additional_tools","tools":[{"type":"image_generation","input_image_mask":{"file_id":"f"}}]}`), CodeUnsupportedMember, "input[0].tools[0].input_image_mask.file_id"},
		"an untyped tool":      {Responses, input(`{"tools":[{"type":"function"},{"name":"f"}],"type":"tool_search_output"}`), CodeUnsupportedMember, "input[0].tools[1]"},
		"an item's tool twice": {Responses, input(`{"tools":[{"type":"function","type":"web_search"}]}`), CodeDuplicateMember, "input[0].tools[0].type"},
		"no tool calls":        {Responses, `{"model":"m","input":"a","max_tool_calls":0}`, CodeInvalidValue, "max_tool_calls"},
		"another tier":         {Responses, `{"model":"m","input":"a","service_tier":"batch"}`, CodeUnsupportedMember, "service_tier"},
		"no prompt":            {Completions, `{"model":"m"}`, CodeMissingMember, "prompt"},
		"prompt object":        {Completions, `{"model":"m","prompt":{}}`, CodeInvalidType, "prompt"},
		"prompts of objects":   {Completions, `{"model":"m","prompt":[{}]}`, CodeInvalidType, "prompt[0]"},
		"texts of arrays":      {Completions, `{"model":"m","prompt":[["a"]]}`, CodeInvalidType, "prompt[0][0]"},
		"fractions of tokens":  {Completions, `{"model":"m","prompt":[1.0]}`, CodeInvalidValue, "prompt[0]"},
		"tokens that are true": {Embeddings, `{"model":"m","input":[[true]]}`, CodeInvalidType, "input[0][0]"},
		"tokens of exponents":  {Embeddings, `{"model":"m","input":[[1e0]]}`, CodeInvalidValue, "input[0][0]"},
		"an embedding object":  {Embeddings, `{"model":"m","input":{"x":"a"}}`, CodeInvalidType, "input"},
		"a video of no type":   {Chat, `{"model":"m","messages":[{"content":[{"video_url":"https://x"}]}]}`, CodeUnsupportedMember, "messages[0].content[0].video_url"},
		"audio of no type":     {Chat, `{"model":"m","messages":[{"content":[{"type":"text","text":"a","audio_url":{"url":"https://x"}}]}]}`, CodeUnsupportedMember, "messages[0].content[0].audio_url"},
		"embedded pixels":      {Responses, input(`{"role":"user","content":[{"image_embeds":"x"}]}`), CodeUnsupportedMember, "input[0].content[0].image_embeds"},
		"more choices":         {Chat, `{"model":"m","messages":[],"n_cmpl":5}`, CodeUnsupportedMember, "n_cmpl"},
		"a limit of nothing":   {Completions, `{"model":"m","prompt":"a","max_tokens":0}`, CodeInvalidValue, "max_tokens"},
		"no embedding input":   {Embeddings, `{"model":"m"}`, CodeMissingMember, "input"},
		"no embedding model":   {Embeddings, `{"input":"a"}`, CodeMissingMember, "model"},
		"a size of words":      {Pictures, `{"model":"m","prompt":"a","size":"large"}`, CodeInvalidValue, "size"},
		"a size beyond":        {Pictures, `{"model":"m","prompt":"a","size":"99999x1"}`, CodeInvalidValue, "size"},
		"a size of nothing":    {Pictures, `{"model":"m","prompt":"a","size":"0x1"}`, CodeInvalidValue, "size"},
		"no pictures":          {Pictures, `{"model":"m","prompt":"a","n":0}`, CodeInvalidValue, "n"},
		"no picture model":     {Pictures, `{"prompt":"a"}`, CodeMissingMember, "model"},
		"speech of a number":   {Speech, `{"model":"m","input":5}`, CodeInvalidType, "input"},
		"speech too slow":      {Speech, `{"model":"m","input":"a","speed":0.1}`, CodeInvalidValue, "speed"},
		"speech backwards":     {Speech, `{"model":"m","input":"a","speed":-1}`, CodeInvalidValue, "speed"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := Read(c.endpoint, "application/json", []byte(c.body))
			if err == nil {
				err = req.Stateless()
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Code != c.code || e.Param != c.param || !strings.Contains(e.Message, c.param) {
				t.Errorf("got code %q, param %q, want %q, %q (%s)", e.Code, e.Param, c.code, c.param, e.Message)
			}
		})
	}
}

func TestEditWritesWhatHoldsByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint   Endpoint
		body, want string
		edits      Edits
	}{
		"responses limit":         {Responses, `{"model":"a","input":"x"}`, `{"max_output_tokens":7,"model":"a","input":"x"}`, Edits{MaxOutput: 7, OutputMember: "max_completion_tokens"}},
		"responses limit lowered": {Responses, `{"model":"a","input":"x","max_output_tokens":9}`, `{"model":"a","input":"x","max_output_tokens":7}`, Edits{MaxOutput: 7}},
		"completions limit":       {Completions, `{"model":"a","prompt":"x","max_tokens":null}`, `{"model":"a","prompt":"x","max_tokens":16}`, Edits{MaxOutput: 16}},
		"runs":                    {Responses, `{"model":"a","input":"x"}`, `{"max_tool_calls":10,"model":"a","input":"x"}`, Edits{MostRuns: 10}},
		"runs null":               {Responses, `{"model":"a","input":"x","max_tool_calls":null}`, `{"model":"a","input":"x","max_tool_calls":10}`, Edits{MostRuns: 10}},
		"runs given":              {Responses, `{"model":"a","input":"x","max_tool_calls":2}`, `{"model":"a","input":"x","max_tool_calls":2}`, Edits{MostRuns: 10}},
		"a model where none was":  {Moderations, `{"input":"x"}`, `{"model":"b","input":"x"}`, Edits{Model: "b"}},
		"a limit renamed":         {Responses, `{"model":"a","input":"x","max_output_tokens":9}`, `{"model":"a","input":"x","max_output_tokens":9}`, Edits{RenameLimit: true, OutputMember: "max_tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(readAt(t, c.endpoint, c.body).Edit(c.edits)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// FuzzRead holds every reader of JSON against encoding/json: what it accepts is JSON of the same model, and its own edits
// leave a body that it accepts again.
func FuzzRead(f *testing.F) {
	file := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))
	for i, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"a"}]}`,
		`{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + file + `"}]},{"type":"function_call","name":"f","arguments":"{}"}],"tools":[{"type":"web_search"}],"max_tool_calls":3}`,
		`{"model":"m","prompt":[[1,2],[3]],"n":2,"echo":true}`,
		`{"model":"m","input":["a",[1,2]]}`,
		`{"input":[{"type":"text","text":"a"}]}`,
		`{"model":"m","prompt":"a","size":"1024x1024","quality":"hd"}`,
		`{"model":"m","input":"a","speed":0.5}`,
		`{"model":"m","input":[{"type":"item_reference","id":"msg_1"},{"type":"reasoning","id":"rs_1"}],"conversation":{"id":"c"},"previous_response_id":"r"}`,
	} {
		f.Add(uint8(i), []byte(body))
	}
	f.Add(uint8(1), []byte(`{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"web_search"},{"type":"shell","environment":{"type":"local"}}]},{"tools":[{}],"type":"mcp_list_tools"}]}`))
	for which, body := range map[uint8]string{ // a text wherever one may stand
		0: `{"model":"m","messages":[{"role":"developer","name":"n1","content":[{"type":"text","text":"t1"},["t2",{"type":"refusal","refusal":"t3"}],{"type":"odd","x":{"y":"t4"}}]},` +
			`{"role":"assistant","content":null,"refusal":"t5","tool_calls":[{"id":"c1","type":"function","function":{"name":"f1","arguments":"a1","arguments":"a2"},"x":"t6"}]},` +
			`{"role":"tool","tool_call_id":"` + strings.Repeat("t7", 40) + `","content":"t8"},{"role":"user","content":[{"type":"text","image_url":"t9"},{"type":"text","input_audio":{"data":"AAAA"}},{"type":"text","file":{"file_data":"BBBB"}}]}],` +
			`"tools":[{"type":"function","function":{"name":"t10","description":"t11"}}],"functions":[{"name":"t12"}],"tool_choice":"t13","function_call":"t14",` +
			`"prediction":{"type":"content","content":[{"text":"t15"}]},"response_format":{"type":"json_schema","json_schema":{"schema":{"t16":"t17"}}},` +
			`"stop":["t18"],"metadata":{"k":"t19","k":"t20"},"logit_bias":{"5":1},"user":"` + strings.Repeat("t21", 30) + `","reasoning_effort":"t22","unknown":{"a":["t23"]}}`,
		1: `{"model":"m","instructions":"t1","input":[{"type":"reasoning","encrypted_content":"AAAA","summary":[{"type":"summary_text","text":"t2"}]},{"role":"user","content":[{"type":"input_file","file_data":"AAAA","filename":"t3"}]},` +
			`{"type":"function_call","call_id":"c","name":"t4","arguments":"t5"},{"type":"custom_tool_call","name":"t6","input":"t7"},{"type":"odd","arguments":"t8","x":"t9"},{"type":"image_generation_call","result":"AAAA"},` +
			`{"type":"code_interpreter_call","code":"t10","outputs":[{"type":"logs","logs":"t11"},{"type":"image","url":"data:image/png;base64,AA"}]},{"type":"mcp_list_tools","tools":[{"name":"t12"}]},{"role":"user","result":"t20","encrypted_content":"t21"}],` +
			`"text":{"format":{"type":"json_schema","name":"t13"},"verbosity":"t14"},"reasoning":{"effort":"t15","x":"t16"},"tools":[{"type":"custom","description":"t17"}],"include":["t18"],"truncation":"t19","max_output_tokens":20,"store":null}`,
		2: `{"model":"m","prompt":["t1","t2"],"suffix":"t3","max_tokens":0,"echo":true,"best_of":4,"n":3,"stream":true,"stream_options":{"include_usage":true,"x":"t4"}}`,
		3: `{"model":"m","input":[[1,2],"t1",[3]],"encoding_format":"t2","user":"u","unknown":"t3"}`,
		4: `{"input":["t1",{"type":"image_url","image_url":{"url":"data:"}},{"type":"text","text":"t2"}]}`,
		5: `{"model":"m","prompt":{"x":"t1"},"n":3,"style":"t2","background":"t3","size":"512x256","user":"t4"}`,
		6: `{"model":"m","input":"t1","instructions":"t2","voice":{"id":"t3"},"response_format":"t4","speed":2}`,
	} {
		f.Add(which, []byte(body))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		e := Endpoints()[int(which)%len(dialects)]
		req, err := Read(e, "", body)
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Code == "" || refusal.Message == "" {
				t.Fatalf("%s: not a whole refusal: %v", body, err)
			}
			return
		}
		tree := treeOf(t, body)
		agree(t, e, body, tree, req)
		everyStringCounts(t, e, body, tree, req)
		edited := req.Edit(Edits{Model: "other", IncludeUsage: true, MaxOutput: 16, MostRuns: 5, NotStored: true})
		again, err := Read(e, "", edited)
		if err != nil {
			t.Fatalf("the edited body %s is not accepted: %v", edited, err)
		}
		if again.Model != "other" {
			t.Fatalf("the model is %q after the edit", again.Model)
		}
		if again.Stores || len(again.Refs) != len(req.Refs) {
			t.Fatalf("the edited body %s stores its answer, or names other objects: %+v", edited, again.Refs)
		}
		for _, ref := range req.Refs {
			if !IsID(ref.ID) || ref.Param == "" {
				t.Fatalf("a reference to %q in %q", ref.ID, ref.Param)
			}
		}
	})
}
