package upstream_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
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
