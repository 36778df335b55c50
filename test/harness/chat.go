package harness

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Response is an answer, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   string
	Err    error // of reading the body; nil means that it ended as it should
}

// Chat posts a chat request and reads the whole answer.
func (p *Program) Chat(t testing.TB, key, body string) Response {
	t.Helper()
	return p.Do(t, Request(t, http.MethodPost, p.URL+"/v1/chat/completions", key, body))
}

// Get fetches a path of the proxy.
func (p *Program) Get(t testing.TB, key, path string) Response {
	t.Helper()
	return p.Do(t, Request(t, http.MethodGet, p.URL+path, key, ""))
}

// Do sends a request and reads the whole answer.
func (p *Program) Do(t testing.TB, r *http.Request) Response {
	t.Helper()
	resp, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return Read(resp)
}

// Open sends a chat request and returns when the headers have arrived. The context ends the call.
func (p *Program) Open(ctx context.Context, t testing.TB, key, body string) *http.Response {
	t.Helper()
	resp, err := p.HTTP.Do(Request(t, http.MethodPost, p.URL+"/v1/chat/completions", key, body).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Read reads an answer to its end and closes it.
func Read(resp *http.Response) Response {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Err: err}
}

// Request builds a request with a key; an empty key sends no Authorization.
func Request(t testing.TB, method, url, key, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// APIError is an error in OpenAI's format.
type APIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// CodeText is the error's code, "" when it is null.
func (e APIError) CodeText() string {
	if e.Code == nil {
		return ""
	}
	return *e.Code
}

// WantError fails the test unless the answer is an error of that status in OpenAI's format with all four members, and
// returns the error.
func (r Response) WantError(t testing.TB, status int) APIError {
	t.Helper()
	if r.Status != status {
		t.Fatalf("status %d, want %d: %s", r.Status, status, r.Body)
	}
	var body struct {
		Error map[string]json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		t.Fatalf("the error is not JSON: %v\n%s", err, r.Body)
	}
	for _, name := range []string{"message", "type", "param", "code"} {
		if _, ok := body.Error[name]; !ok {
			t.Errorf("the error lacks the member %q: %s", name, r.Body)
		}
	}
	var typed struct {
		Error APIError `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.Body), &typed); err != nil {
		t.Fatalf("the error's members have other types than OpenAI's: %v\n%s", err, r.Body)
	}
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Errorf("the error's Content-Type is %q, want application/json", got)
	}
	return typed.Error
}

// WantOK fails the test unless the answer is a complete 200.
func (r Response) WantOK(t testing.TB) Response {
	t.Helper()
	if r.Status != http.StatusOK || r.Err != nil {
		t.Fatalf("status %d, read error %v, want a complete 200: %s", r.Status, r.Err, r.Body)
	}
	return r
}
