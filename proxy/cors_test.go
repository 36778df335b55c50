package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

const page = "https://app.example.com"

// browser sends a request as a page of an origin does, with or without a key.
func (h *house) browser(t *testing.T, method, path, origin string, header map[string]string) answer {
	t.Helper()
	body := http.NoBody
	r, err := http.NewRequest(method, h.url+path, body)
	if method == http.MethodPost {
		r, err = http.NewRequest(method, h.url+path, strings.NewReader(hi))
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", origin)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return h.do(r)
}

var preflight = map[string]string{
	"Access-Control-Request-Method":  "POST",
	"Access-Control-Request-Headers": "authorization,content-type,x-stainless-lang",
}

func TestPagesOfOtherOrigins(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	spec.CORS = []string{page, "http://localhost:3000"}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))

	asked := h.browser(t, http.MethodOptions, "/v1/chat/completions", page, preflight)
	if asked.status != http.StatusNoContent || asked.body != "" {
		t.Errorf("a preflight is answered with %d %s", asked.status, asked.body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": page, "Access-Control-Allow-Methods": "POST",
		"Access-Control-Allow-Headers": "authorization,content-type,x-stainless-lang", "Access-Control-Max-Age": "600",
	} {
		if got := asked.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(h.asked) > 0 {
		t.Error("a preflight went upstream")
	}

	good := h.browser(t, http.MethodPost, "/v1/chat/completions", "http://localhost:3000", map[string]string{"Authorization": "Bearer " + secret})
	if good.status != http.StatusOK || good.header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" {
		t.Errorf("%d, allowed %q", good.status, good.header.Get("Access-Control-Allow-Origin"))
	}
	read := strings.ToLower(good.header.Get("Access-Control-Expose-Headers"))
	for _, name := range []string{"x-ratelimit-remaining-tokens", "retry-after", "x-request-id", "x-tokenfare-cost"} {
		if !strings.Contains(read, name) {
			t.Errorf("a page may read %s, and not %s", read, name)
		}
	}
	if vary := good.header.Get("Vary"); !strings.Contains(vary, "Origin") {
		t.Errorf("Vary: %q", vary)
	}
	refused := h.browser(t, http.MethodPost, "/v1/chat/completions", page, nil)
	if refused.status != http.StatusUnauthorized || refused.header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("a page cannot read why it is refused: %d, allowed %q", refused.status, refused.header.Get("Access-Control-Allow-Origin"))
	}
	for _, stranger := range []string{"https://evil.example.com", "https://app.example.com.evil.com", "http://app.example.com", "null"} {
		if got := h.browser(t, http.MethodOptions, "/v1/chat/completions", stranger, preflight); got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("pages of %s may call", stranger)
		}
	}
	if got := h.browser(t, http.MethodOptions, "/v1/chat/completions", page, map[string]string{"Access-Control-Request-Method": "PUT"}); got.header.Get("Access-Control-Allow-Methods") != "" {
		t.Error("PUT is allowed")
	}
}

func TestPagesOfAllOriginsAndOfNone(t *testing.T) {
	for _, c := range []struct {
		origins []string
		allowed string
	}{{nil, ""}, {[]string{"*"}, "*"}} {
		spec := alice(t, "1000 tokens in total")
		spec.CORS = c.origins
		h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
		got := h.browser(t, http.MethodPost, "/v1/chat/completions", page, map[string]string{"Authorization": "Bearer " + secret})
		if is := got.header.Get("Access-Control-Allow-Origin"); got.status != http.StatusOK || is != c.allowed {
			t.Errorf("%v: %d, allowed %q, want %q", c.origins, got.status, is, c.allowed)
		}
		if got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Error("pages may send cookies")
		}
		if asked := h.browser(t, http.MethodOptions, "/v1/chat/completions", page, preflight); c.allowed == "" && asked.status != http.StatusMethodNotAllowed {
			t.Errorf("without origins a preflight is answered with %d", asked.status)
		}
	}
}

func TestWhatIsAnOrigin(t *testing.T) {
	for text, want := range map[string]bool{
		"*": true, "https://a.example": true, "http://localhost:3000": true, "http://[::1]:80": true,
		"": false, "a.example": false, "https://a.example/": false, "https://A.example": false, "ftp://a.example": false, "https://": false,
		"https://u@a.example": false, "https://a.example?x": false, "null": false, "https://*.a.example": true,
	} {
		if got := proxy.IsOrigin(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
