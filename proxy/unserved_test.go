package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What is not served says why, and what to do instead. It costs nothing and reaches nobody.
func TestWhatIsNotServedSaysWhy(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	for _, c := range []struct{ method, path, says string }{
		{"POST", "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", "not that of Azure"},
		{"POST", "/chat/completions", "must end in /v1"},
		{"POST", "/v1/v1/chat/completions", "/v1 twice"},
		{"POST", "/v1/batches", "make the calls themselves"},
		{"GET", "/v1/vector_stores/vs_1", "send files in requests"},
		{"POST", "/v1/realtime/client_secrets", "realtime"},
		{"GET", "/v1/organization/usage/completions", "account that all keys share"},
		{"POST", "/v1/fine_tuning/jobs", "nobody knows before"},
		{"POST", "/v1/nothing", "only what it can meter"},
	} {
		r, err := http.NewRequest(c.method, h.url+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		got := h.do(r)
		if message, _, _, _ := got.errorOf(t); got.status != http.StatusNotFound || !strings.Contains(message, c.says) || !strings.Contains(message, "Invalid URL ("+c.method) {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, message)
		}
	}
	if len(h.asked) > 0 {
		t.Error("something went upstream")
	}
}

// A client that asks for a WebSocket is answered at once, in JSON, and its connection is not upgraded.
func TestWebSocketsAreRefused(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	for _, c := range []struct{ path, says string }{
		{"/v1/realtime?model=gpt-realtime", "realtime session"},
		{"/v1/responses", "use POST /v1/responses with stream: true"},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: proxy\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.%s\r\n\r\n", c.path, secret)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		got := answer{resp.StatusCode, resp.Header, string(body), err}
		if message, _, _, code := got.errorOf(t); got.status != http.StatusNotFound || code != "unsupported_endpoint" || !strings.Contains(message, c.says) || strings.Contains(got.body, secret) {
			t.Errorf("%s: %d %s, %v", c.path, got.status, got.body, err)
		}
	}
}

// Clients for Azure send their key in a header of its own.
func TestAKeyInAzuresHeader(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	r, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(hi))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("api-key", secret)
	got := h.do(r)
	if message, _, _, _ := got.errorOf(t); got.status != http.StatusUnauthorized || !strings.Contains(message, "plain client") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
