package test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestAnOldClientIsCutAtTheEndOfTheDrain, and sees that.
func TestAnOldClientIsCutAtTheEndOfTheDrain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: fakeopenai.Forever(), PauseAt: 5})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "timeouts: { drain: 300ms }\n"})
	body := ask(`"stream": true`, `"max_tokens": 50`)
	conn := connect(t, p, fmt.Sprintf("POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		harness.Alice, len(body), body))
	answer := bufio.NewReader(conn)
	readEvents(t, answer, 5)
	p.Stop(t)
	if rest, err := io.ReadAll(answer); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("it ended with %v after %q", err, rest)
	}
}

// TestThreatACutAnswerOverHTTP10: where the end of the connection is the end of the answer, an answer that is cut must not end like one that
// is whole. A proxy in front that speaks HTTP/1.0, as nginx does by default, would pass it on as that. What came before the cut arrives.
func TestThreatACutAnswerOverHTTP10(t *testing.T) {
	t.Parallel()
	var numbered []string
	for i := range 40 {
		numbered = append(numbered, fmt.Sprintf(" the %dth", i+1))
	}
	long := strings.Repeat("A", 200_000)
	chunked := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		name   string
		stream bool
		answer fakeopenai.Answer
		has    string // the last of what was sent
		ends   error  // how the client's reading ends; nil: in order
	}{
		{"a stream", true, fakeopenai.Answer{Text: numbered, Fault: fakeopenai.Abort, After: 11}, " the 10th", syscall.ECONNRESET},
		{"a stream that ends before its end", true, fakeopenai.Answer{Text: numbered, Fault: fakeopenai.EndEarly, After: 11}, " the 10th", syscall.ECONNRESET},
		{"a stream that is reset", true, fakeopenai.Answer{Text: numbered, Fault: fakeopenai.Reset, After: 11}, " the 10th", syscall.ECONNRESET},
		{"plain", false, fakeopenai.Answer{Wire: chunked + fmt.Sprintf("%x\r\n", len(long)+10) + `{"x":"` + long + "<"}, long + "<", syscall.ECONNRESET},
		{"a whole stream", true, fakeopenai.Answer{Text: numbered}, "data: [DONE]\n\n", nil},
		{"whole, plain", false, fakeopenai.Answer{Wire: chunked + fmt.Sprintf("%x\r\n", len(long)+9) + `{"x":"` + long + "<\"}\r\n0\r\n\r\n"}, long + `<"}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, c.answer)
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{fmt.Sprintf("%d tokens in total", total)}})
			body := ask(fmt.Sprintf(`"stream": %v`, c.stream), `"max_completion_tokens": 100`)
			conn := connect(t, p, fmt.Sprintf("POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				harness.Alice, len(body), body))
			got, err := io.ReadAll(conn) // nil at io.EOF
			if !errors.Is(err, c.ends) {
				t.Errorf("it ended with %v, want %v", err, c.ends)
			}
			if head, _, _ := strings.Cut(string(got), "\r\n\r\n"); !strings.HasPrefix(head, "HTTP/1.0 200 ") || strings.Contains(strings.ToLower(head), "content-length") {
				t.Errorf("the head: %s", head)
			}
			if !strings.Contains(string(got), c.has) {
				t.Errorf("%d bytes without the last of what was sent: …%s", len(got), got[max(0, len(got)-200):])
			}
		})
	}
}
