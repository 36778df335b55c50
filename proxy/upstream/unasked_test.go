//go:build unix

package upstream_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestAnAnswerThatNobodyAskedFor: a server that gives up an idle connection may say so, with a 408 (RFC 9110, section 15.5.9), and close
// it or not. Such a connection is not used: what waits on it is not the answer to the next call.
func TestAnAnswerThatNobodyAskedFor(t *testing.T) {
	for name, ends := range map[string]bool{"and is closed": true, "and stays open": false} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			var requests, conns atomic.Int32
			idle := make(chan struct{})
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					first := conns.Add(1) == 1
					go func() {
						defer c.Close()
						for r := bufio.NewReader(c); ; {
							if _, err := r.Peek(1); err != nil {
								return
							}
							requests.Add(1) // before it is answered: whoever has the answer may look
							if _, ok := answered(c, r, fixed); !ok {
								return
							}
							if !first {
								continue
							}
							<-idle
							if _, err := io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"); err != nil || ends {
								return
							}
						}
					}()
				}
			}()
			var ours []net.Conn
			u, err := upstream.New(upstream.Options{
				Name: "up", URL: "http://" + listener.Addr().String() + "/v1",
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := (&net.Dialer{}).DialContext(ctx, network, address)
					ours = append(ours, c)
					return c, err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer u.CloseIdle()
			l := &line{Upstream: u}
			for i, want := range []int32{1, 2, 2} { // connections
				resp, err := l.post(t.Context(), "{}")
				if status, body := whole(t, resp, err); status != 200 || body != "hi" {
					t.Fatalf("call %d: %d %q", i, status, body)
				}
				if conns.Load() != want || requests.Load() != int32(i+1) {
					t.Fatalf("call %d: the server had %d requests on %d connections", i, requests.Load(), conns.Load())
				}
				if i == 0 {
					close(idle)
					arrives(t, ours[0])
				}
			}
		})
	}
}

// arrives waits until something can be read from a connection.
func arrives(t *testing.T, c net.Conn) {
	t.Helper()
	socket, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	there := func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return err == nil
	}
	if err := socket.Read(there); err != nil {
		t.Fatal(err)
	}
}
