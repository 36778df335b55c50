package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// One answers 503 without reading a long body; the other gets all of it.
func TestFailoverWhileTheFirstIsStillSentTo(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				br := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					io.WriteString(c, "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}")
					io.Copy(io.Discard, r.Body)
				}
			}()
		}
	}()
	spec := pairSpec(t, "1000m tokens in total")
	spec.Upstreams[0].Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", ln.Addr().String())
	}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for i := range 6 {
		text := strings.Repeat(fmt.Sprint(i, "hello "), 300_000)
		got := h.chat(strings.Replace(hi, "Hi", text, 1))
		if got.status != 200 {
			t.Fatalf("call %d: %d %s %v", i, got.status, got.body[:min(300, len(got.body))], got.err)
		}
		b, _ := io.ReadAll((<-h.asked).Body)
		if got.status != 200 || !strings.Contains(string(b), text) {
			t.Errorf("%d, %d bytes arrived", got.status, len(b))
		}
	}
}
