package upstream_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// A long request on a connection that the server closes meanwhile, as servers close idle ones: it has not been sent whole, so another
// connection may serve it.
func TestALongRequestOnAConnectionThatEnds(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var conns atomic.Int32
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			first := conns.Add(1) == 1
			go func() {
				defer c.Close()
				br := bufio.NewReader(c)
				for n := 0; ; n++ {
					r, err := http.ReadRequest(br)
					if err != nil || first && n == 1 { // its idle timeout has just passed
						return
					}
					io.Copy(io.Discard, r.Body)
					io.WriteString(c, fixed)
				}
			}()
		}
	}()
	u, err := upstream.New(upstream.Options{Name: "up", URL: "http://" + ln.Addr().String() + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Upstream: u}
	for i, size := range []int{10, 8 << 20} {
		resp, err := l.post(t.Context(), strings.Repeat("b", size))
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		whole(t, resp, nil)
	}
}

// A long request that the server breaks connections for is tried on one idle connection and on a new one. The others stay as they are.
func TestALongRequestThatEndsConnections(t *testing.T) {
	const idle = 8
	var heads atomic.Int32
	var together sync.WaitGroup
	together.Add(idle)
	up := overTCP(t, func(c net.Conn, requests *bufio.Reader) {
		for {
			r, err := http.ReadRequest(requests)
			if err != nil {
				return
			}
			if r.ContentLength > 1<<20 {
				heads.Add(1)
				c.(*net.TCPConn).SetLinger(0)
				return
			}
			together.Done() // each has a connection of its own
			together.Wait()
			io.WriteString(c, fixed)
		}
	})
	l := &line{Upstream: up}
	var all sync.WaitGroup
	for range idle {
		all.Go(func() {
			resp, err := l.post(t.Context(), "")
			whole(t, resp, err)
		})
	}
	all.Wait()
	resp, err := l.post(t.Context(), strings.Repeat("b", 8<<20))
	if e, ok := errors.AsType[*upstream.Error](err); !ok || e.Written || !e.Unread {
		t.Errorf("%v %+v", resp, err)
	}
	if n := heads.Load(); n != 2 {
		t.Errorf("it was tried on %d connections, want 2", n)
	}
}

// A request that is long and yet fits the buffers between here and there: the connection is reset although all of it has left, or while
// it leaves. Whether it is short is what decides: a short one is not too long for anybody.
func TestARequestThatIsNotRead(t *testing.T) {
	up := overTCP(t, func(conn net.Conn, requests *bufio.Reader) {
		_, _ = requests.ReadByte()
		_ = conn.(*net.TCPConn).SetLinger(0) // and closes, as it does with more to read: if nothing has come yet, that looks like an end
	})
	l := &line{Upstream: up}
	for size, unread := range map[int]bool{100: false, 64 << 10: true} {
		for range 20 {
			resp, err := l.post(t.Context(), strings.Repeat("b", size))
			if e, ok := errors.AsType[*upstream.Error](err); !ok || e.Unread != unread || e.Hung {
				t.Fatalf("%d bytes: %v %+v", size, resp, err)
			}
		}
	}
}
