package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestWhoReadsIsToldBeforeItWaits: the server sends the rest of its answer only when the reader was told that there is nothing more.
func TestWhoReadsIsToldBeforeItWaits(t *testing.T) {
	const first, rest = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3", "\r\ntwo\r\n0\r\n\r\n"
	told := make(chan struct{}, 100)
	serve := func(c net.Conn, requests *bufio.Reader) {
		for {
			if _, ok := answered(c, requests, first); !ok {
				return
			}
			if _, ok := <-told; !ok {
				return
			}
			if _, err := io.WriteString(c, rest); err != nil {
				return
			}
		}
	}
	t.Cleanup(func() { close(told) })
	for name, l := range map[string]*line{"sockets": {Upstream: overTCP(t, serve)}, "other connections": newLine(t, serve)} {
		t.Run(name, func(t *testing.T) {
			stale := func() error {
				t.Error("who read the answer before was told")
				return nil
			}
			for range 3 {
				resp, err := l.post(t.Context(), "{}")
				if err != nil {
					t.Fatal(err)
				}
				body := resp.Body.(interface{ BeforeWaiting(do func() error) })
				once := false
				body.BeforeWaiting(func() error {
					if !once { // a connection that is no socket says so before every read
						once = true
						told <- struct{}{}
					}
					return nil
				})
				if _, got := whole(t, resp, nil); got != "onetwo" {
					t.Errorf("read %q", got)
				}
				body.BeforeWaiting(stale) // the connection is another call's by now
			}
		})
	}
}

// TestReadingEndsWhereNobodyCanBeTold: a client that has left is not waited for.
func TestReadingEndsWhereNobodyCanBeTold(t *testing.T) {
	const first = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"
	serve := func(c net.Conn, requests *bufio.Reader) {
		if _, ok := answered(c, requests, first); ok {
			io.Copy(io.Discard, requests) // until it is closed
		}
	}
	left := errors.New("the client left")
	for name, l := range map[string]*line{"sockets": {Upstream: overTCP(t, serve)}, "other connections": newLine(t, serve)} {
		t.Run(name, func(t *testing.T) {
			resp, err := l.post(t.Context(), "{}")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.(interface{ BeforeWaiting(do func() error) }).BeforeWaiting(func() error { return left })
			var got strings.Builder
			if _, err := io.Copy(&got, resp.Body); !errors.Is(err, left) || !strings.HasPrefix("one", got.String()) {
				t.Errorf("read %q, %v", got.String(), err)
			}
		})
	}
}

// overTCP is an upstream behind sockets.
func overTCP(t *testing.T, serve func(c net.Conn, requests *bufio.Reader)) *upstream.Upstream {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			}()
		}
	}()
	u, err := upstream.New(upstream.Options{Name: "up", URL: "http://" + listener.Addr().String() + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.CloseIdle)
	return u
}

// TestWhoIsToldDoesNotHoldTheConnection: a call that is cancelled meanwhile ends at once, however long telling takes.
func TestWhoIsToldDoesNotHoldTheConnection(t *testing.T) {
	closed := make(chan struct{})
	up := overTCP(t, func(c net.Conn, requests *bufio.Reader) {
		if _, ok := answered(c, requests, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"); ok {
			io.Copy(io.Discard, requests) // until it is closed
			close(closed)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp, err := (&line{Upstream: up}).post(ctx, "{}")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	resp.Body.(interface{ BeforeWaiting(do func() error) }).BeforeWaiting(func() error {
		cancel()
		select {
		case <-closed:
		case <-time.After(10 * time.Second):
			t.Error("the connection is still open")
		}
		return nil
	})
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}
