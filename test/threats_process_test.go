package test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// The tests of this file are named after rows of docs/security.md: those that only a process of its own can show.

// connect opens a connection to the proxy and writes to it.
func connect(t *testing.T, p *harness.Program, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, text)
	return conn
}

// A process never runs out of files: who comes when too many are open is told, who was there before goes on, and all is well afterwards.
func TestThreatOpenFiles(t *testing.T) {
	const files, most = 160, 16
	up := fakeopenai.New(t)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: release, PauseAt: 5})
	p := harness.StartWithin(t, files, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}})
	p.HTTP.CloseIdleConnections()
	var streams []*http.Response
	harness.Eventually(t, "all places are taken", func() bool {
		resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
		if resp.StatusCode == http.StatusOK {
			streams = append(streams, resp)
			return false
		}
		harness.Read(resp).WantError(t, http.StatusServiceUnavailable)
		return true
	})
	if len(streams) != most {
		t.Errorf("%d streams run at one time, want %d", len(streams), most)
	}
	for range 40 { // they ask nothing
		connect(t, p, "")
	}
	var told sync.WaitGroup
	for range 40 {
		conn := connect(t, p, "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
		told.Go(func() {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("who comes when there are too many is told nothing: %v", err)
				return
			}
			harness.Read(resp).WantError(t, http.StatusServiceUnavailable)
		})
	}
	told.Wait()
	if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID())); err == nil && len(open) > files-10 {
		t.Errorf("%d files of %d are open", len(open), files)
	}
	if n, _ := p.Metrics(t).Sum("tokenfare_crowded_out_total"); n < 81 {
		t.Errorf("%v are counted as turned away", n)
	}
	close(release)
	for _, resp := range streams {
		if got := harness.Read(resp).WantOK(t); !strings.HasSuffix(got.Body, "data: [DONE]\n\n") {
			t.Errorf("a stream that ran was cut: %q", got.Body)
		}
	}
	p.HTTP.CloseIdleConnections()
	harness.Eventually(t, "calls are served again", func() bool {
		return p.Chat(t, harness.Alice, ask(`"max_tokens": 50`)).Status == http.StatusOK
	})
	if strings.Contains(p.Stderr(), "cannot accept connections") {
		t.Error("accepting failed")
	}
}

// Who sends a head or a body byte by byte is cut, and so is a head that is too long; who comes meanwhile does not notice.
func TestThreatSlowSenders(t *testing.T) {
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "timeouts: { request_header: 300ms, request_body: 600ms }\n"})
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + harness.Alice + "\r\nContent-Length: 1000\r\n"
	cut := map[string]net.Conn{
		"nothing at all": connect(t, p, ""), "half a line": connect(t, p, "POST /v1"), "half a head": connect(t, p, head),
		"a head": connect(t, p, head+"\r\n"), "half a body": connect(t, p, head+"\r\n"+`{"model":`),
	}
	began := time.Now()
	drip, stop := context.WithCancel(t.Context())
	defer stop()
	for name, start := range map[string]string{"a head byte by byte": "POST /v1/chat/completions HTTP/1.1\r\nX: ", "a body byte by byte": head + "\r\n"} {
		conn := connect(t, p, start)
		cut[name] = conn
		go func() {
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for drip.Err() == nil {
				<-tick.C
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
			}
		}()
	}
	for range 3 {
		p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)).WantOK(t)
	}
	for name, conn := range cut {
		text, err := io.ReadAll(conn)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %v, cut after %s: %q", name, err, took, text)
		}
		if strings.HasPrefix(string(text), "HTTP/1.1 2") {
			t.Errorf("%s: %q", name, text)
		}
	}
	giant := connect(t, p, head+strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 100)+"\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(giant), nil); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a head of 100 kB: %v, %v", resp, err)
	}
	p.WantIdle(t)
	up.WantCalls(t, 3)
}

// What operators look at is on a listener of its own, that nothing but a token opens where anything can be changed.
func TestThreatAdminSurface(t *testing.T) {
	t.Parallel()
	const token = "admin-secret-token-123"
	up := fakeopenai.New(t)
	for _, guarded := range []bool{false, true} {
		config := harness.Config{Upstream: up.URL, More: "cors: [\"*\"]\n"}
		yaml := config.YAML()
		if guarded {
			yaml = strings.Replace(yaml, `admin: { listen: "127.0.0.1:0" }`, `admin: { listen: "127.0.0.1:0", token: "`+token+`" }`, 1)
		}
		p := harness.StartYAML(t, yaml)
		for _, c := range []struct {
			method, path, authorization string
			status                      int // without a token in the configuration
			guarded                     int
		}{
			{"GET", "/metrics", "", 200, 401},
			{"GET", "/open", "", 200, 401},
			{"GET", "/budgets", "", 200, 401},
			{"GET", "/metrics", "Bearer " + token, 200, 200},
			{"GET", "/open", "Bearer " + harness.Alice, 200, 401},
			{"GET", "/metrics?token=" + token, "", 200, 401},
			{"GET", "/healthz", "", 200, 200},
			{"POST", "/ledger/corrections", "", 403, 401},
			{"POST", "/ledger/corrections", "Bearer " + token + "x", 403, 401},
			{"POST", "/ledger/corrections", "Bearer ", 403, 401},
			{"POST", "/metrics", "Bearer " + token, 405, 405},
			{"OPTIONS", "/ledger/corrections", "", 405, 405},
			{"GET", "/debug/pprof/", "Bearer " + token, 404, 404},
			{"GET", "/debug/vars", "Bearer " + token, 404, 404},
			{"POST", "/reload", "Bearer " + token, 404, 404},
			{"POST", "/v1/chat/completions", "Bearer " + harness.Alice, 404, 404},
		} {
			want := c.status
			if guarded {
				want = c.guarded
			}
			request := harness.Request(t, c.method, p.Admin+c.path, "", "")
			request.Header.Set("Origin", "https://evil.example")
			request.Header.Set("Cookie", "token="+token+"; Authorization=Bearer "+token)
			if c.authorization != "" {
				request.Header.Set("Authorization", c.authorization)
			}
			got := p.Do(t, request)
			if got.Status != want {
				t.Errorf("%v: %s %s with %q: %d, want %d: %.100s", guarded, c.method, c.path, c.authorization, got.Status, want, got.Body)
			}
			for name := range got.Header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("%s %s: header %s", c.method, c.path, name)
				}
			}
			if outside := p.Do(t, harness.Request(t, c.method, p.URL+c.path, harness.Alice, "")); strings.HasPrefix(c.path, "/v1") == false && c.path != "/healthz" && outside.Status < 400 {
				t.Errorf("%s %s on the proxy's listener: %d", c.method, c.path, outside.Status)
			}
		}
	}
}
