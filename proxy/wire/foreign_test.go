package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

func TestErrorsOfOtherServers(t *testing.T) {
	bad := func(message string) *wire.Error {
		return &wire.Error{Status: 400, Message: message, Type: "invalid_request_error", Code: "upstream_failed"}
	}
	for _, c := range []struct {
		name string
		body string
		want *wire.Error
	}{
		{"OpenAI", `{"error":{"message":"no","type":"x","param":null,"code":"y"}}`, nil},
		{"OpenAI, with a number for its code", `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`, nil},
		{"Ollama", `{"error":"model not found"}`, bad("model not found")},
		{"FastAPI", `{"detail":"Not Found"}`, bad("Not Found")},
		{"FastAPI, a list", ` { "detail": [ {"loc": ["body"], "msg": "bad"} ] } `, bad(`{"detail":[{"loc":["body"],"msg":"bad"}]}`)},
		{"a gateway", `{"message":"no route"}`, bad("no route")},
		{
			"vLLM", `{"object":"error","message":"too long","type":"BadRequestError","param":"messages","code":400}`,
			&wire.Error{Status: 400, Message: "too long", Type: "BadRequestError", Param: "messages", Code: "upstream_failed"},
		},
		{"Gemini", `[{"error":{"code":400,"message":"bad key","status":"INVALID_ARGUMENT"}}]`, bad("bad key")},
		{"an error without a message", `{"error":{"reason":"x"}}`, bad(`{"error":{"reason":"x"}}`)},
		{"null", `{"error":null}`, bad(`{"error":null}`)},
		{"an empty object", `{}`, bad(`{}`)},
		{"a text", `"no"`, bad(`"no"`)},
		{"two", `[1, 2]`, bad(`[1,2]`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wire.ForeignError(400, []byte(c.body))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if e := wire.ForeignError(503, []byte(`{"error":"busy"}`)); e.Type != "server_error" || e.Status != 503 {
		t.Errorf("%+v", e)
	}
}

func TestAnErrorHasItsFourMembers(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m","type":"t","param":null,"code":"c"}}`: `{"error":{"message":"m","type":"t","param":null,"code":"c"}}`,
		`{"error":{"message":"only"}}`:                                 `{"error":{"message":"only","type":"invalid_request_error","param":null,"code":null}}`,
		`{"error":{"message":"m","type":"t"},"id":1e2}`:                `{"error":{"message":"m","type":"t","param":null,"code":null},"id":1e2}`,
		` { "error" : {"code": 400, "message": "m", "status": "X", "details": [{"a": "}"}] } } `: ` { "error" : {"code": 400, "message": "m", "status": "X", "details": [{"a": "}"}] ,` +
			`"type":"invalid_request_error","param":null} } `,
		`{"error":{"message":"first"},"error":{"message":"last","code":null}}`: `{"error":{"message":"first"},"error":{"message":"last","code":null,"type":"invalid_request_error","param":null}}`,
	} {
		if got := string(wire.WholeError(429, []byte(body))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", body, got, want)
		}
	}
	if got := string(wire.WholeError(500, []byte(`{"error":{"message":"m","code":7}}`))); got != `{"error":{"message":"m","code":7,"type":"server_error","param":null}}` {
		t.Error(got)
	}
}

func FuzzForeignError(f *testing.F) {
	for _, seed := range []string{`{"error":"x"}`, `[{"error":{"message":"x"}}]`, `{"error":{"message":"x"},"Error":1}`, `{"detail":["` + strings.Repeat("ä", 3000) + `"]}`, `[[[]]]`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		shaped := wire.WholeError(502, body)
		if e := wire.ForeignError(502, body); e != nil {
			if !utf8.ValidString(e.Message) {
				t.Errorf("message %q", e.Message)
			}
			shaped = e.JSON()
		}
		var whole, members map[string]json.RawMessage
		if json.Unmarshal(shaped, &whole) != nil || json.Unmarshal(whole["error"], &members) != nil {
			t.Fatalf("%s became %s", body, shaped)
		}
		for _, name := range []string{"message", "type", "param", "code"} {
			if _, there := members[name]; !there {
				t.Errorf("%s has no %s", shaped, name)
			}
		}
		var got struct{ Error struct{ Message string } }
		if err := json.Unmarshal(shaped, &got); err != nil && !strings.Contains(err.Error(), "cannot unmarshal") || err == nil && got.Error.Message == "" {
			t.Errorf("%s: %v", shaped, err)
		}
	})
}
