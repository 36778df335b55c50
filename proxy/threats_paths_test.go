package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// raw writes bytes to the proxy and returns the answers, until the proxy closes the connection.
func (h *house) raw(text string) (answers []answer, rest string) {
	h.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		h.t.Fatal(err)
	}
	io.WriteString(c, text)
	all := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(all, nil)
		if err != nil {
			left, _ := io.ReadAll(all)
			return answers, string(left)
		}
		body, err := io.ReadAll(resp.Body)
		answers = append(answers, answer{resp.StatusCode, resp.Header, string(body), err})
		if resp.Close {
			return answers, ""
		}
	}
}

// request is what a client writes: a request line, header lines, and a body of a stated length. It asks for the connection to be closed.
func request(line, headers, body string) string {
	return line + "\r\nHost: proxy\r\nConnection: close\r\nAuthorization: Bearer " + secret + "\r\n" + headers + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// One exact path and method leads anywhere, and no header makes another of it.
func TestThreatSpellingsOfThePath(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for _, target := range []string{
		"//v1/chat/completions", "/v1//chat/completions", "/v1/chat//completions", "/./v1/chat/completions", "/v1/./chat/completions", "/v1/x/../chat/completions",
		"/v1/chat%2fcompletions", "/v1/chat%2Fcompletions", "/v1/%63hat/completions", "/v1/chat/completion%73", "/%76%31/chat/completions", "/v1%2e/chat/completions",
		"/V1/chat/completions", "/v1/Chat/Completions", "/v1/chat/completion\u017f", "/v1/chat/completions/", "/v1/chat/completions/.", "/v1/chat/completions;x=1",
		"/v1;x/chat/completions", "/v1/chat/completions%20", "/v1/chat/completions%00", "/v1/chat/completions%0d%0aX:y", "/v1/chat/completions.json", `/v1\chat\completions`,
		"/v1/chat/completions#x", "/v1/chat/completions%3fx", "/chat/completions", "/v1/v1/chat/completions", "/v2/chat/completions", "/api/v1/chat/completions",
		"/v1/engines/gpt-4o-mini/completions", "/v1/engines/gpt-4o-mini/chat/completions", "/openai/deployments/gpt-4o-mini/chat/completions",
		"/openai/v1/chat/completions", "/v1/messages", "/v1/edits", "/v1/answers", "/v1/responses/compact", "/proxy/http://host/", "/http://host/v1/chat/completions",
		"http://host/v1//chat/completions", "//host/v1/chat/completions", "/v1/chat/completions/../../../admin", "/metrics", "/debug/pprof/", "/",
	} {
		got, rest := h.raw(request("POST "+target+" HTTP/1.1", "X-Original-URL: /v1/chat/completions\r\nX-Rewrite-URL: /v1/chat/completions\r\n", hi))
		if len(got) != 1 || got[0].status != 404 && got[0].status != 400 || rest != "" {
			t.Errorf("%s: %v %q, want one 404", target, got, rest)
			continue
		}
		h.wantNothing(t, target)
	}
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "post", "POSTX", "PROPFIND", "QUERY"} {
		got, _ := h.raw(request(method+" /v1/chat/completions HTTP/1.1", "X-HTTP-Method-Override: POST\r\nX-Method-Override: POST\r\nX-HTTP-Method: POST\r\n", hi))
		if method != "HEAD" && (len(got) != 1 || got[0].status != 405 && got[0].status != 404) { // GET would list what is stored
			t.Errorf("%s: %v, want one 405", method, got)
		}
		h.wantNothing(t, method)
	}
	for _, line := range []string{"CONNECT host:443 HTTP/1.1", "CONNECT /v1/chat/completions HTTP/1.1", "OPTIONS * HTTP/1.1", "POST * HTTP/1.1", "PRI * HTTP/2.0", "POST /v1/chat/completions HTTP/1.1 x", "POST  /v1/chat/completions HTTP/1.1"} {
		got, _ := h.raw(request(line, "", hi))
		if len(got) != 1 || got[0].status < 400 && line != "OPTIONS * HTTP/1.1" {
			t.Errorf("%s: %v, want it refused", line, got)
		}
		h.wantNothing(t, line)
	}
}

// The rest of a path is a name that is looked for in a list, and no path upstream.
func TestThreatNamesInPaths(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, upstreamModels))
	for _, name := range []string{
		"../files", "..%2ffiles", "..%2f..%2fv1%2ffiles", "%2e%2e/files", "./gpt-4o", "gpt-4o/../gpt-4o", "gpt-4o%2f..", "gpt-4o%00", "gpt-4o%3fx=y", "gpt-4o%23", "GPT-4O", "//host/x", "http:%2f%2fhost",
		"%0d%0aX:y", "\\..\\files", "*", "%2a",
	} {
		got, _ := h.raw(request("GET /v1/models/"+name+" HTTP/1.1", "", ""))
		if len(got) != 1 || got[0].status != 404 && got[0].status != 400 {
			t.Errorf("%s: %v, want one 404", name, got)
		}
	}
	for len(h.asked) > 0 {
		if up := <-h.asked; up.RequestURI != "/v1/models" {
			t.Errorf("%s was asked for", up.RequestURI)
		}
	}
}

// wantNothing fails unless nothing has reached the upstream, and nothing is charged.
func (h *house) wantNothing(t *testing.T, what string) {
	t.Helper()
	if n := len(h.asked); n != 0 {
		t.Errorf("%s: %d requests reached the upstream, %s", what, n, (<-h.asked).URL)
	}
	if used := h.used(plenty); used != 0 {
		t.Errorf("%s: charged %d", what, used)
	}
}

// Where a request goes is written in the configuration: no target, host, header or query of a client's changes it.
func TestThreatWhereARequestGoes(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for _, c := range []struct{ target, headers string }{
		{"/v1/chat/completions", ""},
		{"http://evil.example/v1/chat/completions", ""},
		{"https://evil.example:444/v1/chat/completions", ""},
		{"/v1/chat/completions?model=gpt-4o&max_tokens=9&api-version=1&key=sk-x#f", ""},
		{"/v1/chat/completions", "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nX-Forwarded-Proto: gopher\r\nX-Original-Host: evil.example\r\n"},
		{"/v1/chat/completions", "X-Original-URL: /v1/batches\r\nX-Rewrite-URL: /v1/files\r\nX-Forwarded-Path: /v1/files\r\nX-Forwarded-Prefix: /x\r\n"},
		{"/v1/chat/completions", "X-Upstream: http://evil.example\r\nHelicone-Target-Url: http://evil.example\r\nX-Portkey-Custom-Host: http://evil.example\r\nOpenai-Base-Url: http://evil.example\r\n"},
		{"/v1/chat/completions", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"},
	} {
		got, _ := h.raw(request("POST "+c.target+" HTTP/1.1", c.headers, hi))
		if len(got) != 1 || got[0].status != 200 || len(h.asked) != 1 {
			t.Errorf("%s %q: %v, %d requests upstream", c.target, c.headers, got, len(h.asked))
			continue
		}
		up := <-h.asked
		if up.RequestURI != "/v1/chat/completions" || "http://"+up.Host+"/v1" != h.spec.Upstreams[0].URL || up.Method != http.MethodPost {
			t.Errorf("%s %q: sent as %s %s to %s", c.target, c.headers, up.Method, up.RequestURI, up.Host)
		}
		for name := range up.Header {
			switch name {
			case "Content-Type", "Accept", "Accept-Encoding", "User-Agent", "Authorization", "Content-Length":
			default:
				t.Errorf("%s: header %s: %s went upstream", c.target, name, up.Header.Get(name))
			}
		}
	}
}

// How a body is framed is read once, by net/http, and written anew: what is counted is what is sent, or there is neither.
func TestThreatFraming(t *testing.T) {
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hi), hi)
	hidden := request("POST /v1/chat/completions HTTP/1.1", "", strings.Replace(hi, "Hi", "smuggled", 1))
	for name, c := range map[string]struct{ head, body string }{
		"two lengths":                  {fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n", len(hi), len(hi)-1), hi},
		"a list of lengths":            {fmt.Sprintf("Content-Length: %d, %d\r\n", len(hi), len(hi)-1), hi},
		"a length with a sign":         {fmt.Sprintf("Content-Length: +%d\r\n", len(hi)), hi},
		"a negative length":            {"Content-Length: -1\r\n", hi},
		"a length in hex":              {fmt.Sprintf("Content-Length: 0x%x\r\n", len(hi)), hi},
		"no length":                    {"", hi},
		"a length too short":           {"Content-Length: 5\r\n", hi},
		"length and chunks":            {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunked + hidden},
		"chunks, other case":           {"Transfer-Encoding: ChuNKed\r\n", chunked},
		"chunks twice":                 {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunked},
		"chunks, then nothing":         {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked},
		"chunks within gzip":           {"Transfer-Encoding: gzip, chunked\r\n", chunked},
		"no chunks that we know":       {"Transfer-Encoding: xchunked\r\n", chunked},
		"chunks, with a tab":           {"Transfer-Encoding:\tchunked\r\n", chunked},
		"chunks, after a folded line":  {"Transfer-Encoding:\r\n chunked\r\n", chunked},
		"chunks, with a blank":         {"Transfer-Encoding : chunked\r\n", chunked},
		"chunks, quoted":               {"Transfer-Encoding: \"chunked\"\r\n", chunked},
		"chunks, with a vertical tab":  {"Transfer-Encoding: \vchunked\r\n", chunked},
		"chunks with extensions":       {"Transfer-Encoding: chunked\r\n", strings.Replace(chunked, "\r\n", ";x=\"\n\"\r\n", 1)},
		"chunks of a negative size":    {"Transfer-Encoding: chunked\r\n", "-" + chunked},
		"chunks of an enormous size":   {"Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n" + hi},
		"chunks with trailers":         {"Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n", strings.TrimSuffix(chunked, "\r\n") + "Authorization: Bearer other\r\n\r\n"},
		"chunks, line feeds alone":     {"Transfer-Encoding: chunked\r\n", strings.ReplaceAll(chunked, "\r\n", "\n")},
		"a header without a name":      {": x\r\nContent-Length: 5\r\n", hi},
		"a NUL in a header":            {"X: a\x00b\r\nContent-Length: 5\r\n", hi},
		"a carriage return in one":     {"X: a\rContent-Length: 5\r\n", hi},
		"two hosts":                    {"Host: other\r\nContent-Length: 5\r\n", hi},
		"whose body is another's head": {fmt.Sprintf("Content-Length: %d\r\n", len(hi)), hi + hidden},
	} {
		answers, _ := h.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\nAuthorization: Bearer " + secret + "\r\n" + c.head + "\r\n" + c.body)
		if len(answers) > 1 {
			t.Errorf("%s: %d answers to one request", name, len(answers))
		}
		for _, a := range answers {
			if a.status == 200 == (len(h.asked) == 0) {
				t.Errorf("%s: %d, and %d requests upstream", name, a.status, len(h.asked))
			}
		}
		for len(h.asked) > 0 {
			up := <-h.asked
			if sent := read(t, up); sent != hi || up.ContentLength != int64(len(hi)) || len(up.TransferEncoding) > 0 || up.Trailer != nil {
				t.Errorf("%s: the upstream got %d bytes of %d, %v, %v: %s", name, len(sent), up.ContentLength, up.TransferEncoding, up.Trailer, sent)
			}
		}
	}
}

// newTrap is a server that nobody is meant to call.
func newTrap(t *testing.T, h http.Handler) string {
	trap := httptest.NewServer(h)
	t.Cleanup(trap.Close)
	return trap.URL
}
