package test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestThreatALateByte: a client that sends more behind its request, and then leaves, is as gone as any other. net/http's server reads one byte
// there to see a client leave, and is blind from then on: calls like these were open until the upstream gave up.
func TestThreatALateByte(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Log("Only Linux tells who has hung up while what he sent is not read.")
		return
	}
	for _, c := range []struct {
		name   string
		answer fakeopenai.Answer
		late   string // behind the request, once the upstream has it
		leaves func(io.Closer) error
	}{
		{"a byte, before headers", fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, "G", io.Closer.Close},
		{"a byte, in the middle", fakeopenai.Answer{Text: words(40), Pause: fakeopenai.Forever(), PauseAt: 11}, "G", io.Closer.Close},
		{"another request", fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", io.Closer.Close},
		{"it ends its own half only", fakeopenai.Answer{Pause: fakeopenai.Forever(), PauseAt: fakeopenai.BeforeHeaders}, "G", closeWrite},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := fakeopenai.New(t)
			up.Always(model, c.answer)
			p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{fmt.Sprintf("%d tokens in total", total)}})
			body := ask(`"stream": true`, `"max_completion_tokens": 100`)
			conn := connect(t, p, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				harness.Alice, len(body), body))
			call := up.Await(t, 1)
			<-call.Paused()
			if _, err := io.WriteString(conn, c.late); err != nil {
				t.Fatal(err)
			}
			left := time.Now()
			if err := c.leaves(conn); err != nil {
				t.Fatal(err)
			}
			call.WantCancelled(t, left, promptly())
			p.WantIdle(t)
		})
	}
}

func closeWrite(c io.Closer) error { return c.(interface{ CloseWrite() error }).CloseWrite() }

// TestRequestsInAPipeline: who sends a request behind another, and stays, has both answered.
func TestRequestsInAPipeline(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(40), Pause: release, PauseAt: fakeopenai.BeforeHeaders})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{fmt.Sprintf("%d tokens in total", total)}})
	body := ask(`"max_completion_tokens": 100`)
	request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		harness.Alice, len(body), body)
	conn := connect(t, p, request)
	<-up.Await(t, 1).Paused()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	close(release)
	answers := bufio.NewReader(conn)
	for range 2 {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		harness.Read(resp).WantOK(t)
	}
}
