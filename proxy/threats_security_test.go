package proxy_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// A key is one bearer token in one header. Wherever else it stands, it opens nothing.
func TestThreatKeysInOtherPlaces(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	basic := base64.StdEncoding.EncodeToString([]byte(":" + secret))
	for name, edit := range map[string]func(*http.Request){
		"nowhere":         func(*http.Request) {},
		"in the query":    func(r *http.Request) { r.URL.RawQuery = "api_key=" + strings.ReplaceAll(secret, " ", "+") },
		"as access_token": func(r *http.Request) { r.URL.RawQuery = "access_token=" + strings.ReplaceAll(secret, " ", "+") },
		"in a cookie":     func(r *http.Request) { r.Header.Set("Cookie", `Authorization="Bearer `+secret+`"; token="`+secret+`"`) },
		"in X-Api-Key":    func(r *http.Request) { r.Header.Set("X-Api-Key", secret) },
		"in Api-Key":      func(r *http.Request) { r.Header.Set("Api-Key", secret) },
		"for the proxy":   func(r *http.Request) { r.Header.Set("Proxy-Authorization", "Bearer "+secret) },
		"as basic":        func(r *http.Request) { r.Header.Set("Authorization", "Basic "+basic) },
		"bare":            func(r *http.Request) { r.Header.Set("Authorization", secret) },
		"twice":           func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + secret, "Bearer " + secret} },
		"after another":   func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer other", "Bearer " + secret} },
		"before another":  func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + secret, "Basic " + basic} },
		"in a list":       func(r *http.Request) { r.Header.Set("Authorization", "Bearer other, Bearer "+secret) },
		"with a tab":      func(r *http.Request) { r.Header.Set("Authorization", "Bearer\t"+secret) },
		"with two blanks": func(r *http.Request) { r.Header.Set("Authorization", "Bearer  "+secret) },
		"its hash": func(r *http.Request) {
			r.Header.Set("Authorization", fmt.Sprintf("Bearer %x", sha256.Sum256([]byte(secret))))
		},
		"its hash, as in YAML": func(r *http.Request) {
			r.Header.Set("Authorization", fmt.Sprintf("Bearer sha256:%x", sha256.Sum256([]byte(secret))))
		},
		"in other letters": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.ToUpper(secret)) },
		"a NUL behind it":  func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret+"\x00") },
		"a part of it":     func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret[:len(secret)-1]) },
		"its name":         func(r *http.Request) { r.Header.Set("Authorization", "Bearer alice") },
		"a long one":       func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat(secret, 3000)) },
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", unread{t})
		edit(r)
		rec := httptest.NewRecorder()
		h.server.ServeHTTP(rec, r)
		got := answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
		h.wantRefused(t, name, got, 401)
		if _, kind, _, code := got.errorOf(t); kind != "invalid_request_error" || code != "invalid_api_key" || strings.Contains(got.body, secret) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

// Ten thousand strangers leave no series and a hundred lines a minute; nothing of what they wrote is on any of them.
func TestThreatUnknownKeys(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
		come := func(key string, n int) {
			for i := range n {
				odd := "sk-odd-" + strconv.Itoa(i)
				r := httptest.NewRequest(http.MethodPost, []string{"/v1/chat/completions", "/v1/models", "/v1/" + odd, "/" + odd}[i%4], unread{t})
				r.Header.Set("Authorization", "Bearer "+key+odd)
				r.Header.Set("User-Agent", odd)
				v.server.ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		metered := &house{t: t, registry: v.registry}
		come("sk-guess", 4)
		before := series(t, metered)
		come("sk-guess", 10_000)
		if after := series(t, metered); after != before {
			t.Errorf("%d metric series became %d", before, after)
		}
		if n := strings.Count(v.log.String(), "\n"); n != 100 {
			t.Errorf("%d lines in the first minute, want 100", n)
		}
		first := len(v.log.String())
		time.Sleep(time.Minute)
		come("sk-guess", 1)
		if line := v.log.String()[first:]; !strings.Contains(line, `"unlogged":9904,`) || strings.Count(line, "\n") != 1 {
			t.Errorf("the next minute begins with %q, which does not say how many had no line", line)
		}
		come("sk-guess", 200)
		for range 3 {
			v.chat("{") // a known key always has its line
		}
		if log := v.log.String(); strings.Count(log, `"key":"alice"`) != 3 || strings.Contains(log, "sk-") {
			t.Errorf("alice's three requests are not on the log, or what strangers wrote is:\n%s", log[first:])
		}
		if n := metered.metric("tokenfare_requests_total", "key", "", "code", "404"); n < 2500 {
			t.Errorf("%v requests of strangers are counted", n)
		}
	})
}

// What a caller writes becomes no label: models, methods, paths and headers of its own make no series.
func TestThreatLabels(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	use := func(i int) {
		odd := "odd-" + strconv.Itoa(i)
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/v1/chat/completions", strings.Replace(hi, "gpt-4o-mini", odd, 1)},
			{"POST", "/v1/chat/completions", strings.Replace(hi, "}]", `}],"user":"`+odd+`","service_tier":"`+odd+`"`, 1)},
			{"ODD" + strconv.Itoa(i), "/v1/chat/completions", ""},
			{"GET", "/v1/models/" + odd, ""},
			{"GET", "/" + odd, ""},
			{"GET", "/v1/responses/resp_" + odd, ""},
		} {
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			r.Header.Set("Authorization", "Bearer "+secret)
			r.Header.Set("X-Tokenfare-Label", odd)
			r.Header.Set("X-Stainless-Lang", odd)
			h.server.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	use(0)
	before := series(t, h)
	for i := range 200 {
		use(i + 1)
	}
	if after := series(t, h); after != before {
		t.Errorf("%d series became %d", before, after)
	}
}

// How a request is built is bounded: how deep, of how many values, how many messages, and how much text is repeated to say so.
func TestThreatInputBounds(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) { o.MaxBody = 6 << 20 })
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(item string, n int) string { return strings.Repeat(item+",", n-1) + item }
	chat := func(members string) string { return fmt.Sprintf(whole["/v1/chat/completions"], ","+members) }
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"deep enough":                {chat(`"metadata":` + nested(200)), 200},
		"too deep":                   {chat(`"metadata":` + nested(300)), 400},
		"much too deep":              {chat(`"metadata":` + nested(200_000)), 400},
		"too deep in a schema":       {chat(`"response_format":{"type":"json_schema","json_schema":{"schema":` + strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat("}", 300) + `}}`), 400},
		"deep and open":              {chat(`"metadata":` + strings.Repeat(`{"a":[`, 200_000)), 400},
		"many members":               {chat(`"metadata":{` + many(`"a":1`, 270_000) + `}`), 400},
		"many items":                 {chat(`"metadata":[` + many(`1`, 530_000) + `]`), 400},
		"many messages":              {`{"model":"gpt-4o-mini","messages":[` + many(`{"role":"user"}`, 200_000) + `]}`, 400},
		"many prompts of no length":  {`{"model":"gpt-4o-mini","messages":[` + many(`{"role":"user","content":[]}`, 150_000) + `]}`, 400},
		"more than fits":             {chat(`"metadata":"` + strings.Repeat("x", 6<<20) + `"`), 413},
		"a long name":                {chat(`"` + strings.Repeat("x", 1<<20) + `":1,"` + strings.Repeat("x", 1<<20) + `":1`), 400},
		"many names, all of a shape": {chat(many(`"max_tokens":1`, 100_000)), 400},
	} {
		began := time.Now()
		got := h.asks(http.MethodPost, "/v1/chat/completions", c.body)
		if got.status != c.status || len(got.body) > 2000 {
			t.Errorf("%s: %d, want %d: %d bytes, %.300s", name, got.status, c.status, len(got.body), got.body)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}
