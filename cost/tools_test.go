package cost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// function is a tool of that name with parameters of those properties.
func function(name, properties string) string {
	return `{"type":"function","function":{"name":"` + name + `","parameters":{"type":"object","properties":{` + properties + `}}}}`
}

func TestToolsAreRenderedAsTypes(t *testing.T) {
	for _, c := range []struct {
		name       string
		definition string
		shown      string // between the lines that begin and end a namespace
		rest       string
	}{
		{"no parameters", `{"type":"function","function":{"name":"now"}}`, "type now = () => any;", ""},
		{"empty parameters", function("now", ``), "type now = () => any;", ""},
		{"a bare function", `{"name":"now","description":"The time"}`, "// The time\ntype now = () => any;", ""},
		{"without a wrapper", `{"type":"function","name":"now","strict":true}`, "type now = () => any;", ""},
		{"a description of two lines", `{"name":"now","description":"The time\nin UTC"}`, "// The time\n// in UTC\ntype now = () => any;", ""},
		{
			"required and not",
			`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","description":"How many"}},"required":["a"]}}`,
			"type f = (_: {\na: string,\n// How many\nb?: number,\n}) => any;", "",
		},
		{
			"kinds", function("f", `"a":{"type":"boolean"},"b":{"type":"null"},"c":{"type":"array"},"d":{"type":"array","items":{"type":"number"}},"e":{},"f":{"type":["string","null"]},"g":{"items":{"type":"string"}}`),
			"type f = (_: {\na?: boolean,\nb?: null,\nc?: any[],\nd?: number[],\ne?: any,\nf?: string | null,\ng?: string[],\n}) => any;", "",
		},
		{
			"choices", function("f", `"a":{"type":"string","enum":["x","y"]},"b":{"enum":[1,2.5]},"c":{"anyOf":[{"type":"string"},{"type":"null"}]},"d":{"const":"post"}`),
			"type f = (_: {\na?: \"x\" | \"y\",\nb?: 1 | 2.5,\nc?: string | null,\nd?: \"post\",\n}) => any;", "",
		},
		{
			"defaults and titles", function("f", `"a":{"type":"string","default":"x","title":"A"}`),
			"type f = (_: {\n// A\n//\na?: string, // default: \"x\"\n}) => any;", "",
		},
		{
			"objects inside", function("f", `"a":{"type":"object","properties":{"b":{"type":"string","description":"B"},"c":{"properties":{"d":{"type":"null"}}}},"required":["b"]}`),
			"type f = (_: {\na?: {\n  // B\n  b: string,\n  c?: {\n    d?: null,\n},\n},\n}) => any;", "",
		},
		{"short scalars", function("f", `"a":{"type":"integer","minimum":0,"maximum":100}`), "type f = (_: {\na?: number,\n}) => any;", ""},
		{
			"words nobody knows", function("f", `"a":{"type":"integer","x-unit":"m"}`),
			"type f = (_: {\na?: number,\n}) => any;", "\"x-unit\":\"m\"\n",
		},
		{
			"a reference", `{"name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}}`,
			"type f = (_: {\na?: {\"$ref\":\"#/$defs/A\"},\n}) => any;", "\"$defs\":{\"A\":{\"type\":\"string\"}}\n",
		},
		{
			"all of several", function("f", `"a":{"allOf":[{"type":"string"}]}`),
			"type f = (_: {\na?: any,\n}) => any;", "\"allOf\":[{\"type\":\"string\"}]\n",
		},
		{
			"a property required that is not there", `{"name":"f","parameters":{"properties":{"a":{"type":"null"}},"required":["a","b","a",1]}}`,
			"type f = (_: {\na: null,\n}) => any;", "\"b\"\n\"a\"\n1\n",
		},
		{"a custom tool", `{"type":"custom","custom":{"name":"sql"}}`, "", `{"type":"custom","custom":{"name":"sql"}}` + "\n"},
		{"no name", `{"type":"function","function":{}}`, "", `{"type":"function","function":{}}` + "\n"},
		{"more beside the function", `{"type":"function","function":{"name":"f"},"cache_control":{"type":"ephemeral"}}`, "type f = () => any;", "\"cache_control\":{\"type\":\"ephemeral\"}\n"},
		{"not an object", `"now"`, "", "\"now\"\n"},
		{"not JSON", `{"name":`, "", "{\"name\":\n"},
	} {
		shown, rest, _ := renderTools([]string{c.definition}, true)
		want := ""
		if c.shown != "" {
			want = "namespace functions {\n\n" + c.shown + "\n\n} // namespace functions"
		}
		if diff := cmp.Diff([]string{want, c.rest}, []string{shown, rest}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestOlderModelsAreShownLess(t *testing.T) {
	definition := `{"name":"f","parameters":{"type":"object","description":"What to do","properties":{"a":{"type":"object","title":"A","properties":{
		"b":{"type":"string","description":"B","const":"x"}}}}}}`
	shown, rest, _ := renderTools([]string{definition}, false)
	want := "namespace functions {\n\ntype f = (_: {\na?: {\n  b?: string,\n},\n}) => any;\n\n} // namespace functions"
	if shown != want || rest != "\"description\":What to do\n\"title\":A\n\"description\":B\n" {
		t.Errorf("%s\n\nrest: %s", shown, rest)
	}
}

// A rendering that is much longer than what it is of is not made, and counts more than it would.
func TestALongRenderingIsNotMade(t *testing.T) {
	deep := `{"name":"f","parameters":` + strings.Repeat(`{"properties":{"a":`, 30) + `{"description":"` + strings.Repeat(`\n`, 200_000) + `"}` + strings.Repeat(`}}`, 30) + `}`
	if shown, rest, ok := renderTools([]string{deep}, true); ok || shown != "" || rest != "" {
		t.Errorf("%d bytes are shown of %d", len(shown), len(deep))
	}
	wide := toolWriter{modern: true, most: 1 << 30}
	wide.jsonTree, _ = parseTree(deep)
	if !wide.tool() || wide.shown.Len() < 10*len(deep) {
		t.Fatalf("the rendering has %d bytes", wide.shown.Len())
	}
	enc := encodingOf(t, "o200k_base")
	got := NewEstimator().Estimate(Request{Tools: []string{deep}}, Model{Encoding: "o200k_base", KnownEncoding: true})
	if full := enc.Count(wide.shown.String()); got.ByPart[PartTools] < full || got.ByPart[PartTools] > 4*full {
		t.Errorf("%d tokens, the rendering has %d", got.ByPart[PartTools], full)
	}
}

// Nobody can hide a text in a place that is not shown.
func TestEveryLongStringOfAToolCounts(t *testing.T) {
	secret := "SECRET" + strings.Repeat(" and more", 10)
	for _, form := range []string{
		`{"name":%q}`, `{"name":"f","description":%q}`, `{"name":"f","x":%q}`, `{"name":"f","name":%q}`, `{"name":"f","parameters":%q}`,
		`{"type":"function","function":{"name":"f"},"function":{"name":%q}}`, `{"type":"function","name":%q,"function":{"name":"f"}}`,
		`{"name":"f","parameters":{"description":%q}}`, `{"name":"f","parameters":{"title":%q}}`, `{"name":"f","parameters":{"default":%q}}`,
		`{"name":"f","parameters":{"type":%q}}`, `{"name":"f","parameters":{"enum":[%q]}}`, `{"name":"f","parameters":{"items":{"const":%q}}}`,
		`{"name":"f","parameters":{"required":[%q]}}`, `{"name":"f","parameters":{"$ref":%q}}`, `{"name":"f","parameters":{"anyOf":[{"title":%q}]}}`,
	} {
		formsOf(t, fmt.Sprintf(form, secret))
	}
	for _, form := range []string{
		`%q`, `{"type":%q}`, `{"type":[%q]}`, `{"description":%q}`, `{"title":%q}`, `{"default":%q}`, `{"const":%q}`, `{"pattern":%q}`,
		`{"type":"object","type":%q}`, `{"description":"a","description":%q}`, `{"pattern":"a","pattern":%q}`, `{"$ref":%q}`, `{"enum":[[%q]]}`,
		`{"examples":[%q]}`, `{"items":[%q]}`, `{"items":{"description":%q}}`, `{"items":{"type":"array","items":{"title":%q}}}`,
		`{"anyOf":[{"description":%q}]}`, `{"oneOf":[%q]}`, `{"anyOf":[],"oneOf":[%q]}`, `{"required":[%q]}`, `{"not":{"title":%q}}`,
		`{"type":"string","properties":{"a":{"description":%q}}}`, `{"type":"string","items":{"enum":[%q]}}`, `{"enum":["a"],"anyOf":[{"enum":[%q]}]}`,
		`{"type":"object","properties":{"a":{"properties":{%q:{}}}}}`, `{"type":"object","properties":{"a":{"description":%q}}}`,
	} {
		formsOf(t, `{"name":"f","parameters":{"type":"object","properties":{"a":`+fmt.Sprintf(form, secret)+`}}}`)
	}
}

func formsOf(t *testing.T, definition string) {
	t.Helper()
	for _, modern := range []bool{false, true} {
		if shown, rest, _ := renderTools([]string{definition}, modern); !strings.Contains(shown+rest, "SECRET") {
			t.Errorf("modern %v: %s does not count: %s%s", modern, definition, shown, rest)
		}
	}
}

func TestToolsBeyondBoundsCountAsTheyStand(t *testing.T) {
	deep := function("f", `"a":`+strings.Repeat(`{"items":`, 100)+`{}`+strings.Repeat(`}`, 100))
	many := function("f", `"a":{"enum":[`+strings.Repeat("1,", mostToolNodes)+`1]}`)
	for _, definition := range []string{deep, many} {
		if shown, rest, _ := renderTools([]string{definition}, true); shown != "" || rest != definition+"\n" {
			t.Errorf("%.60s: shown %.60s, rest %.60s", definition, shown, rest)
		}
	}
}

func TestToolChoice(t *testing.T) {
	for choice, want := range map[string]int64{ // with o200k_base
		"": 0, `null`: 0, `"auto"`: 0, `"none"`: 1, `"required"`: 1,
		`{"name":"foo"}`: 5, `{"type":"function","function":{"name":"foo"}}`: 5, `{"type":"function","name":"foo"}`: 5,
		`{"type":"custom","custom":{"name":"foo"}}`: 5,
		`"any"`:                             3, // " any "
		`{"type":"allowed_tools","x":1}`:    10,
		`{"function":{"name":"foo","x":1}}`: 11,
		`{"name":"foo","name":"foo"}`:       9,
		`{}`:                                1,
	} {
		est := NewEstimator().Estimate(Request{ToolChoice: choice}, Model{Encoding: "o200k_base", KnownEncoding: true})
		if est.Input != want || est.ByPart[PartTools] != want {
			t.Errorf("%s: %+v, want %d", choice, est, want)
		}
	}
}

func FuzzRenderTools(f *testing.F) {
	for _, seed := range []string{
		function("f", `"a":{"type":"string","enum":["x","y"]},"b":{"type":["string","null"]}`), `{"type":"custom","custom":{}}`, `{"name":"f"}`,
		`{"name":"f","parameters":{"properties":{"a":{"$ref":"x"},"b":{"anyOf":[{},{"items":{"properties":{"c":{}}}}]}},"required":["a"]}}`,
		`[]`, `{`, `"\ud800"`, `{"name":"\u0041\n","description":"a\nb"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, definition string) {
		for _, modern := range []bool{false, true} {
			shown, rest, _ := renderTools([]string{definition, definition}, modern)
			if len(shown)+len(rest) > 100*len(definition)+200 {
				t.Fatalf("%d bytes become %d", len(definition), len(shown)+len(rest))
			}
			if again, _, _ := renderTools([]string{definition, definition}, modern); again != shown {
				t.Fatal("rendered differently the second time")
			}
		}
	})
}

func BenchmarkRenderTools(b *testing.B) {
	definition := function("look", strings.Repeat(`"place":{"type":"string","description":"The city and state, such as San Francisco, CA"},`, 20)+`"a":{}`)
	definitions := []string{definition, definition, definition, definition}
	b.SetBytes(int64(4 * len(definition)))
	b.ReportAllocs()
	for b.Loop() {
		renderTools(definitions, true)
	}
}
