package test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// What could be read in two ways is read in none: the upstream sees nothing of it, and nothing is charged.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})
	const messages = `"messages":[{"role":"user","content":"hi"}]`
	for name, body := range map[string]string{
		"empty":                       ``,
		"no JSON":                     `model=gpt-4o-mini`,
		"an array":                    `[{"model":"gpt-4o-mini",` + messages + `}]`,
		"null":                        `null`,
		"two values":                  ask() + ask(),
		"trailing bytes":              ask() + `x`,
		"cut short":                   strings.TrimSuffix(ask(), `}`),
		"a byte order mark":           "\ufeff" + ask(),
		"invalid UTF-8":               strings.Replace(ask(), "quick", "qu\xffck", 1),
		"UTF-16":                      "\xff\xfe{\x00}\x00",
		"no model":                    `{` + messages + `}`,
		"no messages":                 `{"model":"gpt-4o-mini"}`,
		"model repeated":              ask(`"model":"gpt-4o"`),
		"limit repeated":              ask(`"max_tokens":1`, `"max_tokens":100000`),
		"limit repeated with escapes": ask(`"max_tokens":1`, `"max\u005ftokens":100000`),
		"limit in another case":       ask(`"max_tokens":1`, `"Max_Tokens":100000`),
		"limit with a long s":         ask(`"max_tokens":1`, `"max_tokenſ":100000`),
		"limit with a Kelvin sign":    ask(`"max_tokens":1`, `"max_to`+"\u212a"+`ens":100000`),
		"limit negative":              ask(`"max_tokens":-1`),
		"limit a fraction":            ask(`"max_tokens":1.5`),
		"limit with an exponent":      ask(`"max_tokens":1e9`),
		"limit beyond int64":          ask(`"max_tokens":9223372036854775808`),
		"limit a string":              ask(`"max_tokens":"10"`),
		"limit a list":                ask(`"max_tokens":[10]`),
		"limit true":                  ask(`"max_tokens":true`),
		"n zero":                      ask(`"n":0`),
		"n negative":                  ask(`"n":-5`),
		"n enormous":                  ask(`"n":9223372036854775807`, `"max_tokens":9223372036854775807`),
		"n a string":                  ask(`"n":"2"`),
		"stream a string":             ask(`"stream":"true"`),
		"stream repeated":             ask(`"stream":false`, `"stream":true`),
		"stream_options a string":     ask(`"stream":true`, `"stream_options":"x"`),
		"include_usage twice":         ask(`"stream":true`, `"stream_options":{"include_usage":true,"include_usage":false}`),
		"include_usage a number":      ask(`"stream":true`, `"stream_options":{"include_usage":1}`),
		"content repeated":            `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi","content":"` + strings.Repeat("long ", 100) + `"}]}`,
		"messages repeated":           `{"model":"gpt-4o-mini",` + messages + `,` + messages + `}`,
		"messages in another case":    `{"model":"gpt-4o-mini",` + messages + `,"Messages":[]}`,
		"nested without end":          `{"model":"gpt-4o-mini","messages":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			problem := p.Chat(t, harness.Alice, body).WantError(t, http.StatusBadRequest)
			if problem.Message == "" || problem.Type != "invalid_request_error" {
				t.Errorf("error %+v, want an invalid_request_error with a message", problem)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		body := ask(`"metadata": {"x": "` + strings.Repeat("x", 33<<20) + `"}`)
		p.Chat(t, harness.Alice, body).WantError(t, http.StatusRequestEntityTooLarge)
	})
	up.WantCalls(t, 0)
	if left := p.Remaining(t, "alice"); left != 1_000_000 {
		t.Errorf("%d tokens left of 1000000 though nothing was admitted", left)
	}
}

// null is the same as absent, and goes up as one of the two.
func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"100000 tokens in total"}})
	p.Chat(t, harness.Alice, ask(`"n": null`, `"max_tokens": null`, `"stream": null`, `"stream_options": null`, `"tools": null`)).WantOK(t)
	if call := up.Last(t); !call.Limited || call.Asked() > 100_000 {
		t.Errorf("the upstream was asked for %d tokens: %s", call.Asked(), call.Body)
	}
}

// Every way of asking for more is reserved for: the upstream is never asked for more than the call reserved.
func TestEverythingAskedForIsReserved(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000000 tokens in total"}})
	long := strings.TrimSpace(strings.Repeat("lorem ipsum dolor ", 500)) // 1,500 words or more
	for _, c := range []struct {
		name string
		body string
		most int64 // tokens of the hidden text, at least
	}{
		{"two limits", ask(`"max_tokens": 10`, `"max_completion_tokens": 700`), 0},
		{"two limits, the other way", ask(`"max_tokens": 700`, `"max_completion_tokens": 10`), 0},
		{"choices", ask(`"n": 7`, `"max_tokens": 100`), 0},
		{"content parts", `{"model":"gpt-4o-mini","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"` + long + `"}]}]}`, 1500},
		{"tool definitions", ask(`"max_tokens": 10`, `"tools": [{"type":"function","function":{"name":"f","description":"`+long+`","parameters":{}}}]`), 1500},
		{"legacy functions", ask(`"max_tokens": 10`, `"functions": [{"name":"f","description":"`+long+`"}]`), 1500},
		{"tool-call arguments", `{"model":"gpt-4o-mini","max_tokens":10,"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"` + long + `"}}]}]}`, 1500},
		{"a response schema", ask(`"max_tokens": 10`, `"response_format": {"type":"json_schema","json_schema":{"name":"s","schema":{"description":"`+long+`"}}}`), 1500},
		{"a prediction", ask(`"max_tokens": 10`, `"prediction": {"type":"content","content":"`+long+`"}`), 1500},
		{"a member nobody knows", ask(`"max_tokens": 10`, `"surprise": {"text":["`+long+`"]}`), 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := p.Chat(t, harness.Alice, c.body).WantOK(t)
			call := up.Last(t)
			var reserved int64
			for digits := range strings.FieldsFuncSeq(got.Header.Get("X-Tokenfare-Reserved"), func(r rune) bool { return r < '0' || r > '9' }) {
				for _, d := range digits {
					reserved = 10*reserved + int64(d-'0')
				}
				break
			}
			if want := max(call.Asked(), c.most+call.Output); reserved < want {
				t.Errorf("reserved %d (%q), want at least %d", reserved, got.Header.Get("X-Tokenfare-Reserved"), want)
			}
		})
	}
}

// One exact path and method for each route: no other spelling reaches the upstream, and nothing is passed on unmetered.
func TestOnlyListedPathsExist(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "state: refused\n"})
	for _, c := range []struct{ method, path string }{
		{"POST", "/v1/chat/completions/"},
		{"POST", "//v1/chat/completions"},
		{"POST", "/v1//chat/completions"},
		{"POST", "/v1/./chat/completions"},
		{"POST", "/v1/x/../chat/completions"},
		{"POST", "/v1/chat%2fcompletions"},
		{"POST", "/V1/chat/completions"},
		{"POST", "/v1/Chat/Completions"},
		{"POST", "/v1/chat/completions;x=1"},
		{"POST", "/v1/chat/completions%00"},
		{"POST", "/chat/completions"},
		{"POST", "/v1/engines/gpt-4o-mini/completions"},
		{"POST", "/openai/deployments/gpt-4o-mini/chat/completions"},
		{"GET", "/v1/chat/completions"},
		{"PUT", "/v1/chat/completions"},
		{"DELETE", "/v1/chat/completions/chatcmpl-1"},
		{"GET", "/v1/chat/completions/chatcmpl-1"},
		{"POST", "/v1/batches"},
		{"POST", "/v1/files"},
		{"GET", "/v1/files"},
		{"POST", "/v1/fine_tuning/jobs"},
		{"POST", "/v1/realtime/client_secrets"},
		{"GET", "/v1/realtime"},
		{"GET", "/v1/organization/costs"},
		{"POST", "/v1/models"},
		{"DELETE", "/v1/models/ft:gpt-4o-mini:org::x"},
		{"GET", "/v1/responses/resp_1"},
		{"POST", "/"},
		{"OPTIONS", "/v1/chat/completions"},
		{"GET", "/metrics"},
	} {
		request := harness.Request(t, c.method, p.URL+c.path, harness.Alice, ask(`"max_tokens": 5`))
		request.Header.Set("X-Http-Method-Override", "POST")
		client := *p.HTTP
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got := harness.Read(resp)
		if got.Status != http.StatusNotFound && got.Status != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: status %d, want 404 or 405", c.method, c.path, got.Status)
			continue
		}
		got.WantError(t, got.Status)
	}
	for _, call := range up.Everything() {
		t.Errorf("%s %s reached the upstream", call.Method, call.Path)
	}
}
