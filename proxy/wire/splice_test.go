package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEditChangesWhatItNamesAndNothingElse(t *testing.T) {
	const usage = `"include_usage":true`
	tests := []struct {
		name, body string
		edits      Edits
		want       string
	}{
		{"model", `{ "model" : "a\u0062" , "messages":[]}`, Edits{Model: "x\"y"}, `{ "model" : "x\"y" , "messages":[]}`},
		{"same model", `{"model":"\u0061","messages":[]}`, Edits{Model: "a"}, `{"model":"\u0061","messages":[]}`},

		{
			"usage absent", "\n{\n \"model\":\"a\",\"stream\":true,\"messages\":[]}\n",
			Edits{IncludeUsage: true},
			"\n{\"stream_options\":{" + usage + "},\n \"model\":\"a\",\"stream\":true,\"messages\":[]}\n",
		},
		{
			"usage null options", `{"model":"a","stream":true,"stream_options": null,"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options": {` + usage + `},"messages":[]}`,
		},
		{
			"usage empty options", `{"model":"a","stream":true,"stream_options":{ },"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options":{` + usage + ` },"messages":[]}`,
		},
		{
			"usage other options", `{"model":"a","stream":true,"stream_options":{"include_obfuscation":false},"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options":{` + usage + `,"include_obfuscation":false},"messages":[]}`,
		},
		{
			"usage false", `{"model":"a","stream":true,"stream_options":{"include_usage" : false},"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options":{"include_usage" : true},"messages":[]}`,
		},
		{
			"usage null", `{"model":"a","stream":true,"stream_options":{"include_\u0075sage":null},"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options":{"include_\u0075sage":true},"messages":[]}`,
		},
		{
			"usage true", `{"model":"a","stream":true,"stream_options":{"include_usage":true},"messages":[]}`,
			Edits{IncludeUsage: true},
			`{"model":"a","stream":true,"stream_options":{"include_usage":true},"messages":[]}`,
		},
		{"usage of a plain call", `{"model":"a","stream":false,"messages":[]}`, Edits{IncludeUsage: true}, `{"model":"a","stream":false,"messages":[]}`},

		{"limit absent", `{"model":"a","messages":[]}`, Edits{MaxOutput: 7}, `{"max_completion_tokens":7,"model":"a","messages":[]}`},
		{"limit absent, old member", `{"model":"a","messages":[]}`, Edits{MaxOutput: 7, OutputMember: "max_tokens"}, `{"max_tokens":7,"model":"a","messages":[]}`},
		{"limit null", `{"model":"a","max_completion_tokens": null ,"messages":[]}`, Edits{MaxOutput: 7}, `{"model":"a","max_completion_tokens": 7 ,"messages":[]}`},
		{"other limit null", `{"model":"a","max_tokens" : null ,"messages":[]}`, Edits{MaxOutput: 7}, `{"model":"a","max_completion_tokens":7 ,"messages":[]}`},
		{
			"both null", `{"model":"a","max_tokens":null,"max_completion_tokens":null,"messages":[]}`,
			Edits{MaxOutput: 7, OutputMember: "max_tokens"},
			`{"model":"a","max_tokens":7,"max_completion_tokens":null,"messages":[]}`,
		},
		{"limit given", `{"model":"a","max_tokens":9,"messages":[]}`, Edits{MaxOutput: 7}, `{"model":"a","max_tokens":7,"messages":[]}`},
		{"both given", `{"model":"a","max_tokens":7,"max_completion_tokens":12,"messages":[]}`, Edits{MaxOutput: 7}, `{"model":"a","max_tokens":7,"max_completion_tokens":7,"messages":[]}`},
		{"same limit", `{"model":"a","max_tokens":7,"messages":[]}`, Edits{MaxOutput: 7}, `{"model":"a","max_tokens":7,"messages":[]}`},

		{
			"everything", `{"messages":[],"stream":true,"model":"a"}`,
			Edits{Model: "b", IncludeUsage: true, MaxOutput: 7},
			`{"stream_options":{` + usage + `},"max_completion_tokens":7,"messages":[],"stream":true,"model":"b"}`,
		},
		{"nothing", `{"messages":[],"stream":true,"model":"a"}`, Edits{}, `{"messages":[],"stream":true,"model":"a"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := read(t, test.body)
			got := req.Edit(test.edits)
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.want == test.body && &got[0] != &req.body[0] {
				t.Error("nothing to do, but the body was copied")
			}
			if string(req.body) != test.body {
				t.Error("the body that was read has changed")
			}
			checkEdit(t, req, test.edits)
		})
	}
}

// checkEdit holds an edited body against what the edit was for.
func checkEdit(t interface {
	Helper()
	Fatalf(string, ...any)
}, req *Request, e Edits,
) {
	t.Helper()
	edited := req.Edit(e)
	again, err := ReadChat(edited)
	if err != nil {
		t.Fatalf("edit %+v of %s gives %s: %v", e, req.body, edited, err)
	}
	want := *req
	if e.Model != "" {
		want.Model, want.Cost.Model = e.Model, e.Model
	}
	if e.IncludeUsage && req.Stream {
		want.IncludeUsage = true
	}
	if e.MaxOutput > 0 {
		want.Cost.HasMaxOutput, want.Cost.MaxOutput = true, e.MaxOutput
	}
	if diff := cmp.Diff(want.Cost, again.Cost); diff != "" {
		t.Fatalf("edit %+v of %s gives %s (-want +got):\n%s", e, req.body, edited, diff)
	}
	if again.Model != want.Model || again.Stream != want.Stream || again.IncludeUsage != want.IncludeUsage {
		t.Fatalf("edit %+v of %s gives %s: got %+v, want %+v", e, req.body, edited, again, want)
	}
	if second := again.Edit(e); !bytes.Equal(second, edited) {
		t.Fatalf("edit %+v of %s gives %s, and again %s", e, req.body, edited, second)
	}
}

// TestEditReadsBackAsIntended tries all ways in which the members that are edited can be there, in any order.
func TestEditReadsBackAsIntended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := []string{`"model":"a"`, `"messages":[{"role":"user","content":"hi"}]`}
		for _, choices := range [][]string{
			{`"stream":true`, `"stream":false`, `"stream":null`},
			{
				`"stream_options":null`, `"stream_options":{}`, `"stream_options": { "include_usage" : null } `,
				`"stream_options":{"x":1,"include_usage":false}`, `"stream_options":{"include_usage":true}`,
			},
			{`"max_tokens":null`, `"max_tokens": 5 `, `"max_tok\u0065ns":50`},
			{`"max_completion_tokens":null`, `"max_completion_tokens":5`, `"max_completion_tokens" : 60`},
			{`"x":{"stream_options":{"include_usage":false},"max_tokens":1}`},
		} {
			if i := rapid.IntRange(-1, len(choices)-1).Draw(t, "choice"); i >= 0 {
				members = append(members, choices[i])
			}
		}
		members = rapid.Permutation(members).Draw(t, "order")
		var body []byte
		for i, m := range members {
			body = append(append(body, ",{"[max(0, 1-i)]), m...)
		}
		req, err := ReadChat(append(body, '}'))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		checkEdit(t, req, Edits{
			Model:        rapid.SampledFrom([]string{"", "a", "b", "ü\\\""}).Draw(t, "model"),
			IncludeUsage: rapid.Bool().Draw(t, "usage"),
			MaxOutput:    rapid.SampledFrom([]int64{0, 5, 1000}).Draw(t, "limit"),
			OutputMember: rapid.SampledFrom(append(chatDialect.limits[:], "")).Draw(t, "member"),
		})
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte(chat(`"stream":true`)), "b", true, int64(7), false)
	f.Add([]byte(chat(`"stream":true,"stream_options":{"x":[]}`)), "", true, int64(0), true)
	f.Add([]byte(chat(`"max_tokens":null,"max_completion_tokens":3`)), "m", false, int64(2), true)
	f.Add([]byte(` { "stream" : true , "stream_options" : null , "model" : "m" , "messages" : [ ] , "max_tokens" : null } `), "ſ", true, int64(9), false)
	f.Fuzz(func(t *testing.T, body []byte, model string, usage bool, limit int64, old bool) {
		req, err := ReadChat(body)
		if err != nil || len(model) > maxModelBytes/6 || string([]rune(model)) != model || model != "" && modelFault(model) != "" {
			return // an upstream's may have a name that callers could not ask for, but then it is not read back
		}
		e := Edits{Model: model, IncludeUsage: usage, MaxOutput: min(max(limit, 0), maxOutputTokens)}
		if old {
			e.OutputMember = chatDialect.limits[1]
		}
		// The bounds on size and depth may be exceeded by the edit alone.
		if req.Cost.TokenIDs < maxValues/2 {
			checkEdit(t, req, e)
		}
	})
}
