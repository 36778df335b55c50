package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/tokenfare/tokenfare/test/memnet"
)

func TestThreatConnectionsFitTheFiles(t *testing.T) {
	for files, want := range map[uint64]int64{0: 16, 128: 16, 160: 16, 256: 64, 1024: 448, 1 << 20: 524224, ^uint64(0): (1<<40 - 128) / 2} {
		got := connections(files)
		if got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
		if files >= 160 && 2*uint64(got)+turnedAway+besides > files {
			t.Errorf("%d connections and their upstreams do not fit in %d files", got, files)
		}
	}
}

// Who comes while there are too many is told so, whether it asks or not; who is there is served on, and a place that comes free is taken.
func TestThreatTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		var log bytes.Buffer
		c := newCrowd(network.Listen("proxy:80"), 3, nil, slog.New(slog.NewJSONHandler(&log, nil)), prometheus.NewRegistry())
		release := make(chan struct{})
		server := &http.Server{Handler: c.lead(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-release
			io.WriteString(w, "served")
		}))}
		go server.Serve(c)
		defer server.Close()
		connect := func() net.Conn {
			conn, err := network.Dial(t.Context(), "tcp", "proxy:80")
			if err != nil {
				t.Fatal(err)
			}
			return conn
		}
		ask := func(path string) *bufio.Reader {
			conn := connect()
			go fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			return bufio.NewReader(conn)
		}
		want := func(r *bufio.Reader, status int, says string) {
			t.Helper()
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != status || !strings.Contains(string(body), says) {
				t.Errorf("%d %q, %v, want %d %q", resp.StatusCode, body, err, status, says)
			}
		}
		var served []*bufio.Reader
		for range 3 {
			served = append(served, ask("/v1/models"))
		}
		synctest.Wait()
		silent := connect()
		began := time.Now()
		for range 200 {
			want(ask("/v1/models"), http.StatusServiceUnavailable, `"code":"server_busy"`)
		}
		want(ask("/healthz"), http.StatusOK, "ok") // it lives
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(began) > turnedIn {
			t.Errorf("who asks nothing is let go after %s: %v", time.Since(began), err)
		}
		for range 2 * turnedAway { // as many as there is no place for: they take turns
			go network.Dial(t.Context(), "tcp", "proxy:80")
		}
		want(ask("/v1/models"), http.StatusServiceUnavailable, "server_busy")
		if waited := time.Since(began); waited > 4*turnedIn {
			t.Errorf("it took %s to be told", waited)
		}
		if n := testutil.ToFloat64(c.count); n < 202 {
			t.Errorf("%v are counted", n)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines of the log: %s", n, log.String())
		}
		time.Sleep(10 * turnedIn)
		close(release)
		for _, r := range served {
			want(r, http.StatusOK, "served")
		}
		synctest.Wait()
		if n := c.open.Load(); n != 3 { // kept alive
			t.Errorf("%d are open", n)
		}
		time.Sleep(time.Millisecond)
		server.SetKeepAlivesEnabled(false)
		synctest.Wait()
		want(ask("/v1/models"), http.StatusOK, "served")
		synctest.Wait()
		if n := c.open.Load(); n != 0 {
			t.Errorf("%d are open, all have left", n)
		}
	})
}

// tired is a listener that cannot accept for a while.
type tired struct {
	net.Listener
	errors int
}

func (l *tired) Accept() (net.Conn, error) {
	if l.errors > 0 {
		l.errors--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestThreatAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		var log bytes.Buffer
		app := &app{config: defaultConfig(), log: slog.New(slog.NewJSONHandler(&log, nil))}
		c := newCrowd(&tired{network.Listen("proxy:80"), 20}, 3, nil, app.log, prometheus.NewRegistry())
		server := app.httpServer(c.lead(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		go server.Serve(c)
		defer server.Close()
		conn, err := network.Dial(t.Context(), "tcp", "proxy:80")
		if err != nil {
			t.Fatal(err)
		}
		go io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("after the errors: %v, %v", resp, err)
		}
		if n := strings.Count(log.String(), "cannot accept connections"); n != 20 {
			t.Errorf("%d of 20 errors are on the log: %s", n, log.String())
		}
		conn.Close()
	})
}

// Calls of one connection are as many as connections may be.
func TestThreatTooManyCallsOfOneConnection(t *testing.T) {
	network := memnet.New()
	c := newCrowd(network.Listen("proxy:80"), 2, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	defer c.Close()
	entered, release := make(chan struct{}), make(chan struct{})
	door := c.lead(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-release
	}))
	call := func() *answered {
		w := &answered{header: http.Header{}}
		door.ServeHTTP(w, &http.Request{})
		return w
	}
	done := make(chan int)
	for range 2 {
		go func() { done <- call().status }()
		<-entered
	}
	for range 2 { // who is refused takes no place
		if got := call(); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("a third: %d %v", got.status, got.header)
		}
	}
	close(release)
	<-done
	<-done
	go func() { <-entered }()
	if got := call(); got.status != 0 {
		t.Errorf("when they are over: %d", got.status)
	}
}

// answered is a ResponseWriter that keeps the head of an answer.
type answered struct {
	header http.Header
	status int
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) WriteHeader(status int)      { a.status = status }
func (a *answered) Write(p []byte) (int, error) { return len(p), nil }
