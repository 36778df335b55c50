package test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// What goes upstream is built from a list of what may, so whatever else a client sends stays behind.
func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})

	request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions?key=in-the-query&api-version=1", harness.Alice, ask(`"max_tokens": 10`))
	secret := "must-not-leave"
	for _, name := range []string{
		"OpenAI-Organization", "OpenAI-Project", "Idempotency-Key", "Cookie", "Api-Key", "X-Api-Key", "Proxy-Authorization",
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via", "Origin", "Referer",
		"X-Http-Method-Override", "X-Original-Url", "Te", "X-Unheard-Of", "Openai-Beta-Internal",
	} {
		request.Header.Set(name, secret)
	}
	request.Header.Set("Connection", "Authorization, X-Hop")
	request.Header.Set("X-Hop", secret)
	request.Header.Set("Accept-Encoding", "br")
	request.Host = "attacker.example"
	p.Do(t, request).WantOK(t)

	up.WantAbsent(t, secret)
	up.WantAbsent(t, harness.Alice)
	call := up.Last(t)
	if got := call.Header.Get("Authorization"); got != "Bearer "+harness.UpstreamKey {
		t.Errorf("Authorization upstream is %q", got)
	}
	if call.Query != "" {
		t.Errorf("the client's query went upstream: %s", call.Query)
	}
	if got := call.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type upstream is %q", got)
	}
	if got := call.Header.Get("Accept-Encoding"); strings.Contains(got, "br") || strings.Contains(got, "gzip") {
		t.Errorf("Accept-Encoding upstream is %q: the answer could not be read", got)
	}
}

// The upstream's limits, account and cookies are the shared account's; the caller gets its own limits instead.
func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(5), SpendAll: true, Header: http.Header{
		"X-Openai-Proxy-Wasm": {"v0.1"}, "X-Debug-Account": {"shared"}, "Www-Authenticate": {"Basic"}, "Retry-After": {"3"},
	}})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"5000 tokens in any hour", "100 requests in any hour", "100000 tokens in total"}})

	for _, stream := range []string{`"stream": false`, `"stream": true`} {
		got := p.Chat(t, harness.Alice, ask(stream, `"max_tokens": 100`)).WantOK(t)
		for name, values := range got.Header {
			if text := strings.Join(values, " "); strings.Contains(text, "shared") || strings.HasPrefix(name, "Openai-Org") ||
				strings.HasPrefix(name, "Openai-Project") || strings.HasPrefix(name, "Set-Cookie") {
				t.Errorf("%s: header %s: %s shows the shared account", stream, name, text)
			}
		}
		if got.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no x-request-id", stream)
		}
		if got.Header.Get("X-Tokenfare-Budget") == "" || got.Header.Get("X-Tokenfare-Reserved") == "" {
			t.Errorf("%s: the budget and what it reserved are not named: %v", stream, got.Header)
		}
	}
	// The second call's headers, from the tightest budget of each kind: two calls of prompt + 100.
	got := p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	each := int(up.Last(t).Prompt) + 100
	want := map[string]string{
		"X-Ratelimit-Limit-Tokens": "5000", "X-Ratelimit-Remaining-Tokens": itoa(5000 - 3*each),
		"X-Ratelimit-Limit-Requests": "100", "X-Ratelimit-Remaining-Requests": "97",
	}
	have := map[string]string{}
	for name := range want {
		have[name] = got.Header.Get(name)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("limit headers (-want +got):\n%s", diff)
	}
}

// A caller without token limits is not told about limits it does not have, nor is a stranger.
func TestNoLimitHeadersWithoutLimits(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL})
	for name, got := range map[string]harness.Response{
		"unlimited": p.Chat(t, harness.Alice, ask()).WantOK(t),
		"stranger":  p.Chat(t, harness.Stranger, ask()),
	} {
		var limits []string
		for header := range got.Header {
			if strings.HasPrefix(header, "X-Ratelimit-") {
				limits = append(limits, header)
			}
		}
		slices.Sort(limits)
		if len(limits) > 0 {
			t.Errorf("%s: has %v", name, limits)
		}
	}
}

// What the upstream says about its errors reaches the caller: the status, the words and when to come back.
func TestUpstreamErrorPassesThrough(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	body := fakeopenai.ErrorBody("The engine is currently overloaded.", "tokens", "rate_limit_exceeded")
	waits := http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"6500"}, "X-Should-Retry": {"true"}}
	up.Next(model, fakeopenai.Answer{Status: 503, Body: body, Header: waits}, fakeopenai.Answer{Status: 429, Body: body, Header: waits})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})
	got := p.Chat(t, harness.Alice, ask(`"max_tokens": 10`))
	got.WantError(t, http.StatusServiceUnavailable)
	if got.Body != body {
		t.Errorf("body %q, want the upstream's", got.Body)
	}
	got = p.Chat(t, harness.Alice, ask(`"max_tokens": 10`))
	refused := got.WantError(t, http.StatusTooManyRequests)
	if refused.Type != "tokens" || refused.Code == nil || *refused.Code != "rate_limit_exceeded" || !strings.HasSuffix(refused.Message, "The provider says: The engine is currently overloaded.") {
		t.Errorf("it says %+v", refused) // whose account is short, and the upstream's own words
	}
	if got.Header.Get("Retry-After") != "7" || got.Header.Get("Retry-After-Ms") != "6500" {
		t.Errorf("the upstream's Retry-After is lost: %v", got.Header)
	}
}
