package wire

import (
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// What OpenAI billed for requests like these was published: by the cookbook (How_to_count_tokens_with_tiktoken), and by
// hmarr/openai-chat-tokens and petrbrzek/openai-chat-tokens, which tried them with gpt-3.5-turbo.
func TestEstimatesAreWhatWasBilled(t *testing.T) {
	const (
		hello   = `{"role":"user","content":"hello"}`
		foo     = `{"name":"foo","parameters":{"type":"object","properties":{}}}`
		stuff   = `{"name":"do_stuff","parameters":{"type":"object","properties":{}}}`
		other   = `{"name":"do_other_stuff","parameters":{"type":"object","properties":{}}}`
		weather = `"messages":[
			{"role":"system","content":"You are a helpful assistant that can answer to questions about the weather."},
			{"role":"user","content":"What's the weather like in San Francisco?"}],
			"tools":[{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location",
			"parameters":{"type":"object","required":["location"],"properties":{
				"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},
				"unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}}}}}]`
		boston = `{"function":{"name":"get_current_weather","arguments":"{\"location\":\"Boston\"}"},"id":"call_1","type":"function"}`
		sunny  = `{"role":"tool","tool_call_id":"call_1","content":"It is currently 70 degrees and sunny in Boston, MA"}`
	)
	for _, c := range []struct {
		model, members string
		want           int64
	}{
		{"gpt-3.5-turbo", `"messages":[` + hello + `]`, 8},
		{"gpt-3.5-turbo", `"messages":[{"role":"system","content":"hello:"}]`, 9},
		{"gpt-3.5-turbo", `"messages":[` + hello + `],"functions":[` + foo + `]`, 31},
		{"gpt-3.5-turbo", `"messages":[` + hello + `],"tools":[{"type":"function","function":` + foo + `}],"tool_choice":"none"`, 32},
		{"gpt-3.5-turbo", `"messages":[` + hello + `],"functions":[` + foo + `],"function_call":{"name":"foo"}`, 36},
		{"gpt-3.5-turbo", `"messages":[{"role":"system","content":"Hello"},{"role":"user","content":"Hi there"}],"functions":[` + stuff + `]`, 35},
		{"gpt-3.5-turbo", `"messages":[{"content":"Hello:","role":"system"},{"role":"user","content":"Hi there"}],"functions":[` + stuff + `]`, 35},
		{
			"gpt-3.5-turbo", `"messages":[{"role":"system","content":"Hello:"},{"role":"system","content":"Hello"},{"role":"user","content":"Hi there"}],
			"functions":[` + stuff + `,` + other + `],"function_call":{"name":"do_stuff"}`, 55,
		},
		{
			"gpt-3.5-turbo", `"messages":[` + hello + `],"functions":[{"name":"bing_bong","description":"Do a bing bong","parameters":{"type":"object","properties":
			{"foo":{"type":"object","properties":{"bar":{"type":"string","enum":["a","b","c"]},"baz":{"type":"boolean"}}}}}}]`, 68,
		},
		{"gpt-3.5-turbo", `"messages":[{"role":"user","content":"hello world"},{"role":"function","name":"do_stuff","content":"{\"foo\": \"bar\", \"baz\": 1.5}"}]`, 28},
		{"gpt-3.5-turbo", `"messages":[{"role":"assistant","content":"","function_call":{"name":"do_stuff","arguments":"{\"foo\": \"bar\", \"baz\": 1.5}"}}]`, 26},
		{"gpt-3.5-turbo", `"messages":[{"role":"assistant","content":null,"tool_calls":[` + boston + `]},` + sunny + `]`, 36},
		{"gpt-3.5-turbo", `"messages":[{"role":"assistant","content":null,"tool_calls":[` + boston + `,` + boston + `,` + boston + `]},` + sunny + `,` + sunny + `,` + sunny + `]`, 124},
		{"gpt-3.5-turbo", weather, 105},
		{"gpt-4", weather, 105},
		{"gpt-4o", weather, 101},
		{"gpt-4o-mini", weather, 101},
	} {
		catalog, err := cost.DefaultCatalog()
		if err != nil {
			t.Fatal(err)
		}
		request := read(t, `{"model":"`+c.model+`",`+c.members+`}`)
		if got := cost.NewEstimator().Estimate(request.Cost, catalog.Model(c.model)); got.Input != c.want {
			t.Errorf("%s: %d tokens %v, want %d: %s", c.model, got.Input, got.ByPart, c.want, c.members)
		}
	}
}
