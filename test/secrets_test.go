package test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// No key, prompt or completion reaches a log line, a metric or an error, on good days and bad ones.
func TestSecretsStayIn(t *testing.T) {
	t.Parallel()
	const prompt, completion = "the-secret-prompt", "the-secret-completion"
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"400 tokens in total"}, More: "timeouts: { headers: 500ms, idle: 500ms }\n"})
	body := func(members string) string {
		return `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + prompt + `"}]` + members + `}`
	}
	leaky := fakeopenai.ErrorBody("Incorrect API key provided: "+harness.UpstreamKey+".", "invalid_request_error", "invalid_api_key")
	up.Next(
		model,
		fakeopenai.Answer{Text: []string{completion}},
		fakeopenai.Answer{Text: []string{completion}},
		fakeopenai.Answer{Status: 401, Body: leaky},
		fakeopenai.Answer{Status: 400, Body: leaky},
		fakeopenai.Answer{Status: 500, Body: leaky},
		fakeopenai.Answer{Text: []string{completion}, Fault: fakeopenai.Abort, After: 2},
		fakeopenai.Answer{Text: []string{completion}, Usage: []string{`{"prompt_tokens":-1}`}},
	)
	var answers []harness.Response
	for _, members := range []string{``, `,"stream":true`, ``, ``, ``, `,"stream":true`, ``} {
		answers = append(answers, p.Chat(t, harness.Alice, body(members+`,"max_tokens":20`)))
	}
	for _, bad := range []string{
		body(`,"max_tokens":100000`), body(`,"max_tokens":"` + prompt + `"`), body(`,"model":"` + prompt + `"`), body(`,"max_tokens":380`),
		`{"model":"` + prompt + `","messages":[]}`, `{"` + prompt, body(`,"max_tokens":380`) + prompt,
	} {
		answers = append(answers, p.Chat(t, harness.Alice, bad))
	}
	answers = append(answers, p.Chat(t, harness.Stranger, body("")), p.Get(t, harness.Alice, "/v1/models?key="+harness.Alice))
	p.WantIdle(t)
	metrics := p.Metrics(t).Text
	p.Stop(t) // flushes the log

	for _, secret := range []string{harness.Alice, harness.Bob, harness.Stranger, harness.UpstreamKey, prompt, completion} {
		if strings.Contains(p.Stderr(), secret) || strings.Contains(p.Stdout(), secret) {
			t.Errorf("the log shows %q", secret)
		}
		if strings.Contains(metrics, secret) {
			t.Errorf("the metrics show %q", secret)
		}
		for i, a := range answers {
			// What the caller itself wrote may be quoted back to it; keys never.
			if secret != completion && secret != prompt && strings.Contains(a.Body, secret) {
				t.Errorf("answer %d shows %q: %s", i, secret, a.Body)
			}
			for name, values := range a.Header {
				if strings.Contains(strings.Join(values, " "), secret) {
					t.Errorf("answer %d: header %s shows %q", i, name, secret)
				}
			}
		}
	}
}

// Unknown keys leave no trace that grows: no series, and the body is not even read.
func TestStrangersLeaveNoTrace(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}})
	p.Chat(t, "tf-warm-up", ask())
	before := len(p.Metrics(t).Samples)
	for i := range 50 {
		p.Chat(t, "tf-guess-"+itoa(i), ask()).WantError(t, http.StatusUnauthorized)
	}
	if after := len(p.Metrics(t).Samples); after != before {
		t.Errorf("%d series became %d", before, after)
	}
	up.WantCalls(t, 0)

	for _, c := range []struct{ name, header string }{
		{"no key", ""}, {"another scheme", "Basic " + harness.Alice}, {"no blank", "Bearer" + harness.Alice}, {"empty", "Bearer "},
	} {
		request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", "", ask())
		if c.header != "" {
			request.Header.Set("Authorization", c.header)
		}
		if got := p.Do(t, request); got.Status != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", c.name, got.Status)
		}
	}
}

// Who is not let in is told so at once, even while the body it announced does not come, and does not keep the connection.
func TestRefusalsDoNotWaitForTheBody(t *testing.T) {
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL})
	for _, c := range []struct {
		name, head string
		status     int
	}{
		{"unknown key", "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer nobody\r\nContent-Length: 1000\r\n", http.StatusUnauthorized},
		{"unknown key, chunked", "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer nobody\r\nTransfer-Encoding: chunked\r\n", http.StatusUnauthorized},
		{"unknown path", "POST /v1/batches HTTP/1.1\r\nAuthorization: Bearer nobody\r\nContent-Length: 1000\r\n", http.StatusNotFound},
		{"too large", "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer " + harness.Bob + "\r\nContent-Length: 99000000\r\n", http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			io.WriteString(conn, c.head+"Host: x\r\nContent-Type: application/json\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer while the body is outstanding: %v", err)
			}
			harness.Read(resp).WantError(t, c.status)
		})
	}
}
